#!/usr/bin/env python3
"""The checks that come with the shared data, against the built daemon.

conformance.py http     82 recorded requests, with the agreed differences
conformance.py golden   2,911 recorded verdicts
conformance.py config   the original's production configuration, unmodified and with a misspelt key
"""
import subprocess
import sys

from daemon import BINARY, SHARED, Daemon, check, need_shared, run

SCHEMAS = SHARED / "data/schemas-primary/jsonschema"


def tool(*command):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True)
    print(done.stdout, end="")
    check(done.returncode == 0, f"{command[0]} found differences")
    check(" agree" in done.stdout, f"{command[0]} compared nothing")


def http(folder):
    config = SHARED / "data/config/eventgate-generic.yaml"
    settings = {"schema_base_uris": [str(SCHEMAS)], "output": "files"}
    with Daemon(config, folder, settings) as daemon:
        tool(SHARED / "tools/check-http", f"{daemon.host}:{daemon.port}")
        code = daemon.stop()
        check(code == 0, f"exit {code}")


def golden(_):
    tool(SHARED / "tools/check-golden", BINARY, SCHEMAS, SHARED / "data/golden/validation.ndjson")


def check_config(path):
    return subprocess.run([str(BINARY), "check-config", "--config", str(path)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)


def config(folder):
    original = SHARED / "data/config/eventgate-main.yaml"
    done = check_config(original)
    check(done.returncode == 0, f"exit {done.returncode}: {done.stdout}")
    for key in ("worker_heap_limit_mb", "producer.poll.interval.ms"):
        check(key in done.stdout, f"does not tell that it ignores {key}: {done.stdout}")
    misspelt = folder / "misspelt.yaml"
    misspelt.write_text(original.read_text().replace("schema_base_uris:", "schema_base_urls:"))
    done = check_config(misspelt)
    check(done.returncode == 2, f"exit {done.returncode} with schema_base_urls: {done.stdout}")
    check("schema_base_uris" in done.stdout, f"no suggestion: {done.stdout}")


PARTS = {"http": (http, ["tools/check-http", "data/golden/http.json"]),
         "golden": (golden, ["tools/check-golden", "data/golden/validation.ndjson"]),
         "config": (config, ["data/config/eventgate-main.yaml"])}

if __name__ == "__main__":
    part, needed = PARTS[sys.argv[1]]
    need_shared(*needed)
    sys.exit(run(part))
