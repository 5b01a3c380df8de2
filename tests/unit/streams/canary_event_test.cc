#include "streams/canary_event.h"

#include <doctest/doctest.h>

#include <boost/json/parse.hpp>

using sluice::streams::MakeCanaryEvent;

namespace {

std::string Make(const char* schema) {
  const auto document = boost::json::parse(schema);
  const auto event = MakeCanaryEvent({document, "/x/2.0.0", "a.b", "2026-01-02T03:04:05.678Z"});
  return event ? *event : "error: " + event.error().message;
}

}  // namespace

TEST_CASE("MakeCanaryEvent: the first example with its meta replaced where it says what it is") {
  CHECK(Make(R"({"examples":[
          {"$schema":"/x/1.0.0","meta":{"dt":"2020-01-01T00:00:00Z","stream":"x","id":"1"},"n":1.5},
          {"n":2}]})") ==
        R"({"$schema":"/x/2.0.0","meta":{"dt":"2026-01-02T03:04:05.678Z","stream":"a.b",)"
        R"("id":"1","domain":"canary"},"n":1.5})");
  CHECK(Make(R"({"examples":[{"n":2}]})") ==
        R"({"n":2,"$schema":"/x/2.0.0","meta":{"domain":"canary","stream":"a.b",)"
        R"("dt":"2026-01-02T03:04:05.678Z"}})");
}

TEST_CASE("MakeCanaryEvent: without an example there is none") {
  CHECK(Make("{}") == "error: the schema has no examples to make a canary event of");
  CHECK(Make(R"({"examples":[]})") ==
        "error: the schema has no examples to make a canary event of");
  CHECK(Make(R"({"examples":[1]})") == "error: the schema's first example is no object");
}
