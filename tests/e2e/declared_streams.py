#!/usr/bin/env python3
"""Streams that tools declare at run time: what is answered, what takes effect, what survives.

declared_streams.py [--rounds N] [--puts N]   N kills of the daemon during that many concurrent PUTs
"""
import argparse
import asyncio
import hashlib
import itertools
import json
import random
import subprocess
import sys
import time

from daemon import ROOT, Daemon, check, eventually, run

LOAN = "/library/loan/1.1.0"
TOKEN = "a token of the instrument tool"
OTHER = "a token that may nothing here"
STATIC = {"library.loan": {"schema_title": "library/loan"}, "/^job\\..+/": {"schema_title": "library/loan"}}


def settings_for(folder, **more):
    (folder / "streams.json").write_text(json.dumps(STATIC))
    tokens = folder / "tokens.yaml"
    tokens.write_text(json.dumps([
        {"name": "instruments", "token": TOKEN, "streams": ["product.*", "library.*", "job.*"]},
        {"name": "other", "token_sha256": hashlib.sha256(OTHER.encode()).hexdigest(), "streams": ["other.*"]}]))
    tokens.chmod(0o600)
    return {"schema_base_uris": [str(ROOT / "config/schemas")], "error_stream": "",
            "stream_config_uri": str(folder / "streams.json"), "declared_streams.tokens_file": str(tokens), **more}


def declaration(title="library/loan", expires=None, **settings):
    return {"settings": {"schema_title": title, **settings}, "expires": expires}


class Admin:
    """Requests about streams, as a tool makes them."""

    def __init__(self, daemon, token=TOKEN):
        self.daemon, self.token = daemon, token

    def __call__(self, method, name, body=None, **headers):
        if self.token:
            headers["Authorization"] = "Bearer " + self.token
        headers = {key.replace("_", "-"): value for key, value in headers.items()}
        text = body if body is None or isinstance(body, str) else json.dumps(body)
        return self.daemon.request_whole(method, "/v1/streams" + ("/" + name if name else ""), text, headers)

    def expect(self, status, method, name, body=None, **headers):
        answer = self(method, name, body, **headers)
        check(answer.status == status, f"{method} {name}: {answer.status} {answer.body}, want {status}")
        return answer


def loan(stream):
    return json.dumps({"$schema": LOAN, "meta": {"stream": stream}, "action": "lend",
                       "book": {"isbn": "9780141439518"}, "reader_id": "r-1"})


