#!/usr/bin/env python3
"""SIGKILL under load with spool.mode: all: every event that was answered 201 is in Kafka after a restart.

spool_kill.py [--rounds N] [--rate N] [--seed N]

In every second round the broker is frozen first, so that answers rest on the spool. After the last round the daemon is
started once more and may replay; then the topic is held against the answers.
"""
import argparse
import json
import multiprocessing
import os
import random
import re
import signal
import subprocess
import sys
import time

import kafka
from daemon import BINARY, ROOT, Daemon, check, eventually, run
from sigterm import worker

WORKERS = 2
REPLAY_SECONDS = 120


def broker_process(port):
    return int((ROOT / "var/kafka" / str(port) / "node-1/pid").read_text())


def metric(daemon, name):
    text = daemon.request("GET", "/metrics", admin=True)[2].decode()
    match = re.search(rf"^{re.escape(name)} (\S+)$", text, re.M)
    return float(match.group(1)) if match else 0.0


def one_round(number, folder, settings, stream, rate, broker_pid, chance):
    """Returns (ids answered 201, how many answers rested on the spool) of a life that ends with SIGKILL."""
    frozen = number % 2 == 1
    with Daemon(ROOT / "config/demo.yaml", folder, settings) as daemon:
        queue = multiprocessing.Queue()
        counts = [multiprocessing.Value("q", 0, lock=False) for _ in range(WORKERS)]
        workers = [multiprocessing.Process(target=worker, args=(queue, daemon.host, daemon.port, stream,
                                                                f"r{number}w{i}", rate / WORKERS, counts[i]), daemon=True)
                   for i in range(WORKERS)]
        for process in workers:
            process.start()
        try:
            eventually("an answer", lambda: sum(count.value for count in counts) > 0, 60)
            if frozen:
                os.kill(broker_pid, signal.SIGSTOP)
            time.sleep(chance.uniform(0.05, 3.5 if frozen else 0.6))  # the moment is what is tried
            spooled = metric(daemon, 'sluice_acknowledgements_total{durability="spool"}')
            if number == 1 and spooled == 0:  # at least this one is to see the spool at work
                eventually("an answer that rests on the spool", lambda: metric(
                    daemon, 'sluice_acknowledgements_total{durability="spool"}') > 0, 30)
                spooled = metric(daemon, 'sluice_acknowledgements_total{durability="spool"}')
            time.sleep(chance.uniform(0, 0.2))
            daemon.process.kill()
            daemon.wait(10)
        finally:
            os.kill(broker_pid, signal.SIGCONT)
        results = [queue.get(timeout=60) for _ in workers]
        for process in workers:
            process.join(10)
    return [event_id for ids, _, _ in results for event_id in ids], spooled


def spool_command(folder, *words):
    done = subprocess.run([BINARY, "spool", *words, "--dir", str(folder / "spool")], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=120)
    check(done.returncode in (0, 1), f"spool {words[0]}: exit {done.returncode}: {done.stderr}")
    return done


def look_at_spool(folder, acknowledged, broker, stream):
    """What is not in the topic yet is in the spool, as its commands show it."""
    exported = [json.loads(line) for line in spool_command(folder, "export").stdout.splitlines()]
    waiting = {json.loads(record["value"])["meta"]["id"] for record in exported}
    sent = {json.loads(value)["meta"]["id"] for _, _, value in kafka.consume(broker, f"local.{stream}").values()}
    missing = acknowledged - waiting - sent
    check(not missing, f"{len(missing)} events are neither in the topic nor in the spool")
    print(spool_command(folder, "ls").stdout.splitlines()[-1], flush=True)
    for line in spool_command(folder, "verify").stderr.splitlines():
        check("unfinished or damaged end" in line, f"spool verify: {line}")  # of the last SIGKILL


def all_rounds(folder, rounds, rate, seed):
    broker = kafka.address()
    broker_pid = broker_process(kafka.PORT)
    chance = random.Random(seed)
    stream = f"kill.{time.time_ns()}"
    settings = {"schema_base_uris": [str(ROOT / "config/schemas")], "stream_config_uri": "", "error_stream": "",
                "spool.mode": "all", "spool.after": "200ms", "spool.segment_bytes": "256kb", "logging.level": "error",
                "kafka.guaranteed.conf": {"message.timeout.ms": 500, "request.timeout.ms": 300},
                **kafka.settings(broker)}
    acknowledged, spooled = set(), 0.0
    for number in range(rounds):
        ids, of_spool = one_round(number, folder, settings, stream, rate, broker_pid, chance)
        acknowledged.update(ids)
        spooled += of_spool
        if (number + 1) % 10 == 0 or number + 1 == rounds:
            print(f"{number + 1} rounds: {len(acknowledged)} answered 201, of which {spooled:.0f} on the spool",
                  flush=True)
    look_at_spool(folder, acknowledged, broker, stream)
    with Daemon(ROOT / "config/demo.yaml", folder, settings) as daemon:
        eventually("an empty spool", lambda: metric(daemon, "sluice_spool_records") == 0, REPLAY_SECONDS)
        perhaps = metric(daemon, "sluice_spool_possible_duplicates_total")
        damaged = metric(daemon, "sluice_spool_damaged_total") + metric(daemon, "sluice_spool_set_aside_total")
        code = daemon.stop()
    found = [json.loads(value)["meta"]["id"] for _, _, value in kafka.consume(broker, f"local.{stream}").values()]
    lost = acknowledged - set(found)
    print(f"{len(acknowledged)} answered 201, {len(lost)} of them lost, {len(found) - len(set(found))} twice in the topic, "
          f"{perhaps:.0f} possible duplicates in the last life, seed {seed}", flush=True)
    check(not lost, f"{len(lost)} events were answered 201 and are not in the topic, such as {sorted(lost)[:3]}")
    check(code == 0, f"exit {code} with an empty spool")
    check(damaged == 0, "a part of the spool was set aside")
    check(rounds < 2 or spooled > 0, "no answer rested on the spool: the test has tested nothing")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--rate", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    return run(lambda folder: all_rounds(folder, args.rounds, args.rate, args.seed))


if __name__ == "__main__":
    sys.exit(main())
