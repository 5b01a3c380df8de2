#include "cli/admin_commands.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <string>

#include "cli/exit_code.h"
#include "cli/output.h"
#include "core/json_text.h"
#include "fetch/admin_client.h"

namespace sluice::cli {
namespace {

constexpr std::string_view kDefaultAdmin = "http://127.0.0.1:9102";
constexpr OptionSpec kAdminOption{
    "--admin", "URL",
    "admin listener of the daemon: http://HOST:PORT (default http://127.0.0.1:9102), https://…, "
    "or unix:PATH"};

fetch::AdminClient ClientFor(const Arguments& arguments) {
  return fetch::AdminClient(std::string(arguments.Value("--admin", kDefaultAdmin)));
}

std::string Encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      encoded += c;
      continue;
    }
    std::array<char, 4> hex{};
    std::snprintf(hex.data(), hex.size(), "%%%02X", byte);
    encoded += hex.data();
  }
  return encoded;
}

}  // namespace

const CommandSpec& TapSpec() {
  static const CommandSpec spec = {
      "tap",
      "Watch the events of a stream go by in a running daemon.",
      "Prints one JSON object a line: time, outcome, stream, schema URI, request id, and the event "
      "without the\nvalues of the fields of refused.mask; of events that were not accepted also "
      "the code and the message.\nAn event is shown when its fate is known. What is above "
      "tap.max_events_per_second is left out, which is\ntold on stderr. Ends with Ctrl-C, or after "
      "--count events; exit code 1 if the daemon ends it.",
      {{"--stream", "NAME", "the stream, as the event names it"},
       {"--refused", "", "only events that were not accepted"},
       {"--count", "N", "end after so many events"},
       kAdminOption}};
  return spec;
}

int Tap(const Arguments& arguments) {
  const std::string_view stream = arguments.Value("--stream");
  if (stream.empty()) return Misused("tap needs --stream NAME");
  const std::string_view count_text = arguments.Value("--count", "0");
  std::uint64_t left = 0;
  const auto [end, error] =
      std::from_chars(count_text.data(), count_text.data() + count_text.size(), left);
  if (error != std::errc() || end != count_text.data() + count_text.size())
    return Misused("--count needs a number");
  const bool counted = left > 0;
  std::string target = "/-/tap?stream=" + Encoded(stream);
  if (arguments.Has("--refused")) target += "&refused=1";
  const auto watched =
      ClientFor(arguments).Watch(target, [&](std::string_view name, std::string_view data) {
        if (name == "dropped") {
          Print(stderr, "left out: " + std::string(data) + '\n');
          return true;
        }
        Print(stdout, std::string(data) + '\n');
        std::fflush(stdout);
        return !counted || --left > 0;
      });
  if (!watched.has_value()) {
    Complain(watched.error().message);
    return kBad;
  }
  if (counted && left == 0) return kGood;
  Complain("the daemon has ended the stream");
  return kBad;
}

const CommandSpec& LogLevelSpec() {
  static const CommandSpec spec = {
      "log-level",
      "Show or change the level of a running daemon's log.",
      "LEVEL is trace, debug, info, warn, error or fatal; without it the present level is shown. "
      "The change lasts\nuntil --for is over, the configuration is read anew, or the daemon ends.",
      {{"--for", "TIME", "go back to the configured level after this, for example 10m"},
       kAdminOption},
      "LEVEL",
      Visibility::kShown,
      "[LEVEL]"};
  return spec;
}

int LogLevel(const Arguments& arguments) {
  if (arguments.operands().size() > 1) return Misused("log-level takes one level");
  std::string body;
  if (!arguments.operands().empty()) {
    body = "{\"level\":";
    core::AppendJsonString(body, arguments.operands().front());
    if (arguments.Has("--for")) {
      body += ",\"for\":";
      core::AppendJsonString(body, arguments.Value("--for"));
    }
    body += '}';
  } else if (arguments.Has("--for")) {
    return Misused("--for needs a level");
  }
  const auto answer = ClientFor(arguments).Ask(body.empty() ? "GET" : "PUT", "/-/log-level", body);
  if (!answer.has_value()) {
    Complain(answer.error().message);
    return kBad;
  }
  if (answer->status != 200) {
    Complain(answer->Detail());
    return kBad;
  }
  Print(stdout, answer->body);
  return kGood;
}

}  // namespace sluice::cli
