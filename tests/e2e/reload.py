#!/usr/bin/env python3
"""Reloads under load: good and bad configurations at random, by SIGHUP, POST /-/reload and `sluice reload`. No event
fails, and what is in force is always what the last good file says, but for the keys that need a restart.

reload.py [--rounds N] [--seed N]
"""
import argparse
import http.client
import json
import random
import signal
import subprocess
import sys
import threading
import time

from daemon import BINARY, ROOT, Daemon, check, eventually, run

CLIENTS = 4
STREAM = "library.loan"

# Keys that reload, with values that keep the load's events good.
LIVE = {
    "cors": ["*", "https://example.org", False],
    "csp": ["default-src 'none'", False],
    "compression_level": [0, 1, 9],
    "max_body_size": ["100kb", "1mb", "10mb"],
    "home_page": ["", "https://example.org/home"],
    "trusted_proxies": [[], ["10.0.0.0/8"], ["127.0.0.1/32", "10.0.0.0/8"]],
    "event_paths": [["/v1/events"], ["/v1/events", "/v2/events"]],
    "test_events": [[], [{"$schema": "/library/loan/1.0.0"}]],
    "limits.max_in_flight_requests": [1000, 4096],
    "limits.max_events": [10, 1000],
    "limits.memory_bytes": ["64mb", "256mb"],
    "limits.max_header_bytes": ["8kb", "16kb"],
    "limits.idle_timeout": ["60s", "620s"],
    "limits.body_timeout": ["5s", "30s"],
    "limits.delivery_timeout": ["10s", "20s"],
    "limits.max_depth": [50, 1000],
    "enrichment.meta_dt": ["always", "missing", "never"],
    "enrichment.client_ip": [True, False],
    "enrichment.request_headers": [{}, {"meta.request_id": "x-request-id"}],
    "error_stream": ["", "sluice.error.validation"],
    "logging.per_kind_per_second": [5, 50],
    "logging.level": ["info", "warn"],
    "shutdown.deadline": ["10s", "20s"],
    "stream_config_default_settings": [{}, {"consumers": {}}],
    "schema_negative_ttl": ["1s", "30s"],
    "schema_max_unknown_per_minute": [100, 600],
    "canary.datacenters": [[], ["a", "b"]],
}
# Keys that differ and are only named.
RESTART = {
    "user_agent": ["sluice", "other"],
    "admin.max_connections": [512, 1024],
    "kafka.conf": [{}, {"client.id": "one"}, {"client.id": "two"}],
}


class Files:
    """The configuration file, written whole at one moment."""

    def __init__(self, folder, dice):
        self.path, self.dice, self.folder = folder / "sluice.yaml", dice, folder
        self.streams = [folder / "streams-a.yaml", folder / "streams-b.yaml"]
        for number, path in enumerate(self.streams):
            path.write_text(json.dumps({STREAM: {"schema_title": "library/loan"},
                                        "sluice.error.validation": {"schema_title": "error"},
                                        f"more.{number}": {"schema_title": "library/loan"}}))

    def base(self):
        return {"schema_base_uris": [str(ROOT / "config/schemas")], "output": "files", "topic_prefix": "local.",
                "stream_config_uri": str(self.streams[0])}

    def write(self, settings):
        text = settings if isinstance(settings, str) else json.dumps(settings, indent=1)
        draft = self.path.with_suffix(".new")
        draft.write_text(text)
        draft.rename(self.path)

    def good(self):
        settings = self.base()
        settings["stream_config_uri"] = str(self.dice.choice(self.streams))
        for key in self.dice.sample(sorted(LIVE), self.dice.randint(1, 8)):
            settings[key] = self.dice.choice(LIVE[key])
        if self.dice.random() < 0.4:
            key = self.dice.choice(sorted(RESTART))
            settings[key] = self.dice.choice(RESTART[key])
        return settings

    def bad(self):
        broken = self.folder / "broken.yaml"
        broken.write_text("library.loan: [not, a, map]\n")
        return self.dice.choice([
            "schema_base_uris: [unclosed\n",
            "",
            {**self.good(), "colour": "red"},
            {**self.good(), "limits.max_events": -1, "port": 70000},
            {**self.good(), "trusted_proxies": ["10.0.0.0/99"]},
            {**self.good(), "stream_config_uri": str(self.folder / "none.yaml")},
            {**self.good(), "stream_config_uri": str(broken), "cors": False},
            {**self.good(), "stream_config": {"a": {"schema_title": 7}, "b": 3}},
            {**self.good(), "files.fsync": "sometimes"},
        ])


