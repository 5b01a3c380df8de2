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
from keep_alive import Load

WORKERS = 2
CONNECTIONS = 60         # of each worker
LOAD_SECONDS = 1.5       # before the signal, or longer on a busy machine, until enough was acknowledged
PATIENCE_SECONDS = 60    # for that
DEADLINE_SECONDS = 15    # shutdown.deadline of the daemon


class LastLoad(Load):
    """Of clients that do not come back: until the daemon has closed every connection."""

    def __init__(self, host, port, stream, name, rate, count):
        super().__init__(host, port, stream, name, rate)
        self.count, self.open = count, 0  # count is shared: how many were acknowledged

    def opened(self, connection):
        super().opened(connection)
        self.open += 1

    def answered(self, connection, event_id, status, headers):
        super().answered(connection, event_id, status, headers)
        self.count.value += status == 201
        self.idle.append(connection)

    def lost(self, connection, error):
        self.open -= 1

    async def drive(self):
        loop = asyncio.get_running_loop()
        for _ in range(CONNECTIONS):
            await self.connect()
        start = loop.time()
        while self.open and loop.time() - start < PATIENCE_SECONDS + DEADLINE_SECONDS:
            due = int((loop.time() - start) * self.rate) - self.sent
            for _ in range(min(due, len(self.idle))):
                self.send(self.idle.pop())
                self.sent += 1
            await asyncio.sleep(0.002)


def worker(queue, *arguments):
    load = LastLoad(*arguments)
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
