#!/usr/bin/env python3
"""The recorded queries to a real streamconfigs API, asked of the daemon that serves the same configuration.

Every answer must be deep-equal, with the streams in the recorded order; so must each entry asked for by its name, all of
them, and the same through POST, with the other separator, and at /v1/stream-configs.
"""
import json
import sys
import urllib.parse

from daemon import ROOT, SHARED, Daemon, check, need_shared, run

STREAMS = SHARED / "data/streams/production.json"
QUERIES = SHARED / "data/streams/queries.json"


def pieces(constraints, parents=()):
    """The nested map as pieces key[inner]=value, each encoded once, as PHP's http_build_query does."""
    for key, value in constraints.items():
        path = (*parents, key)
        if isinstance(value, dict):
            yield from pieces(value, path)
        else:
            name = path[0] + "".join(f"[{step}]" for step in path[1:])
            for one in value if isinstance(value, list) else [value]:
                yield urllib.parse.quote(name) + "=" + urllib.parse.quote(one)


def parameters(query):
    found = {"action": "streamconfigs", "format": "json"}
    if query["streams"] is not None:
        found["streams"] = "|".join(query["streams"])
    if query["constraints"] is not None:
        found["constraints"] = "|".join(pieces(query["constraints"]))
    return found


def ask(daemon, path):
    status, _, body = daemon.request("GET", path)
    check(status == 200, f"{path}: {status} {body[:200]}")
    return json.loads(body)


def ask_api(daemon, parameters):
    return ask(daemon, "/w/api.php?" + urllib.parse.urlencode(parameters))


def same(what, got, want):
    check(list(got) == list(want), f"{what}: keys {list(got)[:5]}, want {list(want)[:5]}")
    for key, entry in want.items():
        check(got[key] == entry, f"{what}: {key}: {json.dumps(got[key])}, want {json.dumps(entry)}")


def recorded(daemon, production):
    queries = json.loads(QUERIES.read_text())
    for query in queries:
        asked = parameters(query)
        answer = ask_api(daemon, asked)
        check(list(answer) == ["streams"], f"{asked}: {list(answer)}")
        check(list(answer["streams"]) == query["result_keys"], f"{asked}: {list(answer['streams'])}")
        if query["result"] is not None:
            same(str(asked), answer["streams"], query["result"])
        same(str(asked), answer["streams"], {key: production[key] for key in query["result_keys"]})
        status, _, body = daemon.post(urllib.parse.urlencode(asked), "/w/api.php",
                                      "application/x-www-form-urlencoded")
        check(status == 200 and json.loads(body) == answer, f"POST {asked}: {status}")
        if len(query["streams"] or []) > 0 and query["streams"] != [""]:
            other = {**asked, "streams": "\x1f" + "\x1f".join(query["streams"])}
            check(ask_api(daemon, other) == answer, f"{other}: another answer")
    return len(queries)


def entries(daemon, production):
    everything = {"action": "streamconfigs", "format": "json"}
    same("all", ask_api(daemon, everything)["streams"], production)
    for key, entry in production.items():
        same(key, ask_api(daemon, {**everything, "streams": key})["streams"], {key: entry})
    # The caller that forgets an ampersand gets everything, and the ones who ask for all settings a warning.
    sloppy = ask(daemon, "/w/api.php?format=json&action=streamconfigs&all_settings=truestreams=a%7Cb")
    same("sloppy", sloppy["streams"], production)
    check("streamconfigs" in sloppy["warnings"], f"{list(sloppy)}")
    # A name that a regex matches has topics of its own, behind the settings of the regex.
    for name, key in (("mediawiki.job.foo", "/^mediawiki\\.job\\..+/"),
                      ("swift.x.upload-complete", "/^swift\\.(.+\\.)?upload-complete$/")):
        want = {**production[key], "topics": ["eqiad." + name, "codfw." + name]}
        same(name, ask_api(daemon, {**everything, "streams": name})["streams"], {name: want})
        same(name, ask_api(daemon, {**everything, "constraints": "stream=" + name})["streams"],
             {key: production[key]})
    order = ["resource_change", "no.such.stream", "mediawiki.page-create", "resource_change", "resource_change.stream"]
    got = ask_api(daemon, {**everything, "streams": "|".join(order)})["streams"]
    same("order", got, {key: production[key] for key in ("resource_change", "mediawiki.page-create")})


def computed_topics_are_no_setting(daemon, production):
    """Topics that were computed are not there for constraints; configured ones are."""
    ask_for = {"action": "streamconfigs", "constraints": "topics[0]=eqiad.mediawiki.page-create"}
    check(ask_api(daemon, ask_for)["streams"] == {}, "computed topics match a constraint")
    topic = "eqiad.rdf-streaming-updater.mutation"
    got = ask_api(daemon, {**ask_for, "constraints": "topics[0]=" + topic})["streams"]
    want = {key: entry for key, entry in production.items() if topic in entry["topics"]}
    check(len(want) == 1, f"{list(want)}")
    same("configured topics", got, want)


def eventgate_routes(daemon, production):
    same("/v1", ask(daemon, "/v1/stream-configs"), production)
    regex = "/^mediawiki\\.job\\..+/"
    got = ask(daemon, "/v1/stream-configs/resource_change,mediawiki.job.foo%7Cno.such/")
    same("/v1 named", got, {"resource_change": production["resource_change"], "mediawiki.job.foo": production[regex]})
    got = ask(daemon, "/v1/stream-configs/" + urllib.parse.quote(regex, safe=""))
    same("/v1 regex", got, {regex: production[regex]})
    check(ask(daemon, "/v1/stream-configs/no.such") == {}, "an unknown stream")


def driver(folder):
    production = json.loads(STREAMS.read_text())["streams"]
    settings = {"stream_config_uri": str(STREAMS), "stream_config_object_path": "streams", "error_stream": "",
                "test_events": [], "schema_base_uris": [str(ROOT / "config/schemas")]}
    with Daemon(ROOT / "config/demo.yaml", folder, settings) as daemon:
        count = recorded(daemon, production)
        entries(daemon, production)
        computed_topics_are_no_setting(daemon, production)
        eventgate_routes(daemon, production)
        code = daemon.stop()
        check(code == 0, f"exit {code}")
    print(f"{count} recorded queries and {len(production)} entries")


if __name__ == "__main__":
    need_shared("data/streams/production.json", "data/streams/queries.json")
    sys.exit(run(driver))