def answers(folder):
    with Daemon(ROOT / "config/demo.yaml", folder / "data", settings_for(folder)) as daemon:
        tool = Admin(daemon)
        who = Admin(daemon, None).expect(401, "PUT", "product.a", declaration())
        check(who.headers["www-authenticate"].startswith("Bearer"), f"401 without a challenge: {who.headers}")
        wrong = Admin(daemon, "no such token, never was one").expect(401, "GET", "")
        check("invalid_token" in wrong.headers["www-authenticate"], f"401: {wrong.headers}")
        Admin(daemon, OTHER).expect(403, "PUT", "product.a", declaration())
        tool.expect(403, "DELETE", "other.a")
        faults = tool.expect(400, "PUT", "product.a%20b", {"settings": {"topics": 1, "sample": {"rate": 7}},
                                                         "expires": "2001-01-01T00:00:00Z", "more": 1})
        begins = ["name: ", "/settings/schema_title: ", "/settings/topics: ", "/settings/sample/rate: ",
                  "/expires: ", "/more: "]
        got = faults.json()["reasons"]
        check(len(got) == len(begins) and all(any(g.startswith(b) for g in got) for b in begins), f"reasons: {got}")
        none = tool.expect(400, "PUT", "product.a", declaration("no/such"))
        check("schema_base_uris" in none.json()["reasons"][0], f"unknown schema: {none.body}")
        tool.expect(409, "PUT", "library.loan", declaration())
        tool.expect(409, "PUT", "job.any", declaration())
        tool.expect(409, "DELETE", "library.loan")
        tool.expect(413, "PUT", "product.a", " " * 70000)

        status, _, _ = daemon.post(loan("product.a"))
        check(status == 400, f"an event of a stream that is not declared: {status}")
        made = tool.expect(201, "PUT", "product.a", declaration(note={"x": [1, "ü"]}), If_None_Match="*")
        status, _, body = daemon.post(loan("product.a"))
        check(status == 201, f"an event of a stream just declared: {status} {body}")
        check(len(daemon.topic_lines("local.product.a")) == 1, "the event is not in its topic")
        read = tool.expect(200, "GET", "product.a")
        check(read.json() == made.json() and read.headers["etag"] == made.headers["etag"], f"GET: {read.body}")
        check(read.json()["settings"] == declaration(note={"x": [1, "ü"]})["settings"], f"settings: {read.body}")
        check(read.json()["declared_by"] == "instruments" and read.json()["declared"] is True
              and read.json()["in_effect"] is True, f"GET: {read.body}")
        check(tool.expect(200, "GET", "library.loan").json()["declared"] is False, "a static stream is not told apart")
        tool.expect(404, "GET", "product.none")
        tool.expect(304, "GET", "product.a", If_None_Match=made.headers["etag"])
        tool.expect(412, "PUT", "product.a", declaration(), If_None_Match="*")
        again = tool.expect(200, "PUT", "product.a", declaration("page/view"), If_Match=made.headers["etag"])
        stale = tool.expect(412, "PUT", "product.a", declaration(), If_Match=made.headers["etag"])
        check(stale.headers["etag"] == again.headers["etag"], f"412 without the present ETag: {stale.headers}")
        tool.expect(412, "DELETE", "product.a", If_Match=made.headers["etag"])
        status, _, _ = daemon.post(loan("product.a"))
        check(status == 400, f"an event of the schema before: {status}")
        listed = tool.expect(200, "GET", "").json()
        check([each["stream"] for each in listed["declared"]] == ["product.a"], f"list: {listed}")
        check(listed["static"] == list(STATIC), f"static ones: {listed}")

        tool.expect(200, "PUT", "product.a", declaration())
        tool.expect(204, "DELETE", "product.a")
        status, _, body = daemon.post(loan("product.a"))
        check(status == 400 and b"is not configured" in body, f"an event after the DELETE: {status} {body}")
        tool.expect(404, "DELETE", "product.a")

        soon = time.time() + 1.5
        expires = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(soon)) + f".{int(soon % 1 * 1000):03d}Z"
        tool.expect(201, "PUT", "product.short", declaration(expires=expires))
        check(daemon.post(loan("product.short"))[0] == 201, "an event before its stream expires")
        eventually("an expired stream refuses", lambda: daemon.post(loan("product.short"))[0] == 400, 5)
        check(time.time() >= soon, "a stream has expired before its time")
        tool.expect(404, "GET", "product.short")

        lines = [json.loads(line) for line in
                 (folder / "data/declared-streams.audit.ndjson").read_text().splitlines()]
        outcomes = [line["outcome"] for line in lines if line["stream"] == "product.a"]
        want = ["forbidden", "bad_declaration", "created", "condition_failed", "replaced", "condition_failed",
                "condition_failed", "replaced", "deleted", "absent"]
        check(outcomes == want, f"audit: {outcomes}")
        check(all(line["by"] and line["time"] for line in lines), "an audit line without who or when")
        check(daemon.stop() == 0, "did not stop well")
    with Daemon(ROOT / "config/demo.yaml", folder / "data",
                settings_for(folder, **{"declared_streams.tokens_file": ""})) as daemon:
        Admin(daemon).expect(404, "GET", "")
        Admin(daemon).expect(404, "PUT", "product.a", declaration())


