#!/usr/bin/env python3
"""What hostile and broken clients may cost the others: 5,000 idle connections, 200 that send a byte a second, bodies
above the limit in every content coding and a 1 GB zstd bomb, while one client measures its latency.

http_abuse.py [BINARY] [--seconds N]
"""
import argparse
import gzip
import json
import multiprocessing
import multiprocessing.pool
import os
import resource
import shutil
import socket
import subprocess
import sys
import time
import zlib
from pathlib import Path

import daemon as daemon_module
from daemon import ROOT, Daemon, check, run

IDLE = 5000
SLOW = 200
MEMORY_BYTES = 128 << 20
MAX_BODY = 10 << 20
ALLOWANCE = 64 << 20
P99_MS = 50.0
RATE = 100  # measured requests a second
EVENT = json.dumps({"$schema": "/library/loan/1.1.0", "meta": {"stream": "library.loan"}, "action": "lend",
                    "book": {"isbn": "9780141439518"}, "reader_id": "r-1"}).encode()


def post_head(length, coding="", content_type="application/json"):
    head = f"POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n"
    return (head + (f"Content-Encoding: {coding}\r\n" if coding else "") + "\r\n").encode()


def piped(command, megabytes):
    """What `command` makes of so many megabytes of zeros."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with multiprocessing.pool.ThreadPool(1) as reader:
        packed = reader.apply_async(process.stdout.read)
        for _ in range(megabytes):
            process.stdin.write(bytes(1 << 20))
        process.stdin.close()
        out = packed.get()
    check(process.wait() == 0, f"{command[0]} failed")
    return out


def hostile_bodies():
    """(name, coding, body) of each, all above the limit once they are read or inflated."""
    zeros = bytes(4 * MAX_BODY)
    bodies = [("identity", "", bytes(MAX_BODY + 1)), ("gzip", "gzip", gzip.compress(zeros, 6)),
              ("deflate", "deflate", zlib.compress(zeros, 6))]
    for tool, coding, megabytes in (("brotli", "br", 40), ("zstd", "zstd", 1024)):
        if shutil.which(tool):
            bodies.append((coding, coding, piped([tool, "-c"], megabytes)))
        else:
            print(f"SKIPPED: {coding} bodies, since there is no program '{tool}' (scripts/setup --tests)")
    return bodies


def hold_connections(host, port, ready, stop):
    """Idle connections, and slow ones that send one byte of a head or of a body each second."""
    idle, slow = [], []
    for _ in range(IDLE):
        idle.append(socket.create_connection((host, port)))
    for i in range(SLOW):
        connection = socket.create_connection((host, port))
        connection.setblocking(False)
        text = post_head(5000) + b"x" * 5000 if i % 2 else b"POST /v1/events HTTP/1.1\r\nX-Slow: " + b"y" * 5000
        if i % 2:
            connection.send(text[:len(post_head(5000))])
            text = text[len(post_head(5000)):]
        slow.append([connection, text, 0])
    ready.set()
    while not stop.is_set():
        for entry in slow:
            try:
                entry[0].send(entry[1][entry[2]:entry[2] + 1])
                entry[2] += 1
            except OSError:  # its deadline has come: the next one
                entry[0].close()
                entry[0] = socket.create_connection((host, port))
                entry[0].setblocking(False)
                entry[2] = 0
        stop.wait(1.0)


def send_bodies(host, port, bodies, stop, sent):
    """Posts the hostile bodies one after the other, and reads each answer."""
    counts = {}
    while not stop.is_set():
        for name, coding, body in bodies:
            with socket.create_connection((host, port), timeout=30) as connection:
                try:
                    connection.sendall(post_head(len(body), coding) + body)
                except OSError:
                    pass  # the answer came before the end of the body
                answer = b""
                while b"\r\n" not in answer:
                    try:
                        piece = connection.recv(65536)
                    except OSError:
                        break
                    if not piece:
                        break
                    answer += piece
            status = answer[9:12].decode("latin-1") or "none"
            counts[(name, status)] = counts.get((name, status), 0) + 1
            if stop.is_set():
                break
            time.sleep(0.02)
    sent.put(counts)


def measure(host, port, seconds):
    """Latencies in ms of posts at a fixed rate, each from the time it was meant to be sent."""
    latencies = []
    connection = socket.create_connection((host, port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    begin = time.monotonic()
    for i in range(int(seconds * RATE)):
        due = begin + i / RATE
        time.sleep(max(0.0, due - time.monotonic()))
        connection.sendall(post_head(len(EVENT)) + EVENT)
        answer = b""
        while b"\r\n\r\n" not in answer:
            piece = connection.recv(65536)
            check(piece, "the measuring client lost its connection")
            answer += piece
        check(answer.startswith(b"HTTP/1.1 201 "), f"the measuring client got {answer[:200]}")
        latencies.append((time.monotonic() - due) * 1000)
    latencies.sort()
    return latencies


def resident_bytes(pid):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def percentile(values, part):
    return values[min(len(values) - 1, int(len(values) * part))]


def driver_for(seconds):
    def driver(folder):
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        check(hard > 2 * (IDLE + SLOW), f"the limit of open files is {hard}: raise it (ulimit -n)")
        bodies = hostile_bodies()
        settings = {"output": "discard", "limits.memory_bytes": MEMORY_BYTES, "max_body_size": MAX_BODY,
                    "schema_base_uris": [str(ROOT / "config/schemas")]}
        with Daemon(ROOT / "config/demo.yaml", folder, settings) as sluice:
            where = sluice.host, sluice.port
            calm = measure(*where, min(3, seconds))
            stop, ready, sent = multiprocessing.Event(), multiprocessing.Event(), multiprocessing.Queue()
            helpers = [multiprocessing.Process(target=hold_connections, args=(*where, ready, stop)),
                       multiprocessing.Process(target=send_bodies, args=(*where, bodies, stop, sent))]
            for process in helpers:
                process.start()
            try:
                check(ready.wait(60), f"no {IDLE} connections within a minute")
                busy = measure(*where, seconds)
                stop.set()
                counts = sent.get(timeout=60)
            finally:
                stop.set()
                for process in helpers:
                    process.join(30)
                    process.kill()
            peak = resident_bytes(sluice.process.pid)
            print(f"calm: p50 {percentile(calm, .5):.2f} ms, p99 {percentile(calm, .99):.2f} ms; "
                  f"under abuse: p50 {percentile(busy, .5):.2f} ms, p99 {percentile(busy, .99):.2f} ms; "
                  f"peak resident {peak >> 20} MiB")
            print("answers: " + ", ".join(f"{name} {status} x{n}" for (name, status), n in sorted(counts.items())))
            check(percentile(busy, .99) < P99_MS, f"p99 of {percentile(busy, .99):.1f} ms under abuse")
            check(peak < MEMORY_BYTES + ALLOWANCE, f"{peak >> 20} MiB resident at the peak")
            for name, _, _ in bodies:
                check(counts.get((name, "413"), 0) > 0, f"no 413 for a body in {name}: {counts}")
            wrong = {key: n for key, n in counts.items() if key[1] not in ("413", "none")}
            check(not wrong, f"other answers: {wrong}")
            code = sluice.stop()
            check(code == 0, f"exit {code}")
    return driver


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", nargs="?")
    parser.add_argument("--seconds", type=int, default=10)
    arguments = parser.parse_args()
    if arguments.binary:
        daemon_module.BINARY = Path(os.path.abspath(arguments.binary))
    sys.exit(run(driver_for(arguments.seconds)))