class Load(threading.Thread):
    """One client on one connection that posts events until it is told to stop."""

    def __init__(self, daemon, name, going):
        super().__init__(daemon=True)
        self.server, self.label, self.going = daemon, name, going
        self.acknowledged, self.failures = [], []

    def run(self):
        connection = http.client.HTTPConnection(self.server.host, self.server.port, timeout=30)
        while self.going.is_set():
            event_id = f"{self.label}-{len(self.acknowledged)}"
            body = json.dumps({"$schema": "/library/loan/1.0.0", "meta": {"stream": STREAM, "id": event_id,
                                                                          "dt": "2026-01-01T00:00:00Z"},
                               "action": "lend", "book": {"isbn": "9780141439518"}, "reader_id": "r-1"})
            try:
                connection.request("POST", "/v1/events", body, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                text = answer.read()
            except OSError as error:
                self.failures.append(repr(error))
                return
            if answer.status != 201:
                self.failures.append(f"{answer.status} {answer.reason} {text[:200]}")
                return
            self.acknowledged.append(event_id)
            time.sleep(0.001)


def parse(text):
    """Keys with dots to the text of their value, of what --print and GET /-/config write."""
    keys, path = {}, []
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        depth = (len(line) - len(line.lstrip())) // 2
        name, _, value = line.strip().partition(":")
        path = path[:depth] + [name]
        if value:
            keys[".".join(path)] = value.strip()
    return keys


def printed(files, daemon):
    """What the file says, as another process reads it."""
    command = [str(BINARY), "check-config", "--print", "--config", str(files.path)]
    for key, value in daemon.overrides.items():
        command += ["--set", f"{key}={json.dumps(value)}"]
    return parse(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)


def in_force(daemon):
    status, _, body = daemon.request("GET", "/-/config", admin=True)
    check(status == 200, f"GET /-/config gave {status}")
    return parse(body.decode())


def counts(daemon):
    text = daemon.request("GET", "/metrics", admin=True)[2].decode()
    found = {}
    for line in text.splitlines():
        if line.startswith("sluice_config_reloads_total"):
            outcome = line.split('outcome="')[1].split('"')[0]
            found[outcome] = int(float(line.split()[-1]))
    return found


def reload(daemon, files, how):
    """Whether it was applied, and which keys it says need a restart (None where it does not say)."""
    if how == "post":
        answer = daemon.request_whole("POST", "/-/reload", "")
        report = answer.json()
        check((answer.status == 200) == (report["outcome"] == "applied"), f"{answer.status} for {report}")
        check((report["outcome"] == "applied") == (not report["problems"]), f"{report}")
        return report["outcome"] == "applied", set(report["needs_restart"])
    if how == "command":
        result = subprocess.run([str(BINARY), "reload", "--admin", "http://%s:%d" % daemon.admin],
                                capture_output=True, text=True, timeout=60)
        check(result.returncode in (0, 1), f"sluice reload ended with {result.returncode}: {result.stderr}")
        check((result.returncode == 1) == ("nothing was changed" in result.stderr), result.stderr)
        return result.returncode == 0, None
    before = counts(daemon)
    daemon.process.send_signal(signal.SIGHUP)
    after = eventually("the reload on SIGHUP", lambda: counts(daemon) != before and counts(daemon))
    return after["applied"] > before["applied"], None


def one_round(daemon, files, dice, start):
    is_good = dice.random() < 0.6
    files.write(files.good() if is_good else files.bad())
    before = in_force(daemon)
    how = dice.choice(["post", "command", "hup"])
    applied, needs_restart = reload(daemon, files, how)
    check(applied == is_good, f"{'refused' if is_good else 'applied'} by {how}: {files.path.read_text()}")
    now = in_force(daemon)
    if not is_good:
        check(now == before, f"a bad configuration changed { {k for k in now if now[k] != before[k]} }")
        return
    wanted = printed(files, daemon)
    differing = {key for key in wanted if now[key] != wanted[key]}
    check(differing <= set(RESTART), f"in force is something else than the file says: {differing}")
    check(needs_restart is None or needs_restart == differing, f"told {needs_restart}, not in force {differing}")
    check(all(now[key] == start[key] for key in differing), "a key that needs a restart is in force")


def driver_with(rounds, seed):
    def driver(folder):
        dice = random.Random(seed)
        files = Files(folder, dice)
        files.write(files.base())
        with Daemon(files.path, folder / "data") as daemon:
            daemon.overrides = {"port": 0, "admin.port": 0, "data_dir": str(folder / "data")}
            start = in_force(daemon)
            going = threading.Event()
            going.set()
            clients = [Load(daemon, f"c{i}", going) for i in range(CLIENTS)]
            for client in clients:
                client.start()
            for _ in range(rounds):
                one_round(daemon, files, dice, start)
                time.sleep(0.05)  # load under what is in force now
            going.clear()
            for client in clients:
                client.join(60)
            failures = [text for client in clients for text in client.failures]
            check(not failures, f"events failed: {failures[:3]}")
            told = counts(daemon)
            code = daemon.stop()
            check(code == 0, f"exit {code}")
            sent = [event_id for client in clients for event_id in client.acknowledged]
            found = [json.loads(line)["meta"]["id"] for line in daemon.topic_lines(f"local.{STREAM}")]
            check(sorted(found) == sorted(sent), f"{len(sent)} were answered 201, {len(found)} are in the topic")
        unreachable = subprocess.run([str(BINARY), "reload", "--admin", "http://%s:%d" % daemon.admin],
                                     capture_output=True, text=True, timeout=60)
        check(unreachable.returncode == 2, f"sluice reload without a daemon ended with {unreachable.returncode}")
        print(f"seed {seed}: {rounds} reloads, {told}, {len(sent)} events, each answered 201 and in the topic")
    return driver


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    return run(driver_with(args.rounds, args.seed))


if __name__ == "__main__":
    sys.exit(main())
