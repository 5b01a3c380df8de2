#!/usr/bin/env python3
"""Events from a page of another origin in Chromium, and the status page: browser.py

Everything arrives, the console stays clean, an origin that is not allowed is refused by the browser, and the status
page loads under its own content-security-policy without a complaint. Skipped where there is no Chromium.
"""
import http.server
import json
import shutil
import subprocess
import sys
import threading
from pathlib import Path

from daemon import SKIPPED, Daemon, check, eventually, run

HERE = Path(__file__).resolve().parent
BROWSER = HERE / "browser"

SCHEMAS = {
    "reports/1.0.0": """
title: reports
$id: /reports/1.0.0
$schema: https://json-schema.org/draft-07/schema#
type: object
additionalProperties: false
required: [$schema, meta, age, type, url, user_agent, body]
properties:
  $schema: {type: string}
  meta:
    type: object
    required: [dt, stream]
    properties: {dt: {type: string}, stream: {type: string}, id: {type: string}, request_id: {type: string}}
  age: {type: integer}
  type: {type: string}
  url: {type: string}
  user_agent: {type: string}
  body: {type: object, properties: {elapsed_time: {type: integer}}}
""",
    "page/view/1.0.0": """
title: page/view
$id: /page/view/1.0.0
$schema: https://json-schema.org/draft-07/schema#
type: object
required: [$schema, meta, page]
properties:
  $schema: {type: string}
  meta:
    type: object
    required: [dt, stream]
    properties: {dt: {type: string}, stream: {type: string}, id: {type: string}, request_id: {type: string}}
  page: {type: object, properties: {path: {type: string}}}
""",
}


def need_chromium():
    """Ends the run as skipped where a browser, or what drives it, cannot be had."""
    for program in ("chromium", "node", "npm"):
        if not shutil.which(program):
            print(f"SKIPPED: {program} is not here")
            sys.exit(SKIPPED)
    if not (BROWSER / "node_modules/playwright-core").exists():
        done = subprocess.run(["npm", "ci", "--silent", "--no-audit", "--no-fund"], cwd=BROWSER,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
        if done.returncode != 0:
            print("SKIPPED: playwright-core cannot be installed")
            sys.exit(SKIPPED)


def drive(script, setup, seconds=180):
    """Runs a script of the folder browser; what it prints, read as JSON."""
    done = subprocess.run(["node", str(BROWSER / script), json.dumps(setup)], stdout=subprocess.PIPE, text=True,
                          timeout=seconds)
    check(done.returncode == 0, f"{script}: exit {done.returncode}")
    return json.loads(done.stdout or "null")


class Pages(http.server.BaseHTTPRequestHandler):
    """A site of its own origin: pages that are empty but for their icon."""

    def do_GET(self):
        body = b"<!DOCTYPE html><title>page</title><link rel=icon href='data:,'><p>page"
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def write_schemas(folder):
    for name, text in SCHEMAS.items():
        path = folder / "schemas" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return str(folder / "schemas")


def check_events(open_daemon, closed_daemon, happened):
    check(happened["leaving"] == [], f"console of the pages that were left: {happened['leaving']}")
    check(happened["complaints"] == [], f"console: {happened['complaints']}")
    check(happened["json"]["status"] == 201, f"JSON with preflight: {happened['json']}")
    check(happened["reports"]["status"] == 201, f"a batch of the Reporting API: {happened['reports']}")
    check(happened["bad"].get("status") == 400, f"the page must be able to read a refusal: {happened['bad']}")
    check("schema_not_found" in happened["bad"]["text"], f"the refusal's body: {happened['bad']}")
    check(happened["refused"] == {"error": "TypeError"}, f"an origin that is not allowed: {happened['refused']}")
    check(any("CORS" in line for line in happened["expected"]), f"the browser says why: {happened['expected']}")

    def paths():
        return sorted(json.loads(line)["page"]["path"] for line in open_daemon.topic_lines("page.view"))

    wanted = ["/beacon", "/json", "/keepalive"]
    eventually(f"{wanted} in the topic", lambda: paths() == wanted)
    check(len(open_daemon.topic_lines("reports")) == 2, "both reports in their topic")
    check(closed_daemon.topic_lines("page.view") == [], "nothing came from the origin that is not allowed")


def check_listed_origins(daemon, listed):
    check(listed["allowed"].get("status") == 201 and listed["complaints"] == [], f"an origin that is listed: {listed}")
    check(listed["refused"] == {"error": "TypeError"}, f"an origin that is not listed: {listed}")
    check(len(daemon.topic_lines("page.view")) == 1, "only the event of the origin that is listed came")


def check_status_page(status):
    check(status["policy"].startswith("default-src 'none';"), f"policy: {status['policy']}")
    check(status["refreshed"], "the page refreshes itself")
    check(status["complaints"] == [], f"console of the status page: {status['complaints']}")
    check(status["violations"] == [], f"violations of its policy: {status['violations']}")
    check(status["foreign"] == [], f"resources from elsewhere: {status['foreign']}")
    check(status["overflow"] == [], f"wider than the window: {status['overflow']}")
    check(status["stillOpen"] is True, "an event that was opened stays open when the page refreshes itself")
    check(status["images"] == 0 and status["scripts"] == 1, "text of events became elements of the page")
    check("<img src=x onerror=alert(1)>" in status["text"], "the stream's name is shown as text")
    check("M4RK" not in status["text"], "a masked value is shown")
    check("page.view" in status["text"] and "schema_not_found" in status["text"], "events are shown")
    check("page.view" in status["withoutScript"] and status["refresh"], "without JavaScript it works too")


def driver(folder):
    schemas = write_schemas(folder)
    (folder / "config.yaml").write_text("service_name: browser-test\n")
    settings = {"schema_base_uris": [schemas], "output": "files", "topic_prefix": "", "refused.keep": 20,
                "stream_query_param": "stream", "schema_uri_query_param": "schema_uri"}
    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{site.server_port}"
    listing = {**settings, "cors_origins": ["https://www.example.org", origin], "cors_max_age": 600}
    with Daemon(folder / "config.yaml", folder / "open", settings) as daemon, \
            Daemon(folder / "config.yaml", folder / "closed", {**settings, "cors": "https://allowed.example"}) as closed, \
            Daemon(folder / "config.yaml", folder / "listed", listing) as listed:
        daemon.post(json.dumps({"$schema": "/none/2.0.0", "meta": {"stream": "<img src=x onerror=alert(1)>"},
                                "http": {"client_ip": "M4RK"}, "text": "</pre><script>alert(2)</script>"}))
        happened = drive("check.js", {
            "page": f"{origin}/a", "other": f"{origin}/b", "events": f"http://127.0.0.1:{daemon.port}/v1/events",
            "stranger": f"http://localhost:{site.server_port}/a",
            "closed": f"http://127.0.0.1:{closed.port}/v1/events",
            "listed": f"http://127.0.0.1:{listed.port}/v1/events", "admin": f"http://127.0.0.1:{daemon.admin[1]}/"})
        check_events(daemon, closed, happened)
        check_listed_origins(listed, happened["listed"])
        check_status_page(happened["status"])
        check(all(each.stop() == 0 for each in (daemon, closed, listed)), "all stop well")
    site.shutdown()
    print("from Chromium: sendBeacon and keepalive on leaving, JSON with preflight, a batch of reports; the status page")


if __name__ == "__main__":
    need_chromium()
    sys.exit(run(driver))
