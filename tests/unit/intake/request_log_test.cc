#include "intake/request_log.h"

#include <doctest/doctest.h>

#include "core/log.h"
#include "core/loggable.h"
#include "intake/admin_route.h"

namespace sluice::intake {
namespace {

using core::ErrorCode;

TEST_CASE("TraceIdOf: of a traceparent header as W3C has it, else nothing") {
  constexpr const char* kId = "4bf92f3577b34da6a3ce929d0e0e4736";
  CHECK(TraceIdOf("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01") == kId);
  CHECK(TraceIdOf("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-later") == kId);
  for (const char* bad : {
           "",
           "00",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
           "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
           "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
           "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-zz",
           "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
       }) {
    CAPTURE(bad);
    CHECK(TraceIdOf(bad).empty());
  }
}

TEST_CASE("LoggableName: names and ids, nothing else") {
  CHECK(core::LoggableName("mediawiki.page-edit") == "mediawiki.page-edit");
  CHECK(core::LoggableName("/a/b_c/1.0.0") == "/a/b_c/1.0.0");
  for (const char* text : {"alice@example.org", "Alice Smith", "a\nb", "a=b", "+49 30 1234", "ä"}) {
    CHECK(core::LoggableName(text).empty());
  }
  CHECK(core::LoggableName(std::string(201, 'a')).empty());
}

TEST_CASE("LoggableMessage: what may quote a client is for the level debug") {
  core::ConfigureLog({});
  CHECK(LoggableMessage(ErrorCode::kValidationFailed, "'.x' should be string").empty());
  CHECK(LoggableMessage(ErrorCode::kBodyTooLarge, "max_body_size") == "max_body_size");
  core::SetLogLevel(core::LogLevel::kDebug);
  CHECK(!LoggableMessage(ErrorCode::kValidationFailed, "'.x' should be string").empty());
  core::ConfigureLog({});
}

TEST_CASE("IsFromOtherSite: pages of other origins are told from tools and from our own page") {
  AdminRequest request;
  const auto with = [&](core::StringPairs headers) {
    request.headers = std::move(headers);
    return IsFromOtherSite(request);
  };
  CHECK(!with({{"host", "127.0.0.1:9102"}}));
  CHECK(!with({{"host", "127.0.0.1:9102"}, {"origin", "http://127.0.0.1:9102"}}));
  CHECK(!with({{"host", "h"}, {"origin", "https://h"}, {"sec-fetch-site", "same-origin"}}));
  CHECK(with({{"host", "127.0.0.1:9102"}, {"origin", "http://127.0.0.1:9103"}}));
  CHECK(with({{"host", "h"}, {"origin", "null"}}));
  CHECK(with({{"host", "h"}, {"sec-fetch-site", "cross-site"}}));
}

}  // namespace
}  // namespace sluice::intake
