#!/usr/bin/env python3
"""A second Kafka while the first is dead: two clusters, the first killed under load for a while and started again.

kafka_fallback.py [--port P] [--seconds N] [--rate N]

Every event that was answered 201 or 202 must be in one of the two, and none in both; records go there and back once
each; a fresh event flows in each state. P is the port of the first cluster, which this starts and takes down; the
second one is that of SLUICE_KAFKA_PORT. N is how long the second one is written to.
"""
import argparse
import http.client
import json
import re
import sys
import threading
import time
import uuid

import kafka
from daemon import Daemon, check, eventually, run

PREFIX = "fallback."
TOPIC = "local.library.loan"
AFTER_MS, BACK_AFTER_MS = 3000, 3000
CONNECTIONS = 4
HASTY_SHARE = 4  # one of so many

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--port", type=int, default=19492)
parser.add_argument("--seconds", type=float, default=3)
parser.add_argument("--rate", type=float, default=200)
args = parser.parse_args()


def event(identity):
    return json.dumps({"$schema": "/library/loan/1.1.0", "meta": {"stream": "library.loan", "id": identity},
                       "action": "lend", "book": {"isbn": "9780141439518"}, "reader_id": "r-1801"})


class Load:
    """Single events at a rate; each id with its answer's status, 0 where the connection broke."""

    def __init__(self, daemon):
        self.address, self.answers, self.stopping = (daemon.host, daemon.port), {}, False
        self.threads = [threading.Thread(target=self._run, args=(i,)) for i in range(CONNECTIONS)]
        for thread in self.threads:
            thread.start()

    def _run(self, first):
        connection, number, start = http.client.HTTPConnection(*self.address, timeout=60), first, time.monotonic()
        while not self.stopping:
            time.sleep(max(0.0, start + number / args.rate - time.monotonic()))
            identity, query = str(uuid.uuid4()), "?hasty=true" if number % HASTY_SHARE == 0 else ""
            self.answers[identity] = 0
            connection.request("POST", "/v1/events" + query, event(identity), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            self.answers[identity] = answer.status
            number += CONNECTIONS
        connection.close()

    def stop(self):
        self.stopping = True
        for thread in self.threads:
            thread.join()
        return self.answers


def detour(daemon):
    """What /readyz says of the target: empty while records go to the first cluster."""
    conditions = json.loads(daemon.request("GET", "/readyz", admin=True)[2])["conditions"]
    return next(one for one in conditions if one["name"] == "kafka_target").get("detail", "")


def metric(daemon, series):
    text = daemon.request("GET", "/metrics", admin=True)[2].decode()
    found = re.search("^" + re.escape(series) + r" (\S+)$", text, re.M)
    return float(found.group(1)) if found else 0.0


def fresh(daemon, others):
    """A new event is answered 201 soon; `others` gets its id."""
    identity = str(uuid.uuid4())
    start = time.monotonic()
    status, _, body = daemon.post(event(identity))
    check(status == 201, f"a fresh event is answered {status}: {body[:300]}")
    check(time.monotonic() - start < 5, "a fresh event took 5 s")
    others[identity] = status


def ids(broker, topic):
    found = {}
    for _, _, value in kafka.consume(broker, topic).values():
        identity = json.loads(value)["meta"]["id"]
        found[identity] = found.get(identity, 0) + 1
    return found


def ride(daemon):
    """The load through a death of the first cluster; every id with its answer."""
    mine = {}
    load = Load(daemon)
    try:
        time.sleep(1)
        fresh(daemon, mine)
        kafka.script(args.port, "kill", "1")
        eventually("records go to the fallback", lambda: detour(daemon), 30)
        fresh(daemon, mine)
        check(daemon.request("GET", "/readyz", admin=True)[0] == 200, "not ready while the fallback is well")
        time.sleep(args.seconds)
        kafka.script(args.port, "start", "1")
        eventually("records come back", lambda: not detour(daemon), 60)
        fresh(daemon, mine)
        time.sleep(1)
    finally:
        answers = load.stop()
    return {**answers, **mine}


def drive(folder):
    second = kafka.address()
    first = kafka.script(args.port, "up").split()[-1]
    settings = {"output": "kafka",
                "kafka.conf": {"metadata.broker.list": first},
                "kafka.guaranteed.topic_conf": {"message.timeout.ms": 2000},
                "kafka.hasty.topic_conf": {"message.timeout.ms": 4000},
                "kafka.fallback.conf": {"metadata.broker.list": second},
                "kafka.fallback.after": AFTER_MS, "kafka.fallback.back_after": BACK_AFTER_MS,
                "kafka.fallback.topic_prefix": PREFIX, "topic_prefix": f"{uuid.uuid4().hex[:8]}."}
    topic = settings["topic_prefix"] + TOPIC.split(".", 1)[1]
    with Daemon("config/demo.yaml", folder, settings) as daemon:
        answers = ride(daemon)
        eventually("the spool is replayed", lambda: metric(daemon, "sluice_spool_records") == 0, 30)
        turns = [metric(daemon, f'sluice_kafka_target_switches_total{{cluster="{one}"}}') for one in ("fallback", "first")]
        spooled = metric(daemon, "sluice_records_spooled_total")
        code = daemon.stop()
        check(code == 0, f"stopped with {code}")
    check(turns == [1, 1], f"turns to the fallback and back: {turns}")
    in_first, in_second = ids(first, topic), ids(second, PREFIX + topic)
    promised = {identity for identity, status in answers.items() if status in (201, 202)}
    lost = promised - in_first.keys() - in_second.keys()
    both = in_first.keys() & in_second.keys()
    foreign = (in_first.keys() | in_second.keys()) - answers.keys()
    again = sum(count - 1 for found in (in_first, in_second) for count in found.values())
    statuses = {status: list(answers.values()).count(status) for status in sorted(set(answers.values()))}
    print(f"answers {statuses}; in the first {len(in_first)}, in the fallback {len(in_second)}, in both {len(both)}, "
          f"spooled {spooled:.0f}, duplicates {again}, lost {len(lost)}, foreign {len(foreign)}")
    check(not lost, f"lost: {sorted(lost)[:5]}")
    check(not both, f"in both clusters: {sorted(both)[:5]}")
    check(not foreign, f"never sent: {sorted(foreign)[:5]}")
    check(len(in_second) > args.seconds * args.rate / 2, "hardly any event went through the fallback")
    check(set(statuses) <= {201, 202, 503}, f"other answers: {statuses}")


def main():
    try:
        return run(drive)
    finally:
        kafka.script(args.port, "down")


sys.exit(main())
