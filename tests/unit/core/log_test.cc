#include "core/log.h"

#include <doctest/doctest.h>

#include <boost/json/parse.hpp>
#include <string>
#include <thread>
#include <vector>

#include "core/kind_limiter.h"
#include "support/captured_stderr.h"

namespace sluice::core {
namespace {

using test::CapturedStderr;

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

TEST_CASE("Log: a line is one JSON object with the fields in it") {
  LogOptions options;
  options.service_name = "test \"service\"";
  ConfigureLog(options);
  CapturedStderr captured;
  Log(LogLevel::kWarn, "kind_a", "it \n broke", {{"uri", "/a\xFF"}, {"count", std::int64_t{-7}}});
  const std::vector<std::string> lines = Lines(captured.Text());
  REQUIRE(lines.size() == 1);
  const boost::json::object line = boost::json::parse(lines[0]).as_object();
  CHECK(line.at("level") == "warn");
  CHECK(line.at("service") == "test \"service\"");
  CHECK(line.at("kind") == "kind_a");
  CHECK(line.at("message") == "it \n broke");
  CHECK(line.at("uri") == "/a\xEF\xBF\xBD");
  CHECK(line.at("count") == -7);
  const std::string time(line.at("time").as_string());
  CHECK(time.size() == 24);
  CHECK(time.back() == 'Z');
  CHECK(!line.contains("suppressed"));
}

TEST_CASE("Log: journald's priority stands before the object") {
  LogOptions options;
  options.format = LogFormat::kJournald;
  ConfigureLog(options);
  CapturedStderr captured;
  Log(LogLevel::kError, "kind_b", "x");
  Log(LogLevel::kInfo, "kind_b", "x");
  const std::vector<std::string> lines = Lines(captured.Text());
  ConfigureLog({});
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].substr(0, 4) == "<3>{");
  CHECK(lines[1].substr(0, 4) == "<6>{");
}

TEST_CASE(
    "Log: text for people holds fields behind the message, and nothing from outside breaks it") {
  LogOptions options;
  options.format = LogFormat::kText;
  ConfigureLog(options);
  CapturedStderr captured;
  Log(LogLevel::kWarn, "kind_t", "it broke",
      {{"uri", "/a b=\n\x1b[2J"}, {"id", "x-1"}, {"none", ""}, {"count", std::int64_t{-7}}});
  const std::vector<std::string> lines = Lines(captured.Text());
  ConfigureLog({});
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].substr(24) ==
        " WARN  it broke  kind=kind_t uri=\"/a b=\\n\\u001b[2J\" id=x-1 count=-7");
}

TEST_CASE("Log: auto is JSON where stderr is no terminal") {
  ConfigureLog({});
  CapturedStderr captured;
  Log(LogLevel::kInfo, "kind_u", "x");
  CHECK(captured.Text().starts_with("{"));
}

TEST_CASE("Log: the level changes at run time, words and levels are each other's") {
  ConfigureLog({});
  SetLogLevel(LogLevel::kDebug);
  CHECK(LogEnabled(LogLevel::kDebug));
  CHECK(CurrentLogLevel() == LogLevel::kDebug);
  ConfigureLog({});
  CHECK(!LogEnabled(LogLevel::kDebug));
  CHECK(LogLevelOf("warn") == LogLevel::kWarn);
  CHECK(ToString(LogLevel::kFatal) == "fatal");
  CHECK(!LogLevelOf("WARN").has_value());
}

TEST_CASE("Log: what is below the level is not written") {
  LogOptions options;
  options.level = LogLevel::kError;
  ConfigureLog(options);
  CHECK(!LogEnabled(LogLevel::kWarn));
  CHECK(LogEnabled(LogLevel::kError));
  CapturedStderr captured;
  Log(LogLevel::kWarn, "kind_c", "x");
  CHECK(captured.Text().empty());
  ConfigureLog({});
}

TEST_CASE("KindLimiter: holds back what is above the rate and tells how much it was") {
  KindLimiter limiter(2);
  CHECK(limiter.Admit("a", 10).write);
  CHECK(limiter.Admit("a", 10).write);
  CHECK(!limiter.Admit("a", 10).write);
  CHECK(!limiter.Admit("a", 10).write);
  CHECK(limiter.Admit("b", 10).write);
  const KindLimiter::Verdict next = limiter.Admit("a", 11);
  CHECK(next.write);
  CHECK(next.suppressed == 2);
  CHECK(limiter.Admit("a", 11).suppressed == 0);
}

TEST_CASE("Log: lines of many threads do not mix") {
  LogOptions options;
  options.per_kind_per_second = 1000000;
  ConfigureLog(options);
  CapturedStderr captured;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 200; ++i) Log(LogLevel::kInfo, "many", std::string(100, 'x'));
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::vector<std::string> lines = Lines(captured.Text());
  ConfigureLog({});
  CHECK(lines.size() == 800);
  for (const std::string& line : lines) {
    boost::system::error_code failed;
    boost::json::parse(line, failed);
    REQUIRE(!failed);
  }
}

}  // namespace
}  // namespace sluice::core
