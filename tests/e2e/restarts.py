#!/usr/bin/env python3
"""Restarts under load with sockets that somebody else holds: no connection is refused, each request on keep-alive
connections is answered 201, and each event that was is in the topic once.

restarts.py files|kafka [--rounds N] [--rate N] [--seconds S]
"""
import argparse
import asyncio
import json
import multiprocessing
import sys
import time

import kafka
from daemon import ROOT, Daemon, check, run
from held_sockets import HeldSockets

WORKERS = 2
CONNECTIONS = 30        # of each worker
PATIENCE_SECONDS = 30   # for one answer, restarts included


class Connection(asyncio.Protocol):
    """One keep-alive connection with at most one request on its way, of a client that honours Connection: close."""

    def __init__(self, load):
        self.load, self.id, self.buffer, self.transport = load, None, b"", None

    def connection_made(self, transport):
        self.transport = transport
        self.load.idle.append(self)

    def send(self, event_id):
        self.id, self.sent_at = event_id, time.monotonic()
        self.transport.write(self.load.request(event_id))

    def data_received(self, data):
        self.buffer += data
        head, end, rest = self.buffer.partition(b"\r\n\r\n")
        if not end:
            return
        lines = head.decode("latin-1").lower().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines[1:])
        length = int(headers.get("content-length", 0))
        if len(rest) < length:
            return
        self.buffer = rest[length:]
        self.load.answered(self.id, int(lines[0].split()[1]), time.monotonic() - self.sent_at)
        self.id = None
        if headers.get("connection") == "close":
            self.load.closes += 1
            self.transport.close()
        else:
            self.load.idle.append(self)

    def connection_lost(self, error):
        if self.id is not None:
            self.load.failures.append(f"{self.id} was not answered: {error!r}")
        if self in self.load.idle:  # ended while it had nothing on its way: anybody may do so
            self.load.idle.remove(self)
        self.load.reconnect()


class Load:
    def __init__(self, port, stream, name, rate, going):
        self.port, self.stream, self.name, self.rate, self.going = port, stream, name, rate, going
        self.idle, self.acknowledged, self.answers, self.failures = [], [], {}, []
        self.closes, self.sent, self.slowest, self.tasks = 0, 0, 0.0, set()

    def request(self, event_id):
        body = json.dumps({"$schema": "/library/loan/1.0.0", "meta": {"stream": self.stream, "id": event_id},
                           "action": "lend", "book": {"isbn": "9780141439518"}, "reader_id": "r-1"}).encode()
        return (f"POST /v1/events HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n").encode() + body

    def answered(self, event_id, status, seconds):
        self.answers[status] = self.answers.get(status, 0) + 1
        self.slowest = max(self.slowest, seconds)
        if status == 201:
            self.acknowledged.append(event_id)

    def reconnect(self):
        if self.going.value:
            task = asyncio.get_running_loop().create_task(self.connect())
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    async def connect(self):
        try:
            await asyncio.get_running_loop().create_connection(lambda: Connection(self), "127.0.0.1", self.port)
        except OSError as error:
            self.failures.append(f"no connection: {error!r}")

    async def drive(self):
        loop = asyncio.get_running_loop()
        for _ in range(CONNECTIONS):
            await self.connect()
        begun, owed = loop.time(), 0.0
        while self.going.value:
            now = loop.time()
            # What could not be sent during a restart is not made up for: the rate is that of clients that wait.
            owed = min(owed + (now - begun) * self.rate, CONNECTIONS)
            begun = now
            while owed >= 1 and self.idle:
                owed -= 1
                connection = self.idle.pop(0)
                if not connection.transport.is_closing():
                    connection.send(f"{self.name}-{self.sent}")
                    self.sent += 1
            await asyncio.sleep(0.002)
        end = loop.time() + PATIENCE_SECONDS
        while sum(self.answers.values()) + len(self.failures) < self.sent and loop.time() < end:
            await asyncio.sleep(0.01)


