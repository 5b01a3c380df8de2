#!/usr/bin/env python3
"""Limits of clients, streams and connections on the built daemon. One client at ten times its limit gets 429 with
Retry-After while ten others, each below it, get 201 only; with --latency the p99 of the ten is held against what it is
without the eleventh (on a quiet machine).

rate_limits.py [--latency] [--seconds N]
"""
import argparse
import http.client
import json
import socket
import sys
import threading
import time

from daemon import ROOT, Daemon, check, eventually, run

LIMIT = 200  # requests a second of one client
OTHERS = 10
OTHERS_RATE = 40  # each
P99_FACTOR = 1.2
EVENT = {"$schema": "/library/loan/1.1.0", "meta": {"stream": "library.loan"}, "action": "lend",
         "book": {"isbn": "9780141439518"}, "reader_id": "r-1"}
BODY = json.dumps(EVENT).encode()
HEADERS = {"Content-Type": "application/json"}


class Client:
    """Posts on one connection from a loopback address of its own, opened again where the daemon closes it."""

    def __init__(self, sluice, address, headers=None):
        self.connection = http.client.HTTPConnection(sluice.host, sluice.port, timeout=30,
                                                     source_address=(address, 0))
        self.headers = {**HEADERS, **(headers or {})}

    def post(self, body=BODY, path="/v1/events"):
        self.connection.request("POST", path, body=body, headers=self.headers)
        answer = self.connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()


def paced(client, rate, seconds, keep):
    """(status, headers, seconds since it was due) of posts at a fixed rate."""
    begin = time.monotonic()
    for i in range(int(rate * seconds)):
        due = begin + i / rate
        time.sleep(max(0.0, due - time.monotonic()))
        status, headers, _ = client.post()
        keep.append((status, headers, time.monotonic() - due))


