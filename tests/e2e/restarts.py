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
from keep_alive import Load

WORKERS = 2
CONNECTIONS = 30        # of each worker
PATIENCE_SECONDS = 30   # for one answer, restarts included


class RestartLoad(Load):
    """Of clients that honour Connection: close, and connect again whenever a connection is gone."""

    def __init__(self, port, stream, name, rate, going):
        super().__init__("127.0.0.1", port, stream, name, rate)
        self.going, self.failures, self.closes, self.slowest, self.tasks = going, [], 0, 0.0, set()

    def answered(self, connection, event_id, status, headers):
        super().answered(connection, event_id, status, headers)
        self.slowest = max(self.slowest, time.monotonic() - connection.sent_at)
        if headers.get("connection") == "close":
            self.closes += 1
            connection.transport.close()
        else:
            self.idle.append(connection)

    def lost(self, connection, error):
        if connection.id is not None:
            self.failures.append(f"{connection.id} was not answered: {error!r}")
        if self.going.value:
            task = asyncio.get_running_loop().create_task(self.connect())
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    async def connect(self):
        try:
            await super().connect()
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
                self.sent += self.send(self.idle.pop(0))
            await asyncio.sleep(0.002)
        end = loop.time() + PATIENCE_SECONDS
        while sum(self.answers.values()) + len(self.failures) < self.sent and loop.time() < end:
            await asyncio.sleep(0.01)


def worker(queue, *arguments):
    load = RestartLoad(*arguments)
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