async def put(address, name, body, gate, acknowledged):
    try:
        reader, writer = await asyncio.open_connection(*address)
        text = json.dumps(body).encode()
        await gate()
        writer.write((f"PUT /v1/streams/{name} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n"
                      f"Content-Length: {len(text)}\r\n\r\n").encode() + text)
        line = await reader.readline()
        if line.split(b" ")[1:2] in ([b"201"], [b"200"]):
            acknowledged[name] = body
        elif line:
            raise AssertionError(line)
        writer.close()
    except OSError:
        pass


# A process of its own, so that it does not wait for the answers to be read: kills another one as soon as a file has
# that many bytes.
KILLER = """
import os, signal, sys, time
pid, path, size = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
print("watching", flush=True)
while not os.path.exists(path) or os.stat(path).st_size < size:
    time.sleep(0.0005)
os.kill(pid, signal.SIGKILL)
"""


async def storm(daemon, bodies):
    """PUTs all at once. What was acknowledged."""
    acknowledged = {}
    connected, everybody = 0, asyncio.Event()

    async def gate():
        nonlocal connected
        connected += 1
        if connected == len(bodies):
            everybody.set()
        await everybody.wait()

    await asyncio.wait_for(asyncio.gather(*(put(daemon.admin, name, body, gate, acknowledged)
                                            for name, body in bodies.items())), 60)
    return acknowledged


def storm_with_kill(daemon, bodies, share):
    """The same, the daemon killed when about that share of the PUTs is in the journal."""
    journal = daemon.data_dir / "declared-streams.journal"
    before = journal.stat().st_size if journal.exists() else 0
    size = before + int(share * sum(len(json.dumps(body)) + 120 for body in bodies.values()))
    with subprocess.Popen([sys.executable, "-c", KILLER, str(daemon.process.pid), str(journal), str(size)],
                          stdout=subprocess.PIPE) as killer:
        killer.stdout.readline()
        acknowledged = asyncio.run(storm(daemon, bodies))
        daemon.process.kill()
        daemon.process.wait()
        killer.kill()
    return acknowledged


def kills(folder, rounds, puts):
    there = {}
    some_lost = 0
    # More rounds than asked for, should none of the kills have come between two answers.
    for number in itertools.takewhile(lambda n: n < rounds or (n < 10 and some_lost == 0), itertools.count()):
        bodies = {f"product.s{i}": declaration(note=f"{number}.{i}." + "x" * random.randrange(400))
                  for i in range(puts)}
        share = random.uniform(0.05, 0.9)
        settings = settings_for(folder, **{"declared_streams.max_streams": puts})
        with Daemon(ROOT / "config/demo.yaml", folder / "data", settings) as daemon:
            acknowledged = storm_with_kill(daemon, bodies, share)
        some_lost += 0 < len(acknowledged) < puts
        with Daemon(ROOT / "config/demo.yaml", folder / "data", settings) as daemon:
            listed = Admin(daemon).expect(200, "GET", "").json()["declared"]
            found = {each["stream"]: each["settings"] for each in listed}
            for name, body in acknowledged.items():
                check(found.get(name) == body["settings"], f"acknowledged, but lost: {name}: {found.get(name)}")
            for name, settings_found in found.items():
                whole = [body[name]["settings"] for body in (bodies, there) if name in body]
                check(settings_found in whole, f"half there: {name}: {settings_found}")
            for name in list(acknowledged)[:3]:
                check(daemon.post(loan(name))[0] == 201, f"{name} does not take events after the restart")
            check(daemon.stop() == 0, "did not stop well")
        there = {name: {"settings": value} for name, value in found.items()}
        print(f"round {number}: killed at about {share:.0%}, {len(acknowledged)} acknowledged, {len(found)} there")
    check(some_lost > 0, "no kill came between the first answer and the last: the test saw nothing")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--puts", type=int, default=1000)
    options = parser.parse_args()

    def driver(folder):
        answers(folder)
        kills(folder, options.rounds, options.puts)
    return run(driver)


if __name__ == "__main__":
    sys.exit(main())
