#!/usr/bin/env python3
"""Canary events to a real Kafka: a stream for each schema of the real repository, two datacenters, what arrives.

Every stream that wants canary events and has a destination must be answered 201 in both, and its topics hold the
event with meta.domain "canary". A datacenter that is down, a schema that is missing and a stream without a
destination are told apart, by exit code and by line.
"""
import json
import os
import subprocess
import sys

import kafka
from daemon import BINARY, ROOT, SHARED, Daemon, check, need_shared, run
from streams_commands import SCHEMAS, VERSION, Schemas


def titles():
    """Title -> newest schema, for all that have an example of an event; fragments are parts of other schemas."""
    schemas, found = Schemas(), {}
    for path in sorted(SCHEMAS.rglob("*.yaml")):
        title = path.parent.relative_to(SCHEMAS).as_posix()
        if VERSION.match(path.name) and title not in found and not title.startswith("fragment/"):
            schema = schemas.newest(title)
            if schema.get("title") == title and schema.get("examples"):
                found[title] = schema
    return found


def canary(config, *words):
    done = subprocess.run([str(BINARY), "streams", "canary", "--config", str(config), "--json", *words], cwd=ROOT,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
    check(done.returncode in (0, 1), f"exit {done.returncode}: {done.stderr}")
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def posted(rows, streams):
    got = {row["stream"]: row for row in rows}
    check(set(got) == {name for name, settings in streams.items() if settings["canary_events_enabled"]}, f"{set(got)}")
    for name, row in got.items():
        eligible = "destination_event_service" in streams[name]
        check(row["outcome"] == ("posted" if eligible else "skipped"), f"{row}")
        check([(post["where"], post["status"]) for post in row["posts"]] ==
              ([("eqiad", 201), ("codfw", 201)] if eligible else []), f"{row}")
    return [name for name, row in got.items() if row["outcome"] == "posted"]


def everything(broker, topics):
    """Topic -> events, of all records that are there; one consumer for all, since each costs seconds."""
    done = subprocess.run(["kcat", "-G", f"canary-{os.getpid()}", "-q", "-e", "-J", "-b", broker, "-X",
                           "auto.offset.reset=earliest", "-X", "enable.auto.commit=false", *topics],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    check(done.returncode == 0, f"kcat: {done.stderr.decode()}")
    found = {}
    for line in done.stdout.splitlines():
        record = json.loads(line)
        found.setdefault(record["topic"], []).append(json.loads(record["payload"]))
    return found


def arrived(broker, names, schemas, streams):
    """In each topic of each stream only events that are the newest schema's first example, known by their domain."""
    wanted = {f"{dc}.{name}": name for name in names for dc in ("eqiad", "codfw")}
    found = everything(broker, wanted)
    check(set(found) == set(wanted), f"no events in {set(wanted) - set(found)}")
    for topic, event in ((topic, event) for topic, events in found.items() for event in events):
        title = streams[wanted[topic]]["schema_title"]
        check(event["meta"]["domain"] == "canary", f"{topic}: {event['meta']}")
        check(event["meta"]["stream"] == wanted[topic], f"{topic}: {event['meta']}")
        check(event["$schema"].startswith(f"/{title}/"), f"{topic}: {event['$schema']}")
        missing = set(schemas[title]["examples"][0]) - set(event)
        check(not missing, f"{topic}: {missing} is missing")


def driver(folder):
    schemas = titles()
    check(len(schemas) > 30, f"only {len(schemas)} titles found")
    broker = kafka.address()
    own = f"canary{os.getpid()}."  # topics that no earlier run has written to
    streams = {own + title.replace("/", "."): {
        "schema_title": title, "destination_event_service": "main", "canary_events_enabled": True} for title in schemas}
    first = next(iter(schemas))
    streams[own + "off"] = {"schema_title": first, "destination_event_service": "main", "canary_events_enabled": False}
    streams[own + "nowhere"] = {"schema_title": first, "canary_events_enabled": True}
    (folder / "streams.json").write_text(json.dumps({"streams": streams}))
    base = {"schema_base_uris": [str(SCHEMAS)], "stream_config_uri": str(folder / "streams.json"),
            "stream_config_object_path": "streams", "error_stream": "", **kafka.settings(broker)}
    config = folder / "canary.yaml"
    with Daemon("config/demo.yaml", folder / "e", {**base, "topic_prefix": "eqiad.", "test_events": []}) as eqiad, \
            Daemon("config/demo.yaml", folder / "c", {**base, "topic_prefix": "codfw.", "test_events": []}) as codfw:
        services = {f"main-{name}": f"http://127.0.0.1:{daemon.port}/v1/events"
                    for name, daemon in (("eqiad", eqiad), ("codfw", codfw))}
        settings = {**base, "canary.datacenters": ["eqiad", "codfw"], "canary.services": services}
        config.write_text("".join(f"{key}: {json.dumps(value)}\n" for key, value in settings.items()))
        # On a busy machine the cluster is slow to make 70 topics: then the timer's next round is the good one.
        for _ in range(4):
            code, rows = canary(config)
            if code == 0 or not all("503" in post["error"] or "timed out" in post["error"] for row in rows
                                    for post in row["posts"] if "error" in post):
                break
        names = posted(rows, streams)
        check(code == 0, f"exit {code}")
        arrived(broker, names, schemas, streams)
        code, rows = canary(config, "--stream", names[0], "--stream", "no.such", "--stream", own + "off")
        check(code == 1 and [row["outcome"] for row in rows] == ["posted", "failed", "failed"], f"{code} {rows}")
        code, rows = canary(config, "--stream", names[0], "--url", services["main-codfw"])
        check(code == 0 and [post["status"] for post in rows[0]["posts"]] == [201], f"{code} {rows}")
        check(codfw.stop() == 0, "exit")
        code, rows = canary(config, "--stream", names[0])
        check(code == 1 and rows[0]["posts"][0]["status"] == 201 and "connect" in rows[0]["posts"][1]["error"],
              f"one datacenter down: {code} {rows}")
        code, rows = canary(config, "--set", "canary.datacenters=[eqiad, ulsfo]", "--stream", names[0])
        check(code == 1 and rows[0]["posts"][1]["error"] == "canary.services has no main-ulsfo", f"{code} {rows}")
        check(eqiad.stop() == 0, "exit")
    print(f"{len(names)} streams, each 201 in two datacenters and found in both topics")


if __name__ == "__main__":
    need_shared("data/schemas-primary")
    sys.exit(run(driver))
