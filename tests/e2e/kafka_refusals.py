#!/usr/bin/env python3
"""One event that Kafka does not take costs no other: a record above the topic's max.message.bytes, and a topic that the
cluster does not have with `topics: require`, each in an array of 50, while other requests to the same daemon go on."""
import json
import os
import sys
import threading
import time

import kafka
from daemon import ROOT, Daemon, Failure, check, eventually, run
from oracle import rdkafka

LIMIT = 10_000
OTHERS_LIMIT_SECONDS = 5  # for the answer of a request that has nothing to do with it; far below any time-out


def view(number, title="t"):
    return {"$schema": "/page/view/1.0.0", "meta": {"stream": "page.view"}, "page": {"path": f"/{number}", "title": title}}


def loan():
    return {"$schema": "/library/loan/1.1.0", "meta": {"stream": "library.loan"}, "action": "lend",
            "book": {"isbn": "9780141439518"}, "reader_id": "r-1"}


class Others(threading.Thread):
    """Single good events, one after the other, until told to stop."""

    def __init__(self, daemon):
        super().__init__()
        self.daemon_under_test, self.stopping, self.worst, self.wrong, self.count = daemon, False, 0.0, [], 0

    def run(self):
        while not self.stopping:
            start = time.monotonic()
            status, reason, _ = self.daemon_under_test.post(json.dumps(view("other")))
            self.worst = max(self.worst, time.monotonic() - start)
            self.count += 1
            if status != 201:
                self.wrong.append((status, reason))

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, *_):
        self.stopping = True
        self.join()
        if kind is None:
            check(not self.wrong, f"other requests were disturbed: {self.wrong[:3]}")
            check(self.count > 0 and self.worst < OTHERS_LIMIT_SECONDS, f"another request took {self.worst:.1f} s")


def post_batch(daemon, events, code):
    """Posts the array, of which one event must fail with the code; returns how long it took."""
    start = time.monotonic()
    status, reason, body = daemon.post(json.dumps(events))
    took = time.monotonic() - start
    check(status == 207, f"{status} {reason}")
    answer = json.loads(body)
    check(answer["invalid"] == [] and len(answer["error"]) == 1, body[:500])
    check(answer["error"][0]["context"]["code"] == code, body[:500])
    check(f"{len(events) - 1} out of {len(events)}" in reason, reason)
    return took


def main(folder):
    broker = kafka.address()
    prefix = f"refusals{os.getpid()}."
    topic = prefix + "page.view"
    with rdkafka.Client({"bootstrap.servers": broker}) as admin:
        check(not admin.create_topic(topic, 1, 1), "create_topic")
        check(not admin.set_topic(topic, {"max.message.bytes": LIMIT}), "set_topic")
    settings = {**kafka.settings(broker), "topic_prefix": prefix, "topics": "require", "kafka.topics.refresh": "500ms",
                "error_stream": ""}
    with Daemon(ROOT / "config/demo.yaml", folder, settings) as daemon:
        eventually("a good event", lambda: daemon.post(json.dumps(view(0)))[0] == 201, 30)
        before = len(kafka.consume(broker, topic))
        with Others(daemon) as others:
            for round_number in range(5):
                batch = [view(f"{round_number}/{i}") for i in range(49)]
                batch.insert(20, view("large", "x" * (2 * LIMIT)))
                post_batch(daemon, batch, "record_too_large")
        values = [json.loads(value) for _, _, value in kafka.consume(broker, topic).values()]
        check(len(values) == before + 5 * 49 + others.count, f"{len(values)} records, {others.count} by others")
        check(not any(v["page"]["path"] == "/large" for v in values), "the large one is in the topic")

        with Others(daemon):
            for _ in range(5):
                took = post_batch(daemon, [view(i) for i in range(49)] + [loan()], "topic_unknown")
            check(took < OTHERS_LIMIT_SECONDS, f"an unknown topic is told after {took:.1f} s")
            status, _, body = daemon.post(json.dumps(loan()))
            check(status == 400 and b"topics: require" in body, f"{status} {body[:300]}")
        check(prefix + "library.loan" not in kafka.topics(broker), "a topic was made in spite of topics: require")
        with rdkafka.Client({"bootstrap.servers": broker}) as admin:
            check(not admin.create_topic(prefix + "library.loan", 1, 1), "create_topic")
        eventually("an event of a topic that was made later", lambda: daemon.post(json.dumps(loan()))[0] == 201, 30)
        code = daemon.stop()
        check(code == 0, f"exit {code}")


if __name__ == "__main__":
    try:
        sys.exit(run(main))
    except Failure as failure:
        sys.exit(f"FAILED: {failure}")
