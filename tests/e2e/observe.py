#!/usr/bin/env python3
"""What operators see of single events, from outside: observe.py

/-/refused with its masks and bounds, `sluice tap` of accepted and of refused events, what is told when a tap is too
slow, and what the routes say where they are switched off.
"""
import json
import subprocess
import sys
import time

from daemon import BINARY, ROOT, Daemon, check, eventually, run

SETTINGS = {"refused.keep": 3, "refused.mask": ["reader_id", "http.client_ip"], "tap.max_clients": 2,
            "tap.max_events_per_second": 5}


def event(n, **fields):
    return {"$schema": "/library/loan/1.1.0", "action": "lend", "book": {"isbn": "9780141439518"},
            "reader_id": f"M4RK-{n}", "meta": {"stream": "library.loan"}, **fields}


def post(daemon, *events, request_id="request-1"):
    return daemon.post(json.dumps(events), headers={"X-Request-Id": request_id})[0]


class Tap:
    """`sluice tap`, whose output is read when it has ended."""

    def __init__(self, daemon, *options):
        self.process = subprocess.Popen(
            [str(BINARY), "tap", "--stream", "library.loan", "--admin", f"http://127.0.0.1:{daemon.admin[1]}", *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def finish(self, code=0):
        out, self.err = self.process.communicate(timeout=30)
        check(self.process.returncode == code, f"tap: exit {self.process.returncode}: {self.err}")
        return [json.loads(line) for line in out.splitlines()]

    def end(self):
        self.process.terminate()
        self.process.communicate(timeout=10)


def refused(daemon, query=""):
    answer = daemon.request_whole("GET", "/-/refused" + query)
    check(answer.status == 200, f"/-/refused{query}: {answer}")
    check(b"M4RK" not in answer.body, f"a masked value is shown: {answer.body}")
    return answer.json()


def check_refused(daemon):
    check(refused(daemon)["events"] == [], "nothing is kept at the beginning")
    for n in range(5):
        check(post(daemon, event(n, action=f"burn-{n}"), request_id=f"request-{n}") == 400, "an invalid event")
    check(post(daemon, {"$schema": "/none/1.0.0", "meta": {"stream": "made.up"}, "reader_id": "M4RK"}) == 400,
          "an unknown schema")
    check(daemon.post(b'{"reader_id": "M4RK-7", ')[0] == 400, "a body that is no JSON")
    check(daemon.post(b"M4RK", content_type="text/x-m4rk")[0] in (400, 415), "a media type that is not read")
    listed = refused(daemon, "?stream=library.loan")["events"]
    check([entry["request_id"] for entry in listed] == ["request-4", "request-3", "request-2"],
          f"the newest three, newest first: {listed}")
    entry = listed[0]
    check(entry["code"] == "validation_failed" and entry["outcome"] == "refused", f"code: {entry}")
    check(entry["event"]["reader_id"] == "***" and entry["event"]["action"] == "burn-4", f"the event: {entry}")
    check(entry["schema_uri"] == "/library/loan/1.1.0" and "action" in entry["message"], f"why: {entry}")
    everything = refused(daemon, "?limit=100")
    check({each["stream"] for each in everything["streams"]} == {"library.loan", "made.up", None},
          f"streams: {everything['streams']}")
    whole = refused(daemon, "?without_stream=1")["events"]
    check(any("at byte 24" in each["message"] and each["event_bytes"] == 24 and "event" not in each for each in whole),
          f"of a body that is no JSON, its size and where: {whole}")
    check(len(refused(daemon, "?limit=1")["events"]) == 1, "limit")
    check(daemon.request_whole("GET", "/-/refused?limit=x").status == 400, "a limit that is no number")


def check_tap(daemon):
    everything, failures = Tap(daemon, "--count", "3"), Tap(daemon, "--refused", "--count", "1")
    # Both have their places when a third finds none.
    eventually("two taps are open", lambda: daemon.request_whole("HEAD", "/-/tap?stream=x").status == 503)
    post(daemon, event(1), event(2, action="burn"), event(3))
    seen = everything.finish()
    check(sorted(each["outcome"] for each in seen) == ["acknowledged", "acknowledged", "refused"], f"tap: {seen}")
    check(all(each["event"]["reader_id"] == "***" for each in seen), f"masked: {seen}")
    check(all("dt" in each["event"]["meta"] for each in seen), "events are shown as they are sent on")
    only = failures.finish()
    check(only[0]["code"] == "validation_failed", f"tap --refused: {only}")


def check_unix_socket(daemon, path):
    tap = subprocess.Popen([str(BINARY), "tap", "--stream", "library.loan", "--count", "1", "--admin", f"unix:{path}"],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 20
    while tap.poll() is None and time.monotonic() < end:
        post(daemon, event(1))
        time.sleep(0.1)
    out, err = tap.communicate(timeout=10)
    check(tap.returncode == 0 and "***" in out, f"a tap over a unix socket: {out} {err}")


def check_rate(daemon):
    tap = Tap(daemon, "--count", "14")  # more than two seconds' worth
    end = time.monotonic() + 20
    while tap.process.poll() is None and time.monotonic() < end:
        check(post(daemon, *[event(n) for n in range(200)]) == 201, "events flow beside the tap")
        time.sleep(0.2)
    tap.finish()
    check('left out: {"dropped":' in tap.err, f"what was left out is told: {tap.err}")


def check_switched_off(folder):
    with Daemon(ROOT / "config/demo.yaml", folder / "off", {"refused.keep": 0, "tap.max_clients": 0}) as daemon:
        check("refused.keep" in daemon.request_whole("GET", "/-/refused").json()["detail"], "which key switches it on")
        tap = Tap(daemon)
        tap.finish(code=1)
        check("tap.max_clients" in tap.err, f"which key switches taps on: {tap.err}")
        check(post(daemon, event(1, action="burn")) == 400, "events go on")
        check("refused.keep" in daemon.request_whole("GET", "/").body.decode(), "the status page says so too")
        check(daemon.stop() == 0, "it stops well")


def driver(folder):
    socket = folder / "admin.sock"
    with Daemon(ROOT / "config/demo.yaml", folder / "data", {**SETTINGS, "admin.unix_socket": str(socket)}) as daemon:
        check_refused(daemon)
        check_tap(daemon)
        check_unix_socket(daemon, socket)
        check_rate(daemon)
        check(daemon.request_whole("GET", "/-/tap").status == 400, "a tap needs a stream")
        watching = Tap(daemon)
        check(daemon.stop() == 0, "it stops well beside a tap")
        watching.end()
    check_switched_off(folder)
    print("refused events and taps: masked, bounded, and told")


if __name__ == "__main__":
    sys.exit(run(driver))
