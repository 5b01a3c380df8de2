#include "cli/explain_command.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "cli/config_options.h"
#include "cli/exit_code.h"
#include "cli/explain_print.h"
#include "cli/output.h"
#include "core/log.h"
#include "core/read_file.h"
#include "daemon/config_reader.h"

namespace sluice::cli {
namespace {

constexpr std::size_t kMaxInputBytes = 64u << 20;

// False if it cannot be read; what is wrong was said.
bool ReadInput(const std::string& name, std::string& text) {
  int error = 0;
  if (name == "-") {
    char buffer[65536];
    ssize_t got = 0;
    while ((got = ::read(STDIN_FILENO, buffer, sizeof(buffer))) != 0) {
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) error = errno;
      if (got < 0 || text.size() > kMaxInputBytes) break;
      text.append(buffer, static_cast<std::size_t>(got));
    }
  } else {
    error = core::ReadFile(name, kMaxInputBytes, text);
  }
  if (error != 0) Complain("cannot read " + name + ": " + core::ErrnoText(error));
  return error == 0;
}

// "Name: value". False if one is none.
bool ReadHeaders(const std::vector<std::string>& lines, DryDaemon::Headers& headers) {
  for (const std::string& line : lines) {
    const std::size_t colon = line.find(':');
    if (colon == 0 || colon == std::string::npos) {
      Complain("--header " + line + " is no header; write Name: value");
      return false;
    }
    std::string name = line.substr(0, colon);
    for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    const std::size_t value = line.find_first_not_of(" \t", colon + 1);
    headers[name] = value == std::string::npos ? std::string() : line.substr(value);
  }
  return true;
}

// The bodies to explain, of one event each: of an array its elements, each in an array of its own.
std::vector<std::string> EventsIn(const std::string& body, int max_depth) {
  std::string padded = body;
  padded.resize(body.size() + validate::kReadPadding);
  validate::Reader reader;
  validate::Document document;
  validate::ReadOptions options;
  options.max_depth = max_depth;
  const auto read = reader.Read(std::string_view(padded).substr(0, body.size()), options, document);
  if (!read || document.nodes[0].kind() != validate::Kind::kArray) return {body};
  std::vector<std::string> events;
  const std::uint32_t end = document.nodes[0].nodes();
  for (std::uint32_t at = 1; at < end; at += document.nodes[at].nodes()) {
    events.push_back('[' + std::string(document.Text(document.nodes[at])) + ']');
  }
  return events.empty() ? std::vector<std::string>{body} : events;
}

}  // namespace

const CommandSpec& ExplainSpec() {
  static const CommandSpec spec = {
      "explain",
      "Tell what would become of an event: every decision about it, in order. Produces nothing.",
      "Reads a file, or stdin (-), as the body of a POST: one event, or an array of them. The "
      "configuration is\n"
      "that of serve; schemas and stream configuration are read as serve reads them. Exit code 0: "
      "it would be\n"
      "accepted, 1: not.",
      {kConfigOption,
       kSetOption,
       {"--header", "NAME: VALUE", "a header of the request, for enrichment", Repeat::kMany},
       {"--json", "", "one JSON object a line for each event, instead of text"}},
      "FILE",
      Visibility::kShown,
      "FILE"};
  return spec;
}

int Explain(const Arguments& arguments) {
  if (arguments.operands().size() != 1) {
    Complain("explain needs one file with an event, or - for stdin");
    return kUsage;
  }
  DryDaemon::Headers headers;
  std::string body;
  if (!ReadHeaders(arguments.Values("--header"), headers)) return kUsage;
  if (!ReadInput(arguments.operands().front(), body)) return kUsage;
  const daemon::ConfigReading reading =
      daemon::ReadConfig({std::string(arguments.Value("--config")), arguments.Values("--set")});
  for (const daemon::ConfigProblem& problem : reading.problems) Complain(problem.Line());
  if (!reading.problems.empty()) return kUsage;
  core::LogOptions log = reading.config.log;
  log.level = core::LogLevel::kFatal;  // what there is to say is in the explanation
  core::ConfigureLog(log);
  DryDaemon daemon(reading.config);
  if (const auto started = daemon.Start(); !started) {
    Complain(started.error().message);
    return kUsage;
  }
  const std::vector<std::string> events = EventsIn(body, reading.config.limits.max_depth);
  bool accepted = true;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Explanation explanation = ExplainEvent(daemon, events[i], headers);
    accepted = accepted && explanation.code.empty();
    std::string text;
    if (arguments.Has("--json")) {
      text = ExplanationJson(explanation) + '\n';
    } else {
      if (events.size() > 1) {
        text = "Event " + std::to_string(i + 1) + " of " + std::to_string(events.size()) + ":\n";
      }
      text += ExplanationText(explanation);
    }
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
  return accepted ? kGood : kBad;
}

}  // namespace sluice::cli
