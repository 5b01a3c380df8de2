#!/usr/bin/env python3
"""Serving the stream configuration over HTTP: caching, compression, CORS, errors, and 10,000 streams."""
import gzip
import http.client
import json
import sys

from daemon import ROOT, Daemon, check, run

STREAMS = """
library.loan: {schema_title: library/loan, canary_events_enabled: false}
page.view: {schema_title: page/view, topic_prefixes: ["a.", "b."]}
/^job\\..+/: {schema_title: library/loan, topic_prefixes: ["a."]}
sluice.error.validation: {schema_title: error}
"""
API = "/w/api.php?action=streamconfigs&format=json"
SETTINGS = {"schema_base_uris": [str(ROOT / "config/schemas")], "test_events": []}


def get(daemon, path, headers=None, method="GET", body=None):
    connection = http.client.HTTPConnection(daemon.host, daemon.port, timeout=30)
    try:
        connection.request(method, path, body=body, headers=headers or {})
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    finally:
        connection.close()


def caching(daemon):
    for path in (API, API + "&streams=page.view", API + "&constraints=schema_title=page/view"):
        status, headers, body = get(daemon, path)
        check(status == 200, f"{path}: {status}")
        check(headers["content-type"] == "application/json; charset=utf-8", f"{path}: {headers}")
        check(headers["cache-control"] == "public, max-age=600, s-maxage=600", f"{path}: {headers}")
        etag = headers["etag"]
        for tag in (etag, f'"other", {etag}', "*", etag.removeprefix("W/")):
            status, headers, nothing = get(daemon, path, {"If-None-Match": tag})
            check((status, nothing) == (304, b""), f"{path} {tag}: {status} {nothing}")
            check(headers["etag"] == etag and "content-length" not in headers, f"{path}: {headers}")
            check("cache-control" in headers and headers["vary"] == "Accept-Encoding", f"{path}: {headers}")
        status, headers, again = get(daemon, path, {"If-None-Match": 'W/"other"'})
        check((status, again, headers["etag"]) == (200, body, etag), f"{path}: {status}")
        status, headers, nothing = get(daemon, path, method="HEAD")
        check((status, nothing, headers["content-length"]) == (200, b"", str(len(body))), f"HEAD {path}: {headers}")
    status, headers, _ = get(daemon, "/v1/stream-configs")
    check("cache-control" not in headers and "etag" in headers, f"{headers}")


def refusals(daemon):
    """MediaWiki's errors come with status 200 and the member `error`."""
    many = "|".join(str(i) for i in range(251))
    for path, code in ((f"{API}&streams={many}", "toomanyvalues"), ("/w/api.php", "missingparam"),
                       ("/w/api.php?action=query", "badvalue")):
        status, headers, body = get(daemon, path)
        answer = json.loads(body)
        check(status == 200 and answer["error"]["code"] == code and answer["error"]["info"], f"{path[:60]}: {answer}")
        check(headers["mediawiki-api-error"] == code and "private" in headers["cache-control"], f"{headers}")
    status, _, body = get(daemon, f"{API}&streams={many[:-4]}")
    check(status == 200 and json.loads(body) == {"streams": {}}, f"250 streams: {status} {body[:100]}")
    _, _, body = get(daemon, API + "&streams=page.view&colour=red&size=1")
    answer = json.loads(body)
    check(list(answer) == ["warnings", "streams"], f"{answer}")
    check(answer["warnings"] == {"main": {"warnings": "Unrecognized parameters: colour, size."}}, f"{answer}")
    status, _, _ = get(daemon, "/w/api.php", {"Content-Type": "application/json"}, "POST", '{"action":"streamconfigs"}')
    check(status == 415, f"a JSON body: {status}")
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    status, _, _ = get(daemon, "/w/api.php", form, "POST", b"streams=" + b"a" * 70000)
    check(status == 413, f"a large form: {status}")
    status, _, body = get(daemon, "/w/api.php?action=streamconfigs&streams=library.loan", form, "POST",
                          "streams=page.view")
    check(list(json.loads(body)["streams"]) == ["page.view"], f"the form goes before the query: {body}")
    status, headers, _ = get(daemon, "/w/api.php", {}, "PUT")
    check(status == 405 and headers["allow"] == "GET,HEAD,POST", f"PUT: {status} {headers}")
    status, _, body = get(daemon, "/w/api.php?action=streamconfigs&streams=", {}, "POST")
    check(status == 200 and json.loads(body) == {"streams": {}}, f"POST without a body: {status} {body}")
    status, _, body = get(daemon, "/w/api.php", form, "POST", iter([b"action=streamconfigs&", b"streams=page.view"]))
    check(status == 200 and list(json.loads(body)["streams"]) == ["page.view"], f"in chunks: {status} {body}")