def others_at_work(sluice, seconds, greedy=None):
    """What ten clients get, and what the eleventh gets beside them."""
    kept = [[] for _ in range(OTHERS)]
    threads = [threading.Thread(target=paced, args=(Client(sluice, f"127.0.0.{i + 10}"), OTHERS_RATE, seconds, kept[i]))
               for i in range(OTHERS)]
    greedy_kept = []
    if greedy:
        threads.append(threading.Thread(target=paced, args=(greedy, 10 * LIMIT, seconds, greedy_kept)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [one for each in kept for one in each], greedy_kept


def p99_ms(answers):
    times = sorted(seconds for _, _, seconds in answers)
    return 1000 * times[int(len(times) * 0.99)]


def one_above_its_limit(folder, arguments):
    settings = {"output": "discard", "limits.client.requests": LIMIT, "limits.rate_burst": 500}
    with Daemon(ROOT / "config/demo.yaml", folder, settings) as sluice:
        if arguments.latency:
            others_at_work(sluice, 1)
            calm, _ = others_at_work(sluice, arguments.seconds)
        others, greedy = others_at_work(sluice, arguments.seconds, Client(sluice, "127.0.0.2"))
        statuses = {status for status, _, _ in others}
        check(statuses == {201}, f"the others got {statuses}")
        refused = [headers for status, headers, _ in greedy if status == 429]
        taken = sum(status == 201 for status, _, _ in greedy)
        print(f"the greedy one: {taken} taken, {len(refused)} refused; the others: {len(others)} taken")
        check(len(refused) + taken == len(greedy), f"it got {({status for status, _, _ in greedy})}")
        # However late it is with its requests, it cannot have more than its rate and one burst.
        took = arguments.seconds + max(seconds for _, _, seconds in greedy)
        check(taken <= LIMIT * (took + 0.5) + 1, f"{taken} of its requests were taken in {took:.1f} s")
        check(refused, "nothing was refused")
        check(all(int(headers["retry-after"]) >= 1 for headers in refused), "a 429 without Retry-After")
        metrics = sluice.request("GET", "/metrics", admin=True)[2].decode()
        check(f'sluice_rate_limited_total{{kind="requests",of="client"}} {len(refused)}' in metrics,
              "sluice_rate_limited_total differs")
        if arguments.latency:
            before, after = p99_ms(calm), p99_ms(others)
            print(f"p99 of the others: {before:.2f} ms without it, {after:.2f} ms beside it")
            check(after <= P99_FACTOR * before, f"p99 rose by more than {P99_FACTOR}")
        check(sluice.stop() == 0, "exit code")


def bodies_and_streams(folder):
    settings = {"limits.client.bytes": 1000, "limits.client.events": 50, "limits.stream.events": 5,
                "limits.rate_burst": 1000, "trusted_proxies": ["127.0.0.9/32"], "io_threads": 2}
    with Daemon(ROOT / "config/demo.yaml", folder, settings) as sluice:
        # Of one stream's ten events five pass; those of another stream beside them do too.
        view = {"$schema": "/page/view/1.0.0", "meta": {"stream": "library.loan"}}
        batch = json.dumps([EVENT] * 5 + [view] + [{**EVENT, "meta": {"stream": "library.branch.x.loan"}}] * 2
                           + [EVENT] * 5).encode()
        status, headers, body = Client(sluice, "127.0.0.3").post(batch)
        failed = json.loads(body)["error"]
        codes = [one["context"]["code"] for one in failed]
        check(status == 207 and codes.count("rate_limited") == 5 and len(codes) == 6, f"{status} {codes}")
        eventually("all that passed was written", lambda: len(sluice.topic_lines("local.library.loan")) == 5)
        check(len(sluice.topic_lines("local.library.branch.x.loan")) == 2, "the other stream")
        # Alone it is 429, in the lists that every refusal has.
        time.sleep(0.01)
        status, headers, body = Client(sluice, "127.0.0.4").post(json.dumps([EVENT] * 3).encode())
        check(status in (207, 429), f"{status}")
        status, headers, body = Client(sluice, "127.0.0.5").post(json.dumps([EVENT] * 3).encode())
        check(status == 429 and headers["retry-after"] == "1" and json.loads(body)["error"][0]["context"]["code"]
              == "rate_limited", f"{status} {headers} {body}")
        # Bytes are counted by the declared length: the second body is not even read.
        greedy = Client(sluice, "127.0.0.6")
        check(greedy.post(b" " * 900 + b"[{}]")[0] == 400, "a first body within the limit")
        status, headers, body = greedy.post(b" " * 900 + b"[{}]")
        check(status == 429 and b"limits.client.bytes" in body, f"{status} {body}")
        # Events are counted once the body was parsed; hasty ones too.
        many = json.dumps([{}] * 51).encode()
        first = Client(sluice, "127.0.0.7").post(many)[0]
        status, headers, body = Client(sluice, "127.0.0.7").post(b"[{}]", "/v1/events?hasty=true")
        check(first == 400 and status == 429 and b"limits.client.events" in body, f"{first} {status} {body}")
        # Behind a trusted proxy it is the address that the proxy names; behind others it is their own.
        used_up = Client(sluice, "127.0.0.9", {"X-Forwarded-For": "127.0.0.7, 10.0.0.1"}).post(b"[{}]")[0]
        fresh = Client(sluice, "127.0.0.9", {"X-Forwarded-For": "192.0.2.1"}).post(b"[{}]")[0]
        posing = Client(sluice, "127.0.0.7", {"X-Forwarded-For": "192.0.2.2"}).post(b"[{}]")[0]
        check((used_up, fresh, posing) == (429, 400, 429), f"{used_up} {fresh} {posing}")
        check(sluice.stop() == 0, "exit code")


def connections(folder):
    settings = {"output": "discard", "limits.max_connections_per_address": 3, "limits.max_connection_age": 300}
    with Daemon(ROOT / "config/demo.yaml", folder, settings) as sluice:
        def connect(address):
            return socket.create_connection((sluice.host, sluice.port), source_address=(address, 0), timeout=10)
        held = [connect("127.0.0.2") for _ in range(3)]
        eventually("three connections", lambda: b"sluice_connections 3" in
                   sluice.request("GET", "/metrics", admin=True)[2])
        with connect("127.0.0.2") as fourth:
            check(fourth.recv(100).startswith(b"HTTP/1.1 429 "), "a fourth connection of one address")
        check(Client(sluice, "127.0.0.3").post()[0] == 201, "a connection of another address")
        held.pop().close()
        eventually("room for one more", lambda: Client(sluice, "127.0.0.2").post()[0] == 201)
        # An old connection ends with its next answer, which says so.
        old = Client(sluice, "127.0.0.4")
        began = time.monotonic()
        headers = {}
        while headers.get("connection") != "close":
            status, headers, _ = old.post()
            check(status == 201 and time.monotonic() - began < 10, f"{status} {headers}")
        check(0.26 < time.monotonic() - began, "closed too early")
        for one in held:
            one.close()
        check(sluice.stop() == 0, "exit code")


def driver_for(arguments):
    def driver(folder):
        one_above_its_limit(folder / "a", arguments)
        if not arguments.latency:
            bodies_and_streams(folder / "b")
            connections(folder / "c")
    return driver


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency", action="store_true")
    parser.add_argument("--seconds", type=float, default=3)
    sys.exit(run(driver_for(parser.parse_args())))
