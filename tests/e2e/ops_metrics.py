#!/usr/bin/env python3
"""/metrics of a running daemon, writing to the mock cluster inside librdkafka: promtool takes it, docs/metrics.md has
every metric with its type and labels, and the queries that dashboards of the original use give right figures, evaluated
by promtool on what was scraped before and after a known number of requests.
"""
import json
import re
import shutil
import subprocess
import sys

from daemon import ROOT, SKIPPED, Daemon, check, eventually, run

GOOD, REFUSED, PAGES, READS = 120, 30, 60, 15
LOAN = {"$schema": "/library/loan/1.1.0", "meta": {"stream": "library.loan"}, "action": "lend",
        "book": {"isbn": "9780141439518"}, "reader_id": "r-1"}
PAGE = {"$schema": "/page/view/1.0.0", "meta": {"stream": "page.view"}, "page": {"path": "/", "title": "x"}}
SETTINGS = {"output": "kafka", "logging.level": "error",
            "kafka.conf": {"test.mock.num.brokers": 3, "metadata.broker.list": "127.0.0.1:1",
                           "statistics.interval.ms": 200}}
MINUTES = 10


def documented():
    """Name to (type, labels) as docs/metrics.md has them; a name may end with *."""
    found = {}
    for section in (ROOT / "docs/metrics.md").read_text().split("\n## "):
        shared = set(re.findall(r"All have the label `(\w+)`", section))
        for name, kind in re.findall(r"^\| `([a-z0-9_*]+)` \| ([^|]+) \|", section, re.M):
            labels = set(re.findall(r"\w+", kind.split(";")[1])) if ";" in kind else set()
            found[name] = kind.split(";")[0].split(",")[0].strip(), labels | (set() if "without" in kind else shared)
    return found


def series(text):
    """(name, labels, value) of each line of a scrape."""
    for line in text.splitlines():
        if line and not line.startswith("#"):
            name, labels, value = re.match(r"([a-z0-9_]+)(?:\{(.*)\})? (\S+)$", line).groups()
            yield name, dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels or "")), float(value)


def check_against_page(text):
    page = documented()
    types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M))
    for name, kind in types.items():
        entry = page.get(name) or next((page[key] for key in page if key.endswith("*") and name.startswith(key[:-1])), None)
        check(entry, f"{name} is not in docs/metrics.md")
        check(entry[0] == kind, f"{name} is a {kind}, docs/metrics.md says {entry[0]}")
        labels = {label for series_name, labels, _ in series(text) if re.sub(r"_(bucket|sum|count)$", "", series_name) == name
                  or series_name == name for label in labels} - {"le"}
        check(labels <= entry[1], f"{name} has the labels {labels}, docs/metrics.md says {entry[1]}")
    return types


def promtool(*arguments, text=None):
    done = subprocess.run(["promtool", *arguments], input=text, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def as_input(before, after):
    """What Prometheus would hold if the change between the two scrapes had come evenly, in MINUTES."""
    old = {(name, json.dumps(labels, sort_keys=True)): value for name, labels, value in series(before)}
    for name, labels, value in series(after):
        if not name.startswith(("eventgate_", "express_")):
            continue
        start = old.get((name, json.dumps(labels, sort_keys=True)), 0.0)
        shown = ",".join(f"{key}={json.dumps(text)}" for key, text in {**labels, "job": "sluice"}.items())
        step = (value - start) / MINUTES
        yield {"series": f"{name}{{{shown}}}", "values": f"{start:g}{step:+.12g}x{MINUTES}"}


def queries():
    """(query of a dashboard of the original, what it has to give by its labels)."""
    per_second = MINUTES * 60
    window = f"[{MINUTES}m]"
    mine = '{service="sluice-demo"}'
    yield f"sum by (stream) (rate(eventgate_events_produced_total{mine}{window}))", {
        '{stream="library.loan"}': GOOD / per_second, '{stream="page.view"}': PAGES / per_second,
        '{stream="sluice.error.validation"}': REFUSED / per_second}
    yield f"sum by (schema_uri) (increase(eventgate_events_produced_total{mine}{window}))", {
        '{schema_uri="/library/loan/1.1.0"}': GOOD, '{schema_uri="/page/view/1.0.0"}': PAGES,
        '{schema_uri="/error/2.1.0"}': REFUSED}
    yield f"sum by (stream, error_type) (increase(eventgate_validation_errors_total{mine}{window}))", {
        '{stream="library.loan", error_type="ValidationError"}': REFUSED}
    yield f"sum by (path, method, status) (increase(express_router_request_duration_seconds_count{window}))", {
        '{path="v1/events", method="POST", status="201"}': GOOD + PAGES,
        '{path="v1/events", method="POST", status="400"}': REFUSED, '{path="_info", method="GET", status="200"}': READS}
    yield f'sum(rate(express_router_request_duration_seconds_count{{path="v1/events"}}{window}))', {
        "{}": (GOOD + PAGES + REFUSED) / per_second}
    yield f'sum(increase(express_router_request_duration_seconds_bucket{{path="v1/events",le="+Inf"}}{window}))', {
        "{}": GOOD + PAGES + REFUSED}
    # A p99 of the original's buckets, and a mean: above nothing, below the largest bucket.
    yield (f"histogram_quantile(0.99, sum by (le) (rate(express_router_request_duration_seconds_bucket{window}))) > bool 0",
           {"{}": 1})
    yield (f"sum(rate(express_router_request_duration_seconds_sum{window})) / "
           f"sum(rate(express_router_request_duration_seconds_count{window})) < bool 10", {"{}": 1})


def rounded(query):
    return f"round({query}, 0.000001)"


def check_queries(folder, before, after):
    tests = [{"expr": rounded(query), "eval_time": f"{MINUTES}m",
              "exp_samples": [{"labels": labels, "value": round(value, 6)} for labels, value in wanted.items()]}
             for query, wanted in queries()]
    path = folder / "queries.yaml"
    path.write_text(json.dumps({"evaluation_interval": "1m", "tests": [
        {"interval": "1m", "input_series": list(as_input(before, after)), "promql_expr_test": tests}]}))
    code, text = promtool("test", "rules", str(path))
    check(code == 0, f"a query gives another figure: {text}")
    return len(tests)


def send(sluice):
    bad = {**LOAN, "action": "burn"}
    for event, times, status in ((LOAN, GOOD, 201), (PAGE, PAGES, 201), (bad, REFUSED, 400)):
        for _ in range(times):
            answer = sluice.post(json.dumps(event))
            check(answer[0] == status, f"answered {answer}")
    for _ in range(READS):
        check(sluice.request("GET", "/_info")[0] == 200, "/_info does not answer")


def driver(folder):
    with Daemon(ROOT / "config/demo.yaml", folder, SETTINGS) as sluice:
        def scrape():
            return sluice.request("GET", "/metrics", admin=True)[2].decode()
        eventually("librdkafka's statistics", lambda: "eventgate_rdkafka_" in scrape())
        before = scrape()
        send(sluice)
        eventually("error events", lambda: f'stream="sluice.error.validation"}} {REFUSED}' in scrape())
        after = scrape()
        code, text = promtool("check", "metrics", text=after)
        check(code == 0, f"promtool check metrics: {text}")
        types = check_against_page(after)
        count = check_queries(folder, before, after)
        print(f"{len(types)} metrics are as documented, promtool takes them; {count} queries give right figures")
        check(sluice.stop() == 0, "did not stop well")


if __name__ == "__main__":
    if not shutil.which("promtool"):
        print("SKIPPED: there is no promtool (scripts/setup --tests)")
        sys.exit(SKIPPED)
    sys.exit(run(driver))
