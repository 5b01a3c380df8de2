#!/usr/bin/env python3
"""SIGTERM under load: every event that was answered 201 is in the topic, and the daemon ends with 0 in time.

sigterm.py files|kafka [--rounds N] [--rate N]
"""
import argparse
import asyncio
import json
import multiprocessing
import sys
import time

import kafka
from daemon import ROOT, Daemon, check, eventually, run

WORKERS = 2
CONNECTIONS = 60         # of each worker
LOAD_SECONDS = 1.5       # before the signal, or longer on a busy machine, until enough was acknowledged
PATIENCE_SECONDS = 60    # for that
DEADLINE_SECONDS = 15    # shutdown.deadline of the daemon


class Connection(asyncio.Protocol):
    """One keep-alive connection with at most one request on its way."""

    def __init__(self, load):
        self.load, self.id, self.buffer, self.transport = load, None, b"", None

    def connection_made(self, transport):
        self.transport = transport
        self.load.idle.append(self)
        self.load.open += 1

    def send(self, event_id):
        self.id, self.buffer = event_id, b""
        self.transport.write(self.load.request(event_id))

    def data_received(self, data):
        self.buffer += data
        head, end, rest = self.buffer.partition(b"\r\n\r\n")
        if not end:
            return
        length = next((int(line.split(b":")[1]) for line in head.split(b"\r\n")
                       if line.lower().startswith(b"content-length:")), 0)
        if len(rest) < length:
            return
        self.load.answers[int(head.split()[1])] = self.load.answers.get(int(head.split()[1]), 0) + 1
        if head.split()[1] == b"201":
            self.load.acknowledged.append(self.id)
            self.load.count.value += 1
        self.id = None
        self.load.idle.append(self)

    def connection_lost(self, error):
        self.load.open -= 1
        if self in self.load.idle:
            self.load.idle.remove(self)


class Load:
    def __init__(self, host, port, stream, name, rate, count=None):
        self.host, self.port, self.stream, self.name, self.rate = host, port, stream, name, rate
        self.count = count  # shared: how many were acknowledged
        self.idle, self.acknowledged, self.answers, self.open, self.sent = [], [], {}, 0, 0

    def request(self, event_id):
        body = json.dumps({"$schema": "/library/loan/1.0.0", "meta": {"stream": self.stream, "id": event_id},
                           "action": "lend", "book": {"isbn": "9780141439518"}, "reader_id": "r-1"}).encode()
        return (f"POST /v1/events HTTP/1.1\r\nHost: {self.host}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n").encode() + body

    async def drive(self):
        """Sends at the rate until the daemon has closed every connection."""
        loop = asyncio.get_running_loop()
        for _ in range(CONNECTIONS):
            await loop.create_connection(lambda: Connection(self), self.host, self.port)
        start = loop.time()
        while self.open and loop.time() - start < PATIENCE_SECONDS + DEADLINE_SECONDS:
            due = int((loop.time() - start) * self.rate) - self.sent
            for _ in range(min(due, len(self.idle))):
                connection = self.idle.pop()
                if not connection.transport.is_closing():
                    connection.send(f"{self.name}-{self.sent}")
                self.sent += 1
            await asyncio.sleep(0.002)


def worker(queue, *arguments):
    load = Load(*arguments)
    asyncio.run(load.drive())
    queue.put((load.acknowledged, load.answers, load.open))


def ids_in_file(daemon, stream):
    return [json.loads(line)["meta"]["id"] for line in daemon.topic_lines(f"local.{stream}")]


def one_round(folder, output, number, rate, broker):
    stream = f"sigterm.{time.time_ns()}"
    settings = {"schema_base_uris": [str(ROOT / "config/schemas")], "stream_config_uri": "", "error_stream": "",
                "shutdown.deadline": f"{DEADLINE_SECONDS}s", "output": output}
    if output == "kafka":
        settings.update(kafka.settings(broker))
    with Daemon(ROOT / "config/demo.yaml", folder / str(number), settings) as daemon:
        first = Load(daemon.host, daemon.port, stream, "", 0).request("first").partition(b"\r\n\r\n")[2]
        eventually("the first 201", lambda: daemon.post(first)[0] == 201)
        queue = multiprocessing.Queue()
        counts = [multiprocessing.Value("q", 0, lock=False) for _ in range(WORKERS)]
        workers = [multiprocessing.Process(target=worker, args=(queue, daemon.host, daemon.port, stream, f"w{i}",
                                                                rate / WORKERS, counts[i]), daemon=True)
                   for i in range(WORKERS)]
        for process in workers:
            process.start()
        time.sleep(LOAD_SECONDS)  # the load itself, not a wait for something
        enough = rate * LOAD_SECONDS * 0.5
        eventually("enough load", lambda: sum(count.value for count in counts) >= enough, PATIENCE_SECONDS)
        told = time.monotonic()
        code = daemon.stop(DEADLINE_SECONDS + 5)
        took = time.monotonic() - told
        results = [queue.get(timeout=60) for _ in workers]
        for process in workers:
            process.join(10)
        acknowledged = ["first"] + [event_id for ids, _, _ in results for event_id in ids]
        answers = {}
        for _, statuses, _ in results:
            for status, count in statuses.items():
                answers[status] = answers.get(status, 0) + count
        found = ids_in_file(daemon, stream) if output == "files" else \
            [json.loads(value)["meta"]["id"] for _, _, value in kafka.consume(broker, f"local.{stream}").values()]
        lost = set(acknowledged) - set(found)
        print(f"{output} round {number}: {len(acknowledged)} answered 201, {len(found)} in the topic, other answers "
              f"{ {s: n for s, n in answers.items() if s != 201} }, exit {code} after {took:.2f} s", flush=True)
        check(not lost, f"{len(lost)} events were answered 201 and are not in the topic, such as {sorted(lost)[:3]}")
        check(len(found) == len(set(found)), "an event is in the topic twice")
        check(code == 0, f"exit {code}")
        check(took <= DEADLINE_SECONDS, f"took {took:.1f} s to end")
        check(set(answers) <= {201, 503}, f"answers {answers}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", choices=["files", "kafka"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rate", type=int, default=2000)
    args = parser.parse_args()

    def driver(folder):
        broker = kafka.address() if args.output == "kafka" else None
        for number in range(args.rounds):
            (folder / str(number)).mkdir()
            one_round(folder, args.output, number, args.rate, broker)
    return run(driver)


if __name__ == "__main__":
    sys.exit(main())
