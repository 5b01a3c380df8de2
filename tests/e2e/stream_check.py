#!/usr/bin/env python3
"""Which schema may go to which stream: the texts of the original, from a stream configuration file."""
import json
import sys

from daemon import ROOT, Daemon, check, run

STREAMS = """
library.loan: {schema_title: library/loan}
page.view: {schema_title: page/view}
no.title: {note: no schema_title here}
no.settings: null
/^job\\..+/: {schema_title: library/loan}
"""

LOAN = "/library/loan/1.1.0"


def loan(stream):
    return {"$schema": LOAN, "meta": {"stream": stream, "id": "e-1"}, "action": "lend",
            "book": {"isbn": "9780141439518"}, "reader_id": "r-1"}


def driver(folder):
    (folder / "streams.yaml").write_text(STREAMS)
    settings = {"schema_base_uris": [str(ROOT / "config/schemas")], "error_stream": "",
                "stream_config_uri": str(folder / "streams.yaml")}
    with Daemon(ROOT / "config/demo.yaml", folder, settings) as daemon:
        for stream in ("library.loan", "job.night"):
            status, reason, body = daemon.post(json.dumps(loan(stream)))
            check(status == 201, f"{stream}: {status} {reason} {body}")
        refused = {
            "nobody.knows": "nobody.knows is not configured.",
            "page.view": "schema title must be page/view.",
            "no.title": "no.title does not have a schema_title setting.",
            "no.settings": "no.settings is configured but does not have any settings.",
        }
        for stream, why in refused.items():
            status, _, body = daemon.post(json.dumps(loan(stream)))
            check(status == 400, f"{stream}: {status}")
            answer = json.loads(body)
            check(answer["invalid"] == [] and len(answer["error"]) == 1, f"{stream}: {answer}")
            want = f"event e-1 of schema at {LOAN} destined to stream {stream} is not allowed in stream; {why}"
            got = answer["error"][0]["context"]["message"]
            check(got == want, f"{stream}: {got!r}, want {want!r}")
            check(not daemon.topic_lines(f"local.{stream}"), f"{stream}: a refused event is in the topic")
        mixed = json.dumps([loan("library.loan"), loan("nobody.knows")])
        status, reason, body = daemon.post(mixed)
        check(status == 207, f"one good, one refused: {status} {reason}")
        check(len(daemon.topic_lines("local.library.loan")) == 2, "the good one of a mixed batch is not in its topic")
        code = daemon.stop()
        check(code == 0, f"exit {code}")
    print(f"{len(refused)} refusals in the original's words")


if __name__ == "__main__":
    sys.exit(run(driver))
