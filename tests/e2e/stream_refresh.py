#!/usr/bin/env python3
"""A remote stream configuration that fails in every way: the last good one stays, events go on, the log, the metrics and
/readyz say so; a start without it takes the copy on disk. Then the same for a broken file on SIGHUP."""
import json
import re
import signal
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from daemon import ROOT, Daemon, check, eventually, run

LOAN = "/library/loan/1.1.0"


class Source(ThreadingHTTPServer):
    """Answers as `mode` says: a version number is a good answer with a stream v<number>."""
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.mode = 1
        self.requests = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        pass  # a client that did not wait for a slow answer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self, status, body, kind="application/json", length=None, etag=None):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        if etag:
            self.send_header("ETag", etag)
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    def do_GET(self):
        mode = self.server.mode
        self.server.requests.append((mode, {name.lower(): value for name, value in self.headers.items()}))
        version = mode if isinstance(mode, int) else 1
        streams = {"library.loan": {"schema_title": "library/loan"}, f"v{version}": {"schema_title": "library/loan"}}
        good = json.dumps({"streams": streams, "warnings": {"main": "old"}}).encode()
        if isinstance(mode, int):
            tag = f'"v{mode}"'
            if self.headers.get("If-None-Match") == tag:
                self.answer(304, b"")
            else:
                self.answer(200, good, etag=tag)
        elif mode == "slow":
            time.sleep(2)
            self.answer(200, good)
        elif mode == "500":
            self.answer(500, b"{}")
        elif mode == "html":
            self.answer(200, b"<!DOCTYPE html><html><body>Log in</body></html>", "text/html")
        elif mode == "error":
            self.answer(200, b'{"error":{"code":"internal_api_error","info":"database"}}')
        elif mode == "cut":
            self.answer(200, good[:40], length=len(good))
        elif mode == "nothing":
            self.answer(200, b'{"streams":{}}')


REASONS = {"slow": "fetch", "500": "status", "html": "content", "error": "content", "cut": "fetch", "nothing": "content"}


def loan(stream):
    return json.dumps({"$schema": LOAN, "meta": {"stream": stream}, "action": "lend",
                       "book": {"isbn": "9780141439518"}, "reader_id": "r-1"})


def metric(daemon, name):
    _, _, body = daemon.request("GET", "/metrics", admin=True)
    match = re.search(rf"^{re.escape(name)} (\S+)$", body.decode(), re.M)
    check(match, f"no metric {name}")
    return float(match.group(1))


def failed(daemon, reason):
    return metric(daemon, f'sluice_stream_config_readings_total{{outcome="failed",reason="{reason}"}}')


def condition(daemon):
    """What /readyz says of the streams; it has to be ready."""
    status, _, body = daemon.request("GET", "/readyz", admin=True)
    check(status == 200, f"/readyz: {status} {body}")
    text = json.loads(body)
    return next(c for c in text["conditions"] if c["name"] == "stream_config")


def kinds(daemon, kind):
    return [line for line in daemon.lines if f'"kind":"{kind}"' in line]


class Posting:
    """Posts events all the time; each has to be accepted."""

    def __init__(self, daemon):
        self.daemon, self.bad, self.good, self.ended = daemon, [], 0, threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.ended.is_set():
            status, reason, _ = self.daemon.post(loan("library.loan"))
            if status == 201:
                self.good += 1
            else:
                self.bad.append((status, reason))

    def end(self):
        self.ended.set()
        self.thread.join(10)
        check(not self.bad and self.good > 0, f"{self.good} events accepted, not accepted: {self.bad[:3]}")
        return self.good


