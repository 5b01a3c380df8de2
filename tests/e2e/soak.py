#!/usr/bin/env python3
"""A daemon under steady load with reloads, reconnects and slow clients mixed in: memory, descriptors, threads and p99
stay level, no event fails.

soak.py [--minutes M] [--rate N] [--output files|discard]
"""
import argparse
import asyncio
import multiprocessing
import os
import random
import statistics
import sys
import threading
import time
from pathlib import Path

import reload
import restarts
from daemon import Daemon, check, run

WINDOW_SECONDS = 10
BETWEEN_RELOADS = 2.0
SLOW_CLIENTS = 20
REQUESTS_OF_A_CONNECTION = 200  # then its client closes it and connects anew


class SoakLoad(restarts.RestartLoad):
    """Connections end after some requests, as those of clients with pools do."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.window, self.windows, self.window_ends = [], [], time.monotonic() + WINDOW_SECONDS
        self.left = {}  # requests of each connection

    def meta(self, event_id):
        # With its own time: a configuration that completes nothing is among those that are loaded.
        return super().meta(event_id) | {"dt": "2026-01-01T00:00:00Z"}

    def opened(self, connection):
        super().opened(connection)
        self.left[connection] = random.randint(1, 2 * REQUESTS_OF_A_CONNECTION)

    def answered(self, connection, event_id, status, headers):
        super().answered(connection, event_id, status, headers)
        self.acknowledged.clear()  # not looked for in the topic, and too many to keep
        self.window.append(time.monotonic() - connection.sent_at)
        if time.monotonic() >= self.window_ends:
            self.windows.append(sorted(self.window)[int(len(self.window) * 0.99)])
            self.window, self.window_ends = [], time.monotonic() + WINDOW_SECONDS
        self.left[connection] -= 1
        if self.left[connection] <= 0 and connection in self.idle:
            self.idle.remove(connection)
            connection.transport.close()

    def lost(self, connection, error):
        del self.left[connection]
        super().lost(connection, error)

    async def slow(self, number):
        """A client that sends a request in small pieces, again and again."""
        while self.going.value:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            try:
                request = self.request(f"slow-{number}-{time.time_ns()}")
                for at in range(0, len(request), 10):
                    writer.write(request[at:at + 10])
                    await asyncio.sleep(0.02)
                head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 30)
                if b" 201 " not in head:
                    self.failures.append(f"a slow client got {head[:60]}")
            except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError) as error:
                self.failures.append(f"a slow client: {error!r}")
            writer.close()

    async def drive_with_slow(self):
        slow = [asyncio.create_task(self.slow(number)) for number in range(SLOW_CLIENTS)]
        await self.drive()
        await asyncio.gather(*slow)


def worker(queue, *arguments):
    load = SoakLoad(*arguments)
    asyncio.run(load.drive_with_slow())
    queue.put({"answers": load.answers, "failures": load.failures, "sent": load.sent, "windows": load.windows})


def sample(pid):
    status = dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line)
    return {"rss_mib": int(status["VmRSS"].split()[0]) / 1024, "threads": int(status["Threads"]),
            "descriptors": len(os.listdir(f"/proc/{pid}/fd"))}


def reload_often(daemon, files, dice, going, counts):
    while going.value:
        is_good = dice.random() < 0.7
        files.write(files.good() if is_good else files.bad())
        applied, _ = reload.reload(daemon, files, "post")
        counts["applied" if applied else "refused"] += 1
        if applied != is_good:
            counts["wrong"] += 1
        time.sleep(BETWEEN_RELOADS)


def thirds(values):
    size = max(1, len(values) // 3)
    return statistics.median(values[:size]), statistics.median(values[size:-size] or values), \
        statistics.median(values[-size:])


def driver_with(minutes, rate, output):
    def driver(folder):
        dice = random.Random(3)
        files = reload.Files(folder, dice)
        files.write(files.base())
        with Daemon(files.path, folder / "data", {"output": output}) as daemon:
            queue, going = multiprocessing.Queue(), multiprocessing.Value("b", 1, lock=False)
            workers = [multiprocessing.Process(target=worker, daemon=True, args=(
                queue, daemon.port, reload.STREAM, f"w{i}", rate / restarts.WORKERS, going))
                       for i in range(restarts.WORKERS)]
            for process in workers:
                process.start()
            counts = {"applied": 0, "refused": 0, "wrong": 0}
            reloading = threading.Thread(target=reload_often, args=(daemon, files, dice, going, counts), daemon=True)
            reloading.start()
            samples, end = [], time.monotonic() + minutes * 60
            while time.monotonic() < end:
                time.sleep(min(WINDOW_SECONDS, minutes * 10))
                samples.append(sample(daemon.process.pid))
            going.value = 0
            results = [queue.get(timeout=120) for _ in workers]
            reloading.join(60)
            code = daemon.stop()
            check(code == 0, f"exit {code}")
        report(samples, results, counts, minutes)
    return driver


def report(samples, results, counts, minutes):
    failures = [text for result in results for text in result["failures"]]
    answers = {}
    for result in results:
        for status, count in result["answers"].items():
            answers[status] = answers.get(status, 0) + count
    total = sum(answers.values())
    print(f"{minutes} minutes, {total} requests ({total / minutes / 60:.0f}/s), answers {answers}, reloads {counts}, "
          f"failures {len(failures)}")
    level = {name: thirds([each[name] for each in samples]) for name in samples[0]}
    windows = [1000 * max(pair) for pair in zip(*(result["windows"] for result in results))]
    if windows:
        level["p99_ms"] = thirds(windows)
    for name, (first, middle, last) in level.items():
        print(f"{name:12} first third {first:8.1f}  middle {middle:8.1f}  last {last:8.1f}")
    check(not failures, f"{failures[:3]}")
    check(set(answers) == {201}, f"answers {answers}")
    check(counts["wrong"] == 0 and counts["applied"] > 0, f"reloads {counts}")
    check(level["threads"][2] <= level["threads"][0], "threads grow")
    check(level["descriptors"][2] <= level["descriptors"][0] * 1.2 + 10, "descriptors grow")
    check(level["rss_mib"][2] <= level["rss_mib"][0] * 1.15 + 10, "memory grows")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=0.5)
    parser.add_argument("--rate", type=int, default=2000)
    parser.add_argument("--output", choices=["files", "discard"], default="discard")
    args = parser.parse_args()
    return run(driver_with(args.minutes, args.rate, args.output))


if __name__ == "__main__":
    sys.exit(main())
