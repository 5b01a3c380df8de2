#!/usr/bin/env python3
"""`sluice streams`: the outputs on a sample are those kept in golden/; of a production configuration every finding is true.

With `--update` the kept outputs are written anew: read the difference before you commit it.
"""
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

from daemon import BINARY, ROOT, SHARED, check, run

GOLDEN = Path(__file__).resolve().parent / "golden"
PRODUCTION = SHARED / "data/streams/production.json"
SCHEMAS = (SHARED / "data/schemas-primary/jsonschema").resolve()
SAMPLE = ["--set", "schema_base_uris=[config/schemas]", "--set", "stream_config_uri=tests/e2e/golden/streams.yaml",
          "--set", "topic_prefix=eqiad.", "--set", "output=files"]
REAL = ["--set", f"schema_base_uris=[{SCHEMAS}]", "--set", f"stream_config_uri={PRODUCTION}", "--set",
        "stream_config_object_path=streams", "--set", "topic_prefix=eqiad.", "--set", "output=files"]
NAMES = ["library.loan", "library.branch.north.loan", "page.view", "eventlogging_PageView", "missing", "untitled", "nobody"]
VERSION = re.compile(r"^(\d+)\.(\d+)\.(\d+)\.yaml$")


def sluice(*words):
    done = subprocess.run([str(BINARY), "streams", *words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=120)
    check(done.returncode in (0, 1), f"{words}: exit {done.returncode}: {done.stderr}")
    return done.returncode, done.stdout


def kept(name, text):
    path = GOLDEN / name
    if "--update" in sys.argv:
        path.write_text(text)
    check(path.exists() and path.read_text() == text, f"{name} differs from the kept one:\n{text}")


def sample():
    code, out = sluice("check", *SAMPLE)
    check(code == 1, f"check: exit {code}")
    kept("check.txt", out.replace(str(ROOT) + "/", ""))
    _, programs = sluice("check", "--json", *SAMPLE)
    report = json.loads(programs)
    check(len(report["findings"]) == report["errors"] + report["warnings"] + report["notes"], f"{report}")
    code, out = sluice("resolve", *NAMES, *SAMPLE)
    check(code == 1, f"resolve: exit {code}")
    kept("resolve.txt", out.replace(str(ROOT) + "/", ""))
    code, out = sluice("resolve", NAMES[1], *SAMPLE, "--json")
    check(code == 0 and json.loads(out)["topic"] == "eqiad.library.branch.north.loan", f"resolve: {code} {out}")
    code, out = sluice("list", *SAMPLE, "--constraints", "schema_title=page/view")
    check(code == 0 and [line.split()[0] for line in out.splitlines()] == ["page.view", "eventlogging_PageView"], out)
    code, out = sluice("show", "page.view", *SAMPLE, "--json")
    check(code == 0 and json.loads(out)["page.view"]["topics"] == ["eqiad.page-view"], out)
    code, _ = sluice("show", "nobody", *SAMPLE)
    check(code == 1, f"show of an unknown stream: exit {code}")


def differences(folder):
    (folder / "a.yaml").write_text("a: {x: {y: 1, z: 2}}\nb: {}\n/^c/: {}\n/^d/: {}\n")
    (folder / "b.json").write_text(json.dumps(
        {"streams": {"a": {"x": {"y": 1, "z": 3}, "w": True}, "/^d/": {}, "/^c/": {}, "e": {}}}))
    code, out = sluice("diff", str(folder / "a.yaml"), str(folder / "b.json"), "--json")
    want = {"removed": ["b"], "added": ["e"], "regex_order": True,
            "changed": {"a": [{"setting": "x.z", "before": 2, "after": 3}, {"setting": "w", "after": True}]}}
    check(code == 1 and json.loads(out) == want, f"diff: {code} {out}")
    code, out = sluice("diff", str(folder / "a.yaml"), str(folder / "b.json"))
    check(code == 1 and "    x.z: 2 -> 3\n" in out and "- b\n+ e\n" in out, f"diff: {code} {out}")
    code, out = sluice("diff", str(folder / "a.yaml"), str(folder / "a.yaml"))
    check((code, out) == (0, ""), f"diff of the same: {code} {out}")


class Schemas:
    """The newest schema of a title, found and read without any code of the daemon."""

    def __init__(self):
        self.known = {}

    def newest(self, title):
        if title not in self.known:
            folder = SCHEMAS / title
            versions = []
            if folder.is_dir():
                found = (VERSION.match(path.name) for path in folder.iterdir())
                versions = sorted((tuple(map(int, match.groups())), match.group()) for match in found if match)
            self.known[title] = self.read(folder / versions[-1][1]) if versions else None
        return self.known[title]

    @staticmethod
    def read(path):
        import yaml
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        return yaml.load(path.read_text(encoding="utf-8"), loader)

    @staticmethod
    def declares(schema, path):
        for step in path.split("."):
            schema = (schema.get("properties") or {}).get(step)
            if schema is None:
                return False
        return True

    @staticmethod
    def requires(schema, path):
        for step in path.split("."):
            if step not in schema.get("required", []):
                return False
            schema = (schema.get("properties") or {}).get(step, {})
        return True


def topic_of(key):
    return key if key.startswith("eventlogging_") else "eqiad." + key


def table_of(key):
    key = key.removeprefix("eventlogging_")
    return re.sub(r"^[^A-Za-z]", "_", re.sub(r"[^A-Za-z0-9_]", "_", key)).lower()


def expected(streams):
    """{kind: [streams]} of all that can be worked out again from the configuration and the schemas alone."""
    schemas, found, tables = Schemas(), {}, {}

    def report(kind, key):
        found.setdefault(kind, []).append(key)

    for key, settings in streams.items():
        regex = key.startswith("/")
        schema = schemas.newest(settings["schema_title"])
        canary = settings.get("canary_events_enabled") is True
        if schema is None:
            report("schema_not_found", key)
        else:
            if schema.get("title") != settings["schema_title"]:
                report("schema_title_differs", key)
            for path in settings.get("message_key_fields", {}).values():
                if not schemas.declares(schema, path):
                    report("key_field_missing", key)
                elif not schemas.requires(schema, path):
                    report("key_field_optional", key)
            if canary and not schema.get("examples"):
                report("canary_without_example", key)
        if canary and "destination_event_service" not in settings:
            report("canary_without_destination", key)
        gate = settings["producers"]["eventgate"]
        if gate.get("use_edge_uniques") or settings["producers"].get("test_kitchen", {}).get("is_test_kitchen_stream"):
            report("not_supported", key)
        if regex:
            continue
        if topic_of(key) not in settings["topics"]:
            report("topic_differs", key)
        table = table_of(key)
        if tables.setdefault(table, key) != key:
            report("table_collision", key)
        for other in streams:
            if other.startswith("/") and re.search(other[1:-1], key):
                report("name_within_regex", key)
    return found


def production():
    streams = json.loads(PRODUCTION.read_text())["streams"]
    code, out = sluice("check", "--json", *REAL)
    report = json.loads(out)
    found = {}
    for finding in report["findings"]:
        found.setdefault(finding["kind"], []).append(finding["stream"])
    want = expected(streams)
    for kind in sorted({*want, *found}):
        check(found.get(kind) == want.get(kind), f"{kind}: found {found.get(kind)}, true are {want.get(kind)}")
    check(code == (1 if report["errors"] else 0), f"check: exit {code}")
    _, lines = sluice("resolve", "--json", *REAL, *(key for key in streams if not key.startswith("/")),
                      "mediawiki.job.foo", "swift.x.upload-complete")
    rows = [json.loads(line) for line in lines.splitlines()]
    for row in rows:
        settings = streams[row["entry"]]
        check(row["topic"] == topic_of(row["stream"]), f"{row}")
        check(row["accepted"] == (row["entry"] not in want["schema_not_found"]), f"{row}")
        check([field["from"] for field in row["message_key"]] == [*settings.get("message_key_fields", {}).values()],
              f"{row}")
    # Of the outputs only what tells a change: they are made of data that is not part of the project.
    digest = hashlib.sha256(lines.replace(str(SCHEMAS), "").encode()).hexdigest()
    summary = {"findings": {kind: len(keys) for kind, keys in sorted(found.items())},
               "check": hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest(),
               "resolved": len(rows), "accepted": sum(row["accepted"] for row in rows), "resolve": digest}
    kept("production.json", json.dumps(summary, indent=1) + "\n")
    print(f"{len(report['findings'])} findings on {len(streams)} production streams, each of them true, none missing")


def driver(folder):
    sample()
    differences(folder)
    if PRODUCTION.exists() and SCHEMAS.exists():
        production()
    else:
        print("SKIPPED: the production configuration is not in the shared data folder")


if __name__ == "__main__":
    sys.exit(run(driver))
