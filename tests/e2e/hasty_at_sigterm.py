#!/usr/bin/env python3
"""Hasty arrays that arrive around SIGTERM while no Kafka can be reached: each that was answered 202 is in the spool, none
is lost, and the daemon ends by 0 and says so. Without a Kafka.

hasty_at_sigterm.py [--rounds N]
"""
import argparse
import http.client
import json
import subprocess
import sys
import threading
import time
import uuid

from daemon import BINARY, ROOT, Daemon, check, run

ARRAY = 50
CONNECTIONS = 4
SETTINGS = {"output": "kafka", "kafka.conf": {"metadata.broker.list": "127.0.0.1:1"}, "logging.level": "info",
            "kafka.flush_timeout": "300ms", "shutdown.deadline": "3s"}

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--rounds", type=int, default=4)
args = parser.parse_args()


class Load:
    """Arrays without a pause until the daemon takes no more; the ids of those answered 202."""

    def __init__(self, daemon):
        self.address, self.accepted = (daemon.host, daemon.port), []
        self.threads = [threading.Thread(target=self._run) for _ in range(CONNECTIONS)]
        for thread in self.threads:
            thread.start()

    def _run(self):
        connection = http.client.HTTPConnection(*self.address, timeout=30)
        while True:
            ids = [str(uuid.uuid4()) for _ in range(ARRAY)]
            # Every other array has an event that is refused, which becomes an error event.
            events = [{"$schema": "/library/loan/1.1.0", "meta": {"stream": "library.loan", "id": one}, "action": "lend",
                       "book": {"isbn": "9780141439518"}, "reader_id": "r-1"} for one in ids]
            if len(self.accepted) % 2:
                events.append({"$schema": "/library/loan/1.1.0", "meta": {"stream": "library.loan"}, "action": "burn"})
            try:
                connection.request("POST", "/v1/events?hasty=true", json.dumps(events),
                                   {"Content-Type": "application/json"})
                status = connection.getresponse()
                status.read()
            except (OSError, http.client.HTTPException):
                return
            if status.status != 202:
                return
            self.accepted.append(ids)

    def join(self):
        for thread in self.threads:
            thread.join()
        return [one for ids in self.accepted for one in ids]


def spooled_ids(folder):
    done = subprocess.run([str(BINARY), "spool", "export", "--dir", str(folder / "spool")], capture_output=True,
                          check=True, cwd=ROOT)
    records = [json.loads(line) for line in done.stdout.splitlines()]
    return [json.loads(record["value"])["meta"]["id"] for record in records]


def one_round(folder):
    folder.mkdir()
    with Daemon("config/demo.yaml", folder, SETTINGS) as daemon:
        load = Load(daemon)
        time.sleep(0.3)
        code = daemon.stop()
        promised = load.join()
        stopped = next(json.loads(line) for line in reversed(daemon.lines) if '"kind":"stopped"' in line)
    kept = spooled_ids(folder)
    print(f"{len(promised)} events answered 202, {len(kept)} records in the spool; exit {code}, lost {stopped['lost']}, "
          f"spooled {stopped['spooled']}")
    check(promised, "no array was accepted")
    missing = set(promised) - set(kept)
    check(not missing, f"{len(missing)} events were answered 202 and are not in the spool, such as {sorted(missing)[:3]}")
    check(code == 0 and stopped["lost"] == 0, f"exit {code}, lost {stopped['lost']}, though nothing is")
    check(stopped["spooled"] == len(kept), f"says that {stopped['spooled']} are spooled, there are {len(kept)}")
    check(len(kept) > len(promised), "error events are not in the spool")


def drive(folder):
    for number in range(args.rounds):
        one_round(folder / str(number))


sys.exit(run(drive))
