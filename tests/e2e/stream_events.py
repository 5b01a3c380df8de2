#!/usr/bin/env python3
"""Events as their real clients send them, over the production stream configuration: a browser's network error reports, a
MediaWiki job (regex stream), a page change (with key), a legacy event of EventLogging. From the published examples."""
import json
import sys

from daemon import ROOT, SHARED, Daemon, check, need_shared, run

SCHEMAS = "data/schemas-primary/jsonschema"
STREAMS = "data/streams/production.json"
EXAMPLES = "data/golden/validation.ndjson"

# As the legacy schemas of the other repository are: none of them is in the shared data.
LEGACY = {"$id": "/analytics/legacy/codemirrorusage/1.0.0", "$schema": "http://json-schema.org/draft-07/schema#",
          "title": "analytics/legacy/codemirrorusage", "type": "object", "required": ["$schema", "meta", "event"],
          "properties": {"$schema": {"type": "string"}, "dt": {"type": "string"}, "client_dt": {"type": "string"},
                         "meta": {"type": "object", "required": ["stream", "dt"], "properties": {
                             "stream": {"type": "string"}, "dt": {"type": "string"}, "id": {"type": "string"},
                             "request_id": {"type": "string"}}},
                         "http": {"type": "object", "properties": {
                             "client_ip": {"type": "string"},
                             "request_headers": {"type": "object", "additionalProperties": {"type": "string"}}}},
                         "event": {"type": "object", "properties": {"enabled": {"type": "boolean"}}}}}


def example(schema):
    with (SHARED / EXAMPLES).open() as lines:
        for line in lines:
            record = json.loads(line)
            if record["schema"] == schema and record["valid"]:
                return json.loads(record["raw"])
    check(False, f"no example of {schema}")
    return None


def only(daemon, topic):
    lines = daemon.topic_lines(topic)
    check(len(lines) == 1, f"{topic}: {len(lines)} events")
    return json.loads(lines[0])


def network_errors(daemon):
    schema, stream = "/w3c/reportingapi/network_error/1.0.0", "w3c.reportingapi.network_error"
    report = example(schema)
    del report["$schema"], report["meta"]
    body = json.dumps([report, {**report, "age": 7}])
    for path in (f"/v1/events?stream={stream}&schema_uri={schema}",
                 f"/v1/events?schema_uri={schema.replace('/', '%2F')}&stream={stream}"):
        status, reason, answer = daemon.post(body, path, "application/reports+json",
                                             {"user-agent": "Browser/1", "x-geoip-country": "NL"})
        check(status == 201, f"network errors: {status} {reason} {answer}")
    events = [json.loads(line) for line in daemon.topic_lines(f"eqiad.{stream}")]
    check(len(events) == 4 and [event["age"] for event in events] == [0, 7, 0, 7], f"network errors: {events}")
    for event in events:
        check(event["$schema"] == schema and event["meta"]["stream"] == stream, f"hoisted: {event}")
        check(event["meta"]["dt"] and event["meta"]["id"] and event["body"] == report["body"], f"completed: {event}")
        headers = event["http"]["request_headers"]
        check(headers["user-agent"] == "Browser/1" and headers["x-geoip-country"] == "NL", f"headers: {headers}")
    status, _, answer = daemon.post(body, "/v1/events", "application/reports+json")
    check(status == 400 and b"missing_schema_uri" in answer, f"without the parameters: {status} {answer}")


def job(daemon):
    event = example("/mediawiki/job/1.0.0")
    status, reason, answer = daemon.post(json.dumps([event]), headers={"user-agent": "MediaWiki/1"})
    check(status == 201, f"job: {status} {reason} {answer}")
    written = only(daemon, "eqiad.mediawiki.job.example")
    check(written["type"] == event["type"] and "http" not in written, f"job: {written}")


def page_change(daemon):
    event = example("/mediawiki/page/change/1.2.0")
    event["meta"]["stream"] = "mediawiki.page_change.v1"
    status, reason, answer = daemon.post(json.dumps(event))
    check(status == 201, f"page change: {status} {reason} {answer}")
    written = only(daemon, "eqiad.mediawiki.page_change.v1")
    check(written["page"] == event["page"], f"page change: {written}")
    # Its key is made of wiki_id and page.page_id (e2e_kafka_examples sees it in Kafka): without one, no event.
    del event["wiki_id"]
    status, _, answer = daemon.post(json.dumps(event))
    check(status == 400, f"page change without its key: {status} {answer}")


def legacy(daemon):
    stream = "eventlogging_CodeMirrorUsage"
    event = {"$schema": LEGACY["$id"], "meta": {"stream": stream}, "event": {"enabled": True},
             "client_dt": "2020-07-01T00:00:00Z"}
    status, reason, answer = daemon.post(json.dumps(event), "/v1/events?hasty=true", "text/plain;charset=UTF-8",
                                         {"user-agent": "Browser/1"})
    check(status == 202, f"legacy: {status} {reason} {answer}")
    status, reason, answer = daemon.post(json.dumps({**event, "dt": "2001-01-01T00:00:00Z"}))
    check(status == 201, f"legacy: {status} {reason} {answer}")
    first, second = (json.loads(line) for line in daemon.topic_lines(stream))
    check(first["dt"] == first["meta"]["dt"], f"dt of a legacy event is the receive time: {first}")
    check(first["http"]["request_headers"]["user-agent"] == "Browser/1", f"legacy headers: {first}")
    check(second["dt"] == "2001-01-01T00:00:00Z", f"a dt of its own stays: {second}")
    check(not daemon.topic_lines(f"eqiad.{stream}"), "a legacy topic has no prefix")


def driver(folder):
    need_shared(SCHEMAS, STREAMS, EXAMPLES)
    schema = folder / "schemas" / LEGACY["$id"].lstrip("/")
    schema.parent.mkdir(parents=True)
    schema.write_text(json.dumps(LEGACY))
    settings = {"schema_base_uris": [str(SHARED / SCHEMAS), str(folder / "schemas")], "topic_prefix": "eqiad.",
                "stream_config_uri": str(SHARED / STREAMS), "stream_config_object_path": "streams",
                "schema_uri_query_param": "schema_uri", "stream_query_param": "stream", "error_stream": ""}
    with Daemon(ROOT / "config/demo.yaml", folder, settings) as daemon:
        for part in (network_errors, job, page_change, legacy):
            part(daemon)
        lines = [line for line in daemon.lines if "stream_setting_not_supported" in line]
        check(len(lines) == 2 and "use_edge_uniques" in lines[0], f"settings that are not built: {lines}")
    print("network errors, a job, a page change and a legacy event are in their topics")


if __name__ == "__main__":
    sys.exit(run(driver))
