#!/usr/bin/env python3
"""A partition without a leader slows only its own streams: three brokers, topics without copies, one broker killed.

dead_partition.py [--port P] [--seconds N] [--rate N]

While events flow to all streams, those of living brokers must keep a p99 within twice of what it was before, and none of
them may fail; those of the dead one are answered 503 in time. P is the first port of a cluster of its own.
"""
import argparse
import http.client
import json
import os
import signal
import statistics
import subprocess
import sys
import threading
import time

import kafka
from daemon import ROOT, Daemon, Failure, check, eventually, run
from oracle import rdkafka

BROKERS = 3
STREAMS = 12
CONNECTIONS = 4
WINDOW_SECONDS = 2      # longer than librdkafka's rounds of looking for overdue records
SLACK_SECONDS = 0.01   # what a busy machine adds to a p99 of some milliseconds by itself

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--port", type=int, default=19392)
parser.add_argument("--seconds", type=float, default=10)
parser.add_argument("--rate", type=float, default=100)
args = parser.parse_args()


def leaders(broker):
    """Topic -> the broker that leads its one partition."""
    done = subprocess.run(["kcat", "-L", "-J", "-b", broker], stdout=subprocess.PIPE, timeout=60, check=True)
    return {t["topic"]: t["partitions"][0]["leader"] for t in json.loads(done.stdout)["topics"] if t["partitions"]}


def event(stream):
    return json.dumps({"$schema": "/page/view/1.0.0", "meta": {"stream": stream}, "page": {"path": "/" + stream}})


class Load:
    """Single events at a fixed rate, each timed from the moment it was due."""

    def __init__(self, daemon, streams, rate, connections=CONNECTIONS):
        self.address, self.streams, self.rate = (daemon.host, daemon.port), streams, rate
        self.times, self.statuses, self.stopping = [], {}, False
        self.start = time.monotonic()
        self.threads = [threading.Thread(target=self._run, args=(i, connections)) for i in range(connections)]
        for thread in self.threads:
            thread.start()

    def _run(self, first, step):
        connection, number = http.client.HTTPConnection(*self.address, timeout=60), first
        while not self.stopping:
            due = self.start + number / self.rate
            time.sleep(max(0.0, due - time.monotonic()))
            connection.request("POST", "/v1/events", event(self.streams[number % len(self.streams)]),
                               {"Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            self.times.append((due, time.monotonic() - due))
            self.statuses[answer.status] = self.statuses.get(answer.status, 0) + 1
            number += step
        connection.close()

    def stop(self):
        self.stopping = True
        for thread in self.threads:
            thread.join()
        return self

    def quantile(self, q):
        """Of each window, and of those the middle one: a moment at which the machine did something else is left out,
        what comes again and again is not."""
        windows = {}
        for due, seconds in self.times:
            windows.setdefault(int((due - self.start) / WINDOW_SECONDS), []).append(seconds)
        return statistics.median(sorted(window)[int(len(window) * q)] for window in windows.values())

    def p99(self):
        return self.quantile(0.99)

    def text(self):
        return f"p50 {self.quantile(0.5) * 1000:.1f} ms, p99 {self.p99() * 1000:.1f} ms"


def measure(daemon, streams):
    load = Load(daemon, streams, args.rate)
    time.sleep(args.seconds)
    return load.stop()


def main(folder):
    broker = kafka.script(args.port, "up", "--brokers", str(BROKERS))
    try:
        streams = [f"part.{i}" for i in range(STREAMS)]
        with rdkafka.Client({"bootstrap.servers": broker}) as admin:
            for stream in streams:
                check(not admin.create_topic(stream, 1, 1), stream)
        led = eventually("leaders", lambda: all(s in leaders(broker) for s in streams) and leaders(broker), 30)
        victim = led[streams[0]]
        dead = [stream for stream in streams if led[stream] == victim]
        alive = [stream for stream in streams if led[stream] != victim]
        check(alive, "one broker leads everything")
        config = folder / "streams.json"
        config.write_text(json.dumps({stream: {"schema_title": "page/view"} for stream in streams}))
        settings = {"output": "kafka", "kafka.conf": {"metadata.broker.list": broker}, "topic_prefix": "",
                    "stream_config_uri": str(config), "error_stream": ""}
        with Daemon(ROOT / "config/demo.yaml", folder, settings) as daemon:
            for stream in streams:
                eventually(stream, lambda: daemon.post(event(stream))[0] == 201, 30)
            before = measure(daemon, alive)
            check(set(before.statuses) == {201}, f"before: {before.statuses}")
            os.kill(int((ROOT / f"var/kafka/{args.port}/node-{victim}/pid").read_text()), signal.SIGKILL)
            eventually("no leader", lambda: leaders_without(broker, victim)[dead[0]] == -1, 60)
            doomed = Load(daemon, dead, args.rate / 2, connections=16)
            time.sleep(1)
            during = measure(daemon, alive)
            doomed.stop()
            print(f"{len(alive)} living streams: {before.text()} before; {during.text()} while "
                  f"{len(dead)} have no leader; answers {during.statuses}, of the dead {doomed.statuses}, the slowest of "
                  f"those after {max(seconds for _, seconds in doomed.times):.1f} s from when it was due")
            check(set(during.statuses) == {201}, f"living streams: {during.statuses}")
            check(201 not in doomed.statuses and 503 in doomed.statuses, f"dead streams: {doomed.statuses}")
            check(during.p99() <= max(2 * before.p99(), before.p99() + SLACK_SECONDS),
                  f"p99 {before.p99() * 1000:.1f} ms before, {during.p99() * 1000:.1f} ms during")
            daemon.stop(60)
    finally:
        kafka.script(args.port, "down")


def leaders_without(broker, victim):
    others = ",".join(address for i, address in enumerate(broker.split(","), 1) if i != victim)
    return leaders(others)


if __name__ == "__main__":
    try:
        sys.exit(run(main))
    except Failure as failure:
        sys.exit(f"FAILED: {failure}")
