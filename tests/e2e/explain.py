#!/usr/bin/env python3
"""`sluice explain` on a broken event of each kind: what it says is held against tests/e2e/explain/expected.

explain.py [--update] [NAME]   --update writes what it says now: read it as one who does not know JSON Schema.
"""
import argparse
import json
import re
import subprocess
import sys

from daemon import BINARY, ROOT

FOLDER = ROOT / "tests/e2e/explain"
MASKS = ((re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"), "<id>"),
         (re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"), "<time>"))


def explain(path, *options):
    command = [BINARY, "explain", "--config", FOLDER / "config.yaml", *options, path]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    text = done.stdout + done.stderr
    for pattern, mask in MASKS:
        text = pattern.sub(mask, text)
    return text.replace(f"{ROOT}/", ""), done.returncode


def check_json(path, text, code):
    """The same decisions in both forms, and the exit code of them."""
    lines, _ = explain(path, "--json")
    told = [json.loads(line) for line in lines.splitlines()]
    accepted = all(one["accepted"] for one in told)
    if code != (0 if accepted else 1):
        yield f"exit code {code}, accepted {accepted}"
    for one in told:
        for step in one["steps"]:
            if step["text"] and step["text"] not in text:
                yield f"step {step['step']} says something else as JSON: {step['text']}"
        if accepted and one["record"]["topic"] not in text:
            yield f"topic {one['record']['topic']} is in the JSON only"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", default="")
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    failures, events = [], [path for path in sorted((FOLDER / "events").glob("*.json")) if arguments.name in path.stem]
    for path in events:
        text, code = explain(path)
        expected = FOLDER / "expected" / f"{path.stem}.txt"
        shown = f"{text}exit code {code}\n"
        if arguments.update:
            expected.parent.mkdir(exist_ok=True)
            expected.write_text(shown)
        elif not expected.exists() or expected.read_text() != shown:
            failures.append(f"{path.stem}: says now\n{shown}")
        failures += [f"{path.stem}: {failure}" for failure in check_json(path, text, code)]
    print("\n".join(failures) or f"{len(events)} events are explained as expected")
    return 1 if failures or not events else 0


if __name__ == "__main__":
    sys.exit(main())
