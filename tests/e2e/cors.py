#!/usr/bin/env python3
"""What browsers are told of other origins (CORS), on the built daemon: as the original by default; with cors_origins
each allowed origin is named back, with Vary, and others get nothing; cors_max_age is for preflights alone."""
import http.client
import json
import sys

from daemon import ROOT, Daemon, check, run

EVENT = json.dumps({"$schema": "/library/loan/1.1.0", "meta": {"stream": "library.loan"}, "action": "lend",
                    "book": {"isbn": "9780141439518"}, "reader_id": "r-1"})
PREFLIGHT = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
CORS = {"access-control-allow-headers": "accept, x-requested-with, content-type",
        "access-control-expose-headers": "etag", "access-control-allow-methods": "post"}
ALLOWED = "https://a.example"


def ask(sluice, method, origin=None, body=None, headers=None, path="/v1/events"):
    connection = http.client.HTTPConnection(sluice.host, sluice.port, timeout=30)
    sent = {"Content-Type": "application/json", **(headers or {})}
    if origin:
        sent["Origin"] = origin
    connection.request(method, path, body=body, headers=sent)
    answer = connection.getresponse()
    answer.read()
    found = {name.lower(): value for name, value in answer.getheaders()}
    # Vary may come in several lines.
    found["vary"] = ", ".join(value for name, value in answer.getheaders() if name.lower() == "vary")
    connection.close()
    return answer.status, found


def cors_of(headers):
    return {name: value for name, value in headers.items() if name.startswith("access-control-")}


def every_answer(sluice, origin):
    """Answers of all kinds: a preflight, 201 as it is prepared, 400, 404, a page, the stream configuration."""
    return [ask(sluice, "OPTIONS", origin, headers=PREFLIGHT), ask(sluice, "POST", origin, EVENT),
            ask(sluice, "POST", origin, "[{}]"), ask(sluice, "GET", origin, path="/no"),
            ask(sluice, "GET", origin, path="/_info"), ask(sluice, "GET", origin, path="/v1/stream-configs")]


def by_default(folder):
    with Daemon(ROOT / "config/demo.yaml", folder, {"output": "discard"}) as sluice:
        for status, headers in every_answer(sluice, ALLOWED):
            check(cors_of(headers) == {"access-control-allow-origin": "*", **CORS}, f"{status} {headers}")
            check("Origin" not in headers["vary"], f"{status} {headers}")


def by_origin(folder):
    settings = {"output": "discard", "cors_origins": [ALLOWED, "http://b.example:8080"], "cors_max_age": 600}
    with Daemon(ROOT / "config/demo.yaml", folder, settings) as sluice:
        for origin in settings["cors_origins"]:
            for number, (status, headers) in enumerate(every_answer(sluice, origin)):
                wanted = {"access-control-allow-origin": origin, **CORS}
                if number == 0:
                    wanted["access-control-max-age"] = "600"
                check(cors_of(headers) == wanted, f"{status} {headers}")
                check("Origin" in headers["vary"], f"{status} {headers}")
        for origin in (None, "null", "https://a.example.org", "http://a.example", "https://A.example", "*"):
            for status, headers in every_answer(sluice, origin):
                check(not cors_of(headers) and "Origin" in headers["vary"], f"{origin}: {status} {headers}")
        check(ask(sluice, "POST", ALLOWED, EVENT)[0] == 201, "an event of an allowed origin")


def without(folder):
    settings = {"output": "discard", "cors": False, "cors_max_age": 600}
    with Daemon(ROOT / "config/demo.yaml", folder, settings) as sluice:
        for status, headers in every_answer(sluice, ALLOWED):
            check(not cors_of(headers) and "Origin" not in headers["vary"], f"{status} {headers}")


def driver(folder):
    by_default(folder / "a")
    by_origin(folder / "b")
    without(folder / "c")


if __name__ == "__main__":
    sys.exit(run(driver))
