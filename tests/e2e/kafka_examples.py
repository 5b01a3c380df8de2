#!/usr/bin/env python3
"""Every published example that the original accepts, posted and read back from a real Kafka.

The value must be deep-equal to the example but for the enrichment, with the bytes of every number and string untouched;
the record's timestamp is meta.dt; with message_key_fields the key is the compact object of those fields.
"""
import datetime
import json
import re
import sys

import kafka
from daemon import SHARED, Daemon, check, need_shared, run

SCHEMAS = SHARED / "data/schemas-primary/jsonschema"
GOLDEN = SHARED / "data/golden/validation.ndjson"
VERSION_FILE = re.compile(r"/\d+\.\d+\.\d+\.yaml$")
TOKEN = re.compile(r'[{}\[\]:,]|"(?:[^"\\]|\\.)*"|[^\s{}\[\]:,"]+')
ENRICHED = {"meta.dt", "meta.id", "meta.request_id", "http.client_ip"}


def load_yaml(text):
    """YAML as the original reads it: time stamps stay strings."""
    import yaml

    class Loader(yaml.SafeLoader):
        pass
    Loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in rows if tag != "tag:yaml.org,2002:timestamp"]
        for first, rows in yaml.SafeLoader.yaml_implicit_resolvers.items()}
    return yaml.load(text, Loader)


def accepted_examples():
    """(schema title, example's exact text, example) for each that the original calls valid and that names a stream."""
    golden = {}
    for line in GOLDEN.read_text(encoding="utf-8").split("\n"):
        if line:
            case = json.loads(line)
            golden.setdefault(case["schema"], []).append(case)
    for path in sorted(SCHEMAS.rglob("*.yaml")):
        if not VERSION_FILE.search(path.as_posix()):
            continue
        schema = load_yaml(path.read_text(encoding="utf-8"))
        uri = "/" + path.relative_to(SCHEMAS).with_suffix("").as_posix()
        for example in schema.get("examples", []):
            same = [case for case in golden.get(uri, []) if json.loads(case["raw"]) == example]
            if same and same[0]["valid"] and example.get("$schema") and (example.get("meta") or {}).get("stream"):
                yield schema["title"], same[0]["raw"], example


def leaves(text):
    """Dotted path -> the exact text of each string, number and literal of a JSON text."""
    tokens = TOKEN.findall(text)
    found, position = {}, 0

    def value(path):
        nonlocal position
        token = tokens[position]
        position += 1
        if token not in "{[":
            found[path] = token
            return
        index, end = 0, "}" if token == "{" else "]"
        while tokens[position] != end:
            if tokens[position] == ",":
                position += 1
            name = str(index)
            if token == "{":
                name = json.loads(tokens[position])
                position += 2
            value(f"{path}.{name}" if path else name)
            index += 1
        position += 1

    value("")
    return found


def milliseconds(text):
    moment = datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=datetime.timezone.utc)
    return round(moment.timestamp() * 1000)


def key_fields(examples):
    """Key path -> event path: the stream, and one field of each kind that all the stream's examples have at the top."""
    fields = {"stream": "meta.stream"}
    for kind, name in ((int, "of.number"), (str, "of.text")):
        for field in examples[0]:
            if field != "$schema" and all(type(example.get(field)) is kind for example in examples):
                fields[name] = field
                break
    return fields


def expected_key(fields, example):
    key = {}
    for path, source in fields.items():
        content = example
        for step in source.split("."):
            content = content[step]
        target = key
        *parents, last = path.split(".")
        for step in parents:
            target = target.setdefault(step, {})
        target[last] = content
    return json.dumps(key, separators=(",", ":"), ensure_ascii=False)


def post_and_read_back(daemon, broker, seen, raw, example, want_key):
    stream = example["meta"]["stream"]
    status, reason, body = daemon.post(raw)
    check(status == 201, f"{example['$schema']}: {status} {reason} {body[:300]}")
    topic = stream if stream.startswith("eventlogging_") else "eqiad." + stream
    records = kafka.consume(broker, topic)
    new = records.keys() - seen.get(topic, set())
    check(len(new) == 1, f"{topic}: {len(new)} new records after one event")
    seen[topic] = records.keys()
    key, timestamp, value = records[new.pop()]
    before, after = leaves(raw), leaves(value.decode())
    for path, text in before.items():
        if path != "meta.dt":
            check(after.get(path) == text, f"{topic}: {path} was {text}, is {after.get(path)}")
    added = set(after) - set(before)
    check(added <= ENRICHED, f"{topic}: added {added - ENRICHED}")
    check("meta.id" in after, f"{topic}: no meta.id")
    event = json.loads(value)
    check(timestamp == milliseconds(event["meta"]["dt"]), f"{topic}: timestamp {timestamp}, {event['meta']['dt']}")
    check(key == want_key, f"{topic}: key {key}, want {want_key}")


def driver(folder):
    examples = list(accepted_examples())
    check(len(examples) > 50, f"only {len(examples)} examples found")
    broker = kafka.address()
    titles, of_stream = {}, {}
    for title, _, example in examples:
        titles.setdefault(example["meta"]["stream"], set()).add(title)
        of_stream.setdefault(example["meta"]["stream"], []).append(example)
    keys = {stream: key_fields(rows) for stream, rows in of_stream.items()}
    configured = {stream: {"schema_title": next(iter(of)), "message_key_fields": keys[stream]}
                  for stream, of in titles.items() if len(of) == 1}
    (folder / "streams.json").write_text(json.dumps({"streams": configured}))
    base = {"schema_base_uris": [str(SCHEMAS)], "topic_prefix": "eqiad.", "enrichment.meta_dt": "always",
            "enrichment.meta_id": "missing", "stream_field": "meta.stream", **kafka.settings(broker)}
    seen = {topic: kafka.consume(broker, topic).keys() for topic in kafka.topics(broker)}
    passes = [({}, examples, lambda e: None),
              ({"stream_config_uri": str(folder / "streams.json"), "stream_config_object_path": "streams"},
               [row for row in examples if row[2]["meta"]["stream"] in configured],
               lambda e: expected_key(keys[e["meta"]["stream"]], e))]
    for number, (more, rows, key_of) in enumerate(passes):
        config = folder / "flat.yaml"
        config.write_text("service_name: examples\n")
        with Daemon(config, folder / str(number), {**base, **more}) as daemon:
            for _, raw, example in rows:
                post_and_read_back(daemon, broker, seen, raw, example, key_of(example))
            code = daemon.stop()
            check(code == 0, f"exit {code}")
        print(f"{len(rows)} examples posted and read back, {'with' if more else 'without'} stream configuration")


if __name__ == "__main__":
    need_shared("data/schemas-primary", "data/golden/validation.ndjson")
    sys.exit(run(driver))
