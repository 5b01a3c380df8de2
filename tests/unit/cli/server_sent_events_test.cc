#include "fetch/server_sent_events.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace sluice::fetch {
namespace {

TEST_CASE("ServerSentEvents: events in pieces of any size") {
  const std::string text =
      ": comment\n\nevent: accepted\ndata: {\"a\":1}\n\ndata:x\r\ndata: y\r\n\r\nevent: none\n\nda";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    std::vector<std::string> events;
    ServerSentEvents reader([&](std::string_view name, std::string_view data) {
      events.push_back(std::string(name) + '|' + std::string(data));
      return true;
    });
    for (std::size_t at = 0; at < text.size(); at += size) CHECK(reader.Add(text.substr(at, size)));
    CHECK(events == std::vector<std::string>{"accepted|{\"a\":1}", "message|x\ny"});
  }
}

TEST_CASE("ServerSentEvents: ends when its user has enough") {
  int seen = 0;
  ServerSentEvents reader([&](std::string_view, std::string_view) { return ++seen < 2; });
  CHECK(reader.Add("data: 1\n\n"));
  CHECK(!reader.Add("data: 2\n\ndata: 3\n\n"));
  CHECK(seen == 2);
}

}  // namespace
}  // namespace sluice::fetch