def remote(folder):
    source = Source()
    url = f"http://127.0.0.1:{source.server_address[1]}/w/api.php?action=streamconfigs&format=json"
    settings = {"schema_base_uris": [str(ROOT / "config/schemas")], "error_stream": "", "stream_config_uri": url,
                "stream_config_object_path": "streams", "stream_config_ttl": 1, "stream_config_timeout": "500ms",
                "stream_config_retries": 0, "stream_config_uri_options.headers": {"host": "meta.example"},
                "logging.per_kind_per_second": 1000}
    with Daemon(ROOT / "config/demo.yaml", folder / "a", settings) as daemon:
        check(source.requests[0][1]["host"] == "meta.example", "the Host of the options was not sent")
        begun = time.monotonic()
        eventually("unchanged, by its tag", lambda: metric(
            daemon, 'sluice_stream_config_readings_total{outcome="unchanged",reason="none"}') >= 1)
        check(source.requests[1][1].get("if-none-match") == '"v1"', "the tag was not sent")
        posting = Posting(daemon)
        for mode, reason in REASONS.items():
            before = failed(daemon, reason)
            source.mode = mode
            eventually(f"{mode} is counted", lambda r=reason, b=before: failed(daemon, r) > b, 20)
            state = condition(daemon)
            check(state["ok"] and "since reading fails" in state["detail"], f"{mode}: {state}")
            check(metric(daemon, "sluice_stream_config_generation") == 1, f"{mode}: something was swapped in")
            status, reason, _ = daemon.post(loan("v1"))
            check(status == 201, f"{mode}: {status} {reason}")
        lines = kinds(daemon, "stream_config_failed")
        minutes = (time.monotonic() - begun) // 60
        check(1 <= len(lines) <= 1 + minutes, f"{len(lines)} log lines of failures in {minutes} minutes")
        source.mode = 2
        eventually("recovered", lambda: daemon.post(loan("v2"))[0] == 201)
        check(daemon.post(loan("v1"))[0] == 400, "a stream that is gone takes events")
        check("detail" not in condition(daemon), "the trouble is over, and /readyz goes on about it")
        accepted = posting.end()
        check(daemon.stop() == 0, "exit code")
    source.mode = "500"
    with Daemon(ROOT / "config/demo.yaml", folder / "a", settings) as daemon:
        check(len(kinds(daemon, "stream_config_from_copy")) == 1, "the copy in use is not logged")
        check(condition(daemon)["detail"].startswith("in use is the copy of "), str(condition(daemon)))
        eventually("the copy ages", lambda: metric(daemon, "sluice_stream_config_copy_age_seconds") > 0)
        check(daemon.post(loan("v2"))[0] == 201, "a stream of the copy")
        source.mode = 3
        eventually("recovered", lambda: daemon.post(loan("v3"))[0] == 201)
        check(metric(daemon, "sluice_stream_config_copy_age_seconds") == 0, "the copy is in use no more")
    return accepted


def file(folder):
    path = folder / "streams.yaml"
    path.write_text("a: {schema_title: library/loan}\n")
    settings = {"schema_base_uris": [str(ROOT / "config/schemas")], "error_stream": "", "stream_config_uri": str(path)}
    with Daemon(ROOT / "config/demo.yaml", folder / "b", settings) as daemon:
        path.write_text("a: {schema_title: [\n")
        daemon.process.send_signal(signal.SIGHUP)
        eventually("the broken file is counted", lambda: failed(daemon, "content") >= 1)
        state = condition(daemon)
        check(state["ok"] and str(path) in state["detail"], str(state))
        check(daemon.post(loan("a"))[0] == 201, "events after a broken file")
        check(len(kinds(daemon, "stream_config_failed")) == 1, "one line")
        path.write_text("b: {schema_title: library/loan}\n")
        daemon.process.send_signal(signal.SIGHUP)
        eventually("the mended file", lambda: daemon.post(loan("b"))[0] == 201)
        check(daemon.post(loan("a"))[0] == 400, "the stream that is gone")


def driver(folder):
    accepted = remote(folder)
    file(folder)
    print(f"{len(REASONS)} ways to fail, {accepted} events meanwhile, none refused")


if __name__ == "__main__":
    sys.exit(run(driver))
