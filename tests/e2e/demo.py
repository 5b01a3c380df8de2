#!/usr/bin/env python3
"""scripts/run as a stranger would use it: the printed commands work as printed, the event lies in its topic."""
import json
import re
import signal
import subprocess
import sys

from daemon import READY, ROOT, Process, check, eventually, run


def shell(command):
    done = subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, text=True, timeout=30, check=True)
    head, _, body = done.stdout.partition("\n\n")
    return int(head.split()[1]), body


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def driver(folder):
    output = (folder / "stdout").open("w+")
    settings = [x for s in ("port=0", "admin.port=0", f"data_dir={folder}") for x in ("--set", s)]
    with Process([ROOT / "scripts/run", *settings], stdout=output, stdin=subprocess.DEVNULL) as demo:
        demo.wait_for_line(READY, 600)

        def printed():
            return re.findall(r"^curl .*$", (folder / "stdout").read_text(), re.M)
        commands = eventually("two curl commands", lambda: len(printed()) == 2 and printed())

        status, _ = shell(commands[0])
        check(status == 201, f"the valid event was answered {status}")
        events = lines_of(folder / "topics/local.library.loan.ndjson")
        check(len(events) == 1, f"{len(events)} events in the topic after one 201")
        meta = events[0]["meta"]
        check(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", meta.get("dt", "")), f"meta.dt: {meta}")
        check(re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", meta.get("id", "")), f"meta.id: {meta}")
        check(events[0]["fee_cents"] == 0, "the schema's default was not put in")

        status, body = shell(commands[1])
        check(status == 400, f"the invalid event was answered {status}")
        invalid = json.loads(body)["invalid"]
        keywords = {error["keyword"] for error in invalid[0]["context"]["errors"]}
        check(keywords == {"enum", "pattern", "type"}, f"keywords of the errors: {keywords}")
        check(len(lines_of(folder / "topics/local.library.loan.ndjson")) == 1, "a refused event is in the topic")
        errors = eventually("the error event",
                            lambda: lines_of(folder / "topics/local.sluice.error.validation.ndjson"))
        check(errors[0]["errored_stream_name"] == "library.loan", f"error event {errors[0]}")

        demo.process.send_signal(signal.SIGINT)
        code = demo.wait(30)
        check(code == 0, f"exit {code} after Ctrl-C")
    print("both printed commands answer as printed, the event is in its topic, Ctrl-C ends it with 0")


if __name__ == "__main__":
    sys.exit(run(driver))