def cors(folder):
    with Daemon(ROOT / "config/demo.yaml", folder / "cors",
                {**SETTINGS, "stream_config_uri": str(folder / "streams.yaml"), "cors": False}) as daemon:
        _, headers, _ = get(daemon, API)
        check("access-control-allow-origin" not in headers, f"{headers}")
        _, headers, _ = get(daemon, API + "&origin=*")
        check(headers["access-control-allow-origin"] == "*", f"{headers}")
        check(daemon.stop() == 0, "exit")


def off(folder):
    base = {**SETTINGS, "stream_config_uri": str(folder / "streams.yaml")}
    with Daemon(ROOT / "config/demo.yaml", folder / "off", {**base, "stream_config_api_path": ""}) as daemon:
        check(get(daemon, API)[0] == 404, "an empty stream_config_api_path")
        check(get(daemon, "/v1/stream-configs")[0] == 200, "/v1/stream-configs")
        check(daemon.stop() == 0, "exit")
    with Daemon(ROOT / "config/demo.yaml", folder / "none", {**SETTINGS, "stream_config_uri": ""}) as daemon:
        for path in (API, "/v1/stream-configs", "/v1/stream-configs/a"):
            check(get(daemon, path)[0] == 404, f"{path} without stream configuration")
        check(daemon.stop() == 0, "exit")


def memory(daemon):
    """Resident bytes of the process that no file backs."""
    with open(f"/proc/{daemon.process.pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("RssAnon"))


def many_streams(folder):
    """Large answers are made on another thread, once, whoever asks meanwhile."""
    streams = {}
    for i in range(10000):
        key = f"/^family{i}\\..+/" if i % 20 == 0 else f"team{i % 97}.stream.number_{i}.v1"
        streams[key] = {
            "topic_prefixes": ["eqiad.", "codfw."], "canary_events_enabled": i % 2 == 0, "schema_title": "page/view",
            "producers": {"eventgate": {"enrich_fields_from_http_headers": {
                "meta.request_id": "x-request-id", "http.request_headers.user-agent": False}}},
            "consumers": {"analytics_hadoop_ingestion": {"job_name": "event_default", "enabled": True},
                          "analytics_hive_ingestion": {"enabled": True}},
            "destination_event_service": f"eventgate-{i % 3}"}
    (folder / "many.json").write_text(json.dumps({"streams": streams}))
    settings = {**SETTINGS, "stream_config_object_path": "streams", "error_stream": ""}
    with Daemon(ROOT / "config/demo.yaml", folder / "few",
                {**settings, "stream_config_uri": str(folder / "few.json")}) as daemon:
        get(daemon, API, {"Accept-Encoding": "gzip"})
        before = memory(daemon)
        check(daemon.stop() == 0, "exit")
    with Daemon(ROOT / "config/demo.yaml", folder / "many",
                {**settings, "stream_config_uri": str(folder / "many.json")}) as daemon:
        status, headers, body = get(daemon, API, {"Accept-Encoding": "gzip"})
        check(status == 200 and headers["content-encoding"] == "gzip", f"{status} {headers}")
        answer = json.loads(gzip.decompress(body))["streams"]
        check(list(answer) == list(streams), "another order")
        _, _, plain = get(daemon, API)
        check(json.loads(plain)["streams"] == answer, "gzip and identity differ")
        _, _, body = get(daemon, API + "&constraints=destination_event_service=eventgate-1%7Ccanary_events_enabled=1")
        want = [key for i, key in enumerate(streams) if i % 3 == 1 and i % 2 == 0]
        check(list(json.loads(body)["streams"]) == want, "constraints")
        _, _, body = get(daemon, "/v1/stream-configs")
        check(list(json.loads(body)) == list(streams), "/v1/stream-configs")
        used = memory(daemon) - before
        print(f"10,000 streams, served: {used / 2**20:.1f} MiB more than two")
        check(used < 60 * 2**20, f"{used} bytes for 10,000 streams")
        check(daemon.stop() == 0, "exit")


def driver(folder):
    (folder / "streams.yaml").write_text(STREAMS)
    (folder / "few.json").write_text(json.dumps({"streams": {"a": {"schema_title": "page/view"}, "b": {}}}))
    with Daemon(ROOT / "config/demo.yaml", folder,
                {**SETTINGS, "stream_config_uri": str(folder / "streams.yaml")}) as daemon:
        caching(daemon)
        refusals(daemon)
        check(daemon.stop() == 0, "exit")
    cors(folder)
    off(folder)
    many_streams(folder)


if __name__ == "__main__":
    sys.exit(run(driver))
