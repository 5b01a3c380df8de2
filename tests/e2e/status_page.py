#!/usr/bin/env python3
"""Pictures of the status page in Chromium, of a daemon at work: status_page.py --screenshots DIR [--minutes M]

empty.png before the first event; then, after M minutes (default 2) of traffic into a Kafka of its own (--port), light,
dark and phone; kafka-down.png a minute after that Kafka has gone.
"""
import argparse
import json
import math
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

from browser import drive, need_chromium
from daemon import ROOT, Daemon, check, run

STREAMS = [("library.loan", 1.0), ("library.branch.north.loan", 0.5), ("library.branch.harbour.loan", 0.3),
           ("library.branch.airport.loan", 0.06), ("page.view", 3.0)]


def loan(stream, random_):
    action = "burn" if random_.random() < 0.03 else random_.choice(["lend", "return"])
    return {"$schema": "/library/loan/1.1.0", "action": action, "book": {"isbn": "9780141439518"},
            "reader_id": f"r-{random_.randrange(10000)}", "meta": {"stream": stream}}


def view(stream, random_):
    path = "no path" if random_.random() < 0.004 else f"/books/{random_.randrange(100000)}"
    return {"$schema": "/page/view/1.0.0", "meta": {"stream": stream}, "page": {"path": path}}


class Traffic(threading.Thread):
    """Posts events of the demo's streams, more and less by turns."""

    def __init__(self, daemon):
        super().__init__(daemon=True)
        self.sluice = daemon
        self.ended = threading.Event()
        self.random = random.Random(3)

    def run(self):
        began = time.monotonic()
        while not self.ended.wait(0.25):
            at = time.monotonic() - began
            for i, (stream, weight) in enumerate(STREAMS):
                busy = weight * (1.2 + math.sin(at / (47 + 20 * i) + i)) * (3 if 400 < at < 470 and i == 4 else 1)
                count = int(busy * 6 + self.random.random())
                make = view if stream == "page.view" else loan
                events = [make(stream, self.random) for _ in range(count)]
                if self.random.random() < 0.004:
                    events.append({"$schema": "/library/lone/1.0.0", "meta": {"stream": stream}})
                if events:
                    try:
                        self.sluice.post(json.dumps(events))
                    except OSError:
                        pass

    def stop(self):
        self.ended.set()
        self.join(30)


def shoot(daemon, folder, shots):
    drive("shots.js", {"url": f"http://127.0.0.1:{daemon.admin[1]}/",
                       "shots": [{"file": str(folder / f"{name}.png"), "width": width, "dark": dark, "open": opened}
                                 for name, width, dark, opened in shots]})


def kafka(*words):
    done = subprocess.run([str(ROOT / "scripts/kafka"), *words], stdout=subprocess.PIPE, text=True, timeout=300)
    check(done.returncode == 0, f"scripts/kafka {' '.join(words)}: exit {done.returncode}")
    return done.stdout.split()[-1] if done.stdout else ""


def take(folder, target, options):
    with Daemon(ROOT / "config/demo.yaml", folder / "empty") as daemon:
        shoot(daemon, target, [("empty", 1100, False, False)])
        daemon.stop()
    broker = kafka("up", "--port", options.port)
    try:
        settings = {"output": "kafka", "service_name": "sluice-main",
                    "kafka.conf": {"metadata.broker.list": broker, "message.timeout.ms": 4000}}
        with Daemon(ROOT / "config/demo.yaml", folder / "busy", settings) as daemon:
            traffic = Traffic(daemon)
            traffic.start()
            time.sleep(options.minutes * 60)
            shoot(daemon, target, [("light", 1100, False, True), ("dark", 1100, True, False),
                                   ("phone", 390, False, False)])
            kafka("down", "--port", options.port)
            time.sleep(60)
            shoot(daemon, target, [("kafka-down", 1100, False, False)])
            traffic.stop()
    finally:
        kafka("down", "--port", options.port)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--screenshots", metavar="DIR", required=True, type=Path)
    parser.add_argument("--minutes", type=float, default=2)
    parser.add_argument("--port", default="19592", help="of a Kafka that is started and stopped here")
    options = parser.parse_args()
    need_chromium()
    options.screenshots.mkdir(parents=True, exist_ok=True)
    return run(lambda folder: take(folder, options.screenshots.resolve(), options))


if __name__ == "__main__":
    sys.exit(main())
