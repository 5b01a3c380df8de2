#!/usr/bin/env python3
"""The log from outside: logs.py

Nothing personal gets into it by itself, lines about requests have their ids, the level changes while it runs, and it is
text where a person reads it.
"""
import json
import os
import pty
import re
import signal
import subprocess
import sys

from daemon import BINARY, ROOT, Daemon, check, eventually, run

MARK = "Mallory.M4RK@example.org"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PERSONAL = {
    "User-Agent": f"Browser {MARK}", "Cookie": f"session={MARK}", "Referer": f"https://wiki.example/{MARK}",
    "X-Client-IP": "203.0.113.77", "X-Forwarded-For": "203.0.113.77, 203.0.113.78", "Authorization": f"Bearer {MARK}",
    "From": MARK, "X-Request-Id": f"id of {MARK}", "Accept-Language": MARK,
}


def event(**fields):
    return {"$schema": "/library/loan/1.1.0", "action": "lend", "book": {"isbn": "9780141439518"},
            "reader_id": MARK, "meta": {"stream": "library.loan"}, **fields}


def send_personal(daemon):
    """Requests that succeed and that fail in every way, each with marks wherever a client can put any."""
    json_type = {"Content-Type": "application/json", **PERSONAL}
    good, bodies = json.dumps(event()), [
        event(action=MARK), event(book=MARK), event(book={MARK: 1}), event(**{MARK: 1}),
        event(meta={"stream": MARK}), event(meta={"stream": "library.loan", "id": MARK}, action=1), event(meta=MARK),
        {**event(), "$schema": f"/{MARK}/1.0.0"}, {**event(), "$schema": {"a": MARK}}, {**event(), "$schema": MARK},
        event(action=[MARK], http={"client_ip": "203.0.113.77"}), {MARK: MARK}, MARK,
    ]
    for path in ("/v1/events", "/v1/events?hasty=true", f"/v1/events?user={MARK}"):
        daemon.request("POST", path, good, json_type)
        for body in bodies:
            daemon.request("POST", path, json.dumps(body), json_type)
        daemon.request("POST", path, json.dumps(bodies), json_type)
        daemon.request("POST", path, '{"a": "' + MARK, json_type)
        daemon.request("POST", path, MARK, {**PERSONAL, "Content-Type": f"text/{MARK}"})
        daemon.request("POST", path, MARK, {**json_type, "Content-Encoding": MARK})
        daemon.request("POST", path, MARK, {**json_type, "Content-Encoding": "gzip"})
        try:
            daemon.request("POST", path, "x" * (11 << 20), json_type)
        except OSError:
            pass  # the answer came before all of it was sent
    for method, path in (("GET", f"/{MARK}"), ("GET", f"/v1/stream-configs/{MARK}"), ("PUT", f"/v1/events/{MARK}"),
                         ("GET", f"/w/api.php?action=streamconfigs&format=json&streams={MARK}")):
        daemon.request(method, path, headers=PERSONAL)
    for path in (f"/{MARK}", f"/-/refused?stream={MARK}", f"/-/refused?limit={MARK}", f"/-/log-level?level={MARK}",
                 f"/metrics?{MARK}", f"/?{MARK}"):
        daemon.request("GET", path, headers=PERSONAL, admin=True)
        daemon.request("POST", path, MARK, PERSONAL, admin=True)


def check_nothing_personal(daemon):
    send_personal(daemon)
    with_ids = {"X-Request-Id": "request-9", "traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}
    daemon.post(json.dumps(event(action="burn")), headers=with_ids)
    daemon.post("x", content_type="image/png", headers=with_ids)
    lines = eventually("lines of the last requests", lambda: [
        json.loads(line) for line in daemon.lines if '"request-9"' in line and '"trace_id"' in line][:2])
    eventually("both lines", lambda: sum('"request-9"' in line for line in daemon.lines) >= 2)
    for line in daemon.lines:
        check("M4RK" not in line and "m4rk" not in line.lower(), f"a mark in the log: {line}")
        check("203.0.113" not in line, f"a client's address in the log: {line}")
    check(lines[0]["trace_id"] == TRACE and lines[0]["stream"] == "library.loan", f"ids of a line: {lines[0]}")
    kinds = {json.loads(line)["kind"] for line in daemon.lines if line.startswith("{")}
    for kind in ("validation_failed", "schema_load_failed", "request_refused"):
        check(kind in kinds, f"the log should have a line {kind}; it has {kinds}")


def log_level(daemon, *words):
    done = subprocess.run([str(BINARY), "log-level", *words, "--admin", f"http://127.0.0.1:{daemon.admin[1]}"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=30)
    return done.returncode, done.stdout + done.stderr


def check_level(daemon):
    def lines(kind):
        return sum(f'"kind":"{kind}"' in line for line in daemon.lines)

    check(log_level(daemon) == (0, '{"level":"info"}\n'), f"the level at first: {log_level(daemon)}")
    check(log_level(daemon, "error")[0] == 0, "a new level")
    before = lines("validation_failed")
    daemon.post(json.dumps(event(action="burn")))
    check(log_level(daemon, "debug", "--for", "1s")[1].startswith('{"level":"debug","seconds_left":'), "for a while")
    daemon.post(json.dumps(event(action="burn")))
    line = json.loads(eventually("a line at the level debug", lambda: [
        each for each in daemon.lines if '"validation_failed"' in each][before:])[0])
    check("action" in line["first"], f"at the level debug, why it failed: {line}")
    eventually("the level goes back", lambda: log_level(daemon)[1] == '{"level":"error"}\n')
    code, text = log_level(daemon, "loud")
    check(code == 1 and "trace, debug, info" in text, f"a level that is none: {code} {text}")
    page = {"Origin": "http://page.example", "Content-Type": "application/json"}
    answer = daemon.request("POST", "/-/log-level?level=trace", "", page, admin=True)
    check(answer[0] == 403, f"a page of another site must not change it: {answer}")
    check(log_level(daemon)[1] == '{"level":"error"}\n', "and did not")


def check_marks_are_found(daemon):
    """At the level debug messages may quote clients: if no mark showed there, the check above would be blind."""
    check(log_level(daemon, "debug")[0] == 0, "the level debug")
    before = len(daemon.lines)
    send_personal(daemon)
    eventually("marks at the level debug", lambda: any("M4RK" in line for line in daemon.lines[before:]))


def check_terminal(folder):
    ours, theirs = pty.openpty()
    process = subprocess.Popen([str(BINARY), "serve", "--config", "config/demo.yaml", "--set", "port=0", "--set",
                                "admin.port=0", "--set", f"data_dir={folder}"], cwd=ROOT, stderr=theirs)
    os.close(theirs)
    text = b""
    while b"Ready for events" not in text:
        text += os.read(ours, 65536)
    process.send_signal(signal.SIGTERM)
    check(process.wait(20) == 0, "it stops well")
    os.close(ours)
    check(re.search(rb"Z INFO  Ready for events\.  kind=ready events=127\.0\.0\.1:", text), f"text: {text}")
    check(b'{"time"' not in text, f"no JSON for a person: {text}")


def driver(folder):
    with Daemon(ROOT / "config/demo.yaml", folder / "data", {"logging.per_kind_per_second": 100000}) as daemon:
        check_nothing_personal(daemon)
        check_level(daemon)
        check_marks_are_found(daemon)
        check(daemon.stop() == 0, "it stops well")
    check_terminal(folder / "terminal")
    print("the log: nothing personal, ids of requests, a level that changes, text for people")


if __name__ == "__main__":
    sys.exit(run(driver))