def worker(queue, *arguments):
    load = Load(*arguments)
    asyncio.run(load.drive())
    queue.put({"acknowledged": load.acknowledged, "answers": load.answers, "failures": load.failures,
               "sent": load.sent, "closes": load.closes, "slowest": load.slowest})


class Restarting:
    """One daemon after the other on the same sockets and folder."""

    def __init__(self, folder, held, settings):
        self.folder, self.held, self.settings = folder, held, settings

    def start(self):
        daemon = Daemon(ROOT / "config/demo.yaml", self.folder, self.settings, prefix=self.held.prefix(),
                        **self.held.options())
        check(daemon.port == self.held.port("events"), "the ready line names another port than that of the socket")
        check(daemon.admin[1] == self.held.port("admin"), "the ready line names another admin port")
        return daemon


def driver_with(output, rounds, rate, seconds):
    def driver(folder):
        broker = kafka.address() if output == "kafka" else None
        stream = f"restarts.{time.time_ns()}"
        settings = {"schema_base_uris": [str(ROOT / "config/schemas")], "stream_config_uri": "", "error_stream": "",
                    "output": output}
        if output == "kafka":
            settings.update(kafka.settings(broker))
        with HeldSockets("events", "admin") as held:
            restarting = Restarting(folder / "data", held, settings)
            queue, going = multiprocessing.Queue(), multiprocessing.Value("b", 1, lock=False)
            workers = [multiprocessing.Process(target=worker, daemon=True,
                                               args=(queue, held.port("events"), stream, f"w{i}", rate / WORKERS, going))
                       for i in range(WORKERS)]
            daemon = restarting.start()
            begun = time.monotonic()
            for process in workers:
                process.start()
            longest = 0.0
            for _ in range(rounds):
                time.sleep(seconds)  # the load itself, not a wait for something
                told = time.monotonic()
                code = daemon.stop()
                daemon.__exit__(None, None, None)
                check(code == 0, f"exit {code}")
                daemon = restarting.start()
                longest = max(longest, time.monotonic() - told)
            time.sleep(seconds)
            going.value = 0
            results = [queue.get(timeout=PATIENCE_SECONDS + 30) for _ in workers]
            took = time.monotonic() - begun
            for process in workers:
                process.join(10)
            code = daemon.stop()
            check(code == 0, f"exit {code}")
        report(results, rounds, took, longest)
        acknowledged = [event_id for result in results for event_id in result["acknowledged"]]
        found = [json.loads(line)["meta"]["id"] for line in daemon.topic_lines(f"local.{stream}")] \
            if output == "files" else \
            [json.loads(value)["meta"]["id"] for _, _, value in kafka.consume(broker, f"local.{stream}").values()]
        lost = set(acknowledged) - set(found)
        check(not lost, f"{len(lost)} events were answered 201 and are not in the topic, such as {sorted(lost)[:3]}")
        check(len(found) == len(set(found)), "an event is in the topic twice")
        check(len(acknowledged) >= rounds * 20, f"only {len(acknowledged)} events: no load to speak of")
    return driver


def report(results, rounds, took, longest):
    answers, failures = {}, []
    for result in results:
        failures += result["failures"]
        for status, count in result["answers"].items():
            answers[status] = answers.get(status, 0) + count
    sent = sum(result["sent"] for result in results)
    print(f"{rounds} restarts, the longest {longest:.2f} s: {sent} requests in {took:.1f} s ({sent / took:.0f}/s), answers "
          f"{answers}, {sum(result['closes'] for result in results)} ended by Connection: close, slowest answer "
          f"{max(result['slowest'] for result in results):.2f} s, failures {len(failures)}", flush=True)
    check(not failures, f"{failures[:3]}")
    check(set(answers) == {201}, f"answers {answers}")
    check(sum(answers.values()) == sent, f"{sent} sent, {sum(answers.values())} answered")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", choices=["files", "kafka"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rate", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=0.7, help="between two restarts")
    args = parser.parse_args()
    return run(driver_with(args.output, args.rounds, args.rate, args.seconds))


if __name__ == "__main__":
    sys.exit(main())
