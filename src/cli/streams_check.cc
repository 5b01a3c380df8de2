#include "cli/streams_check.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <map>
#include <string>

#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/streams_config.h"
#include "cli/streams_schemas.h"
#include "streams/settings_reader.h"
#include "streams/stream_lint.h"

namespace sluice::cli {
namespace {

using streams::Finding;
using streams::Severity;

std::size_t Count(const std::vector<Finding>& findings, Severity severity) {
  std::size_t count = 0;
  for (const Finding& finding : findings) count += finding.severity == severity ? 1 : 0;
  return count;
}

std::string Counted(std::size_t count, std::string_view word) {
  return std::to_string(count) + ' ' + std::string(word) + (count == 1 ? "" : "s");
}

std::string ForPeople(const std::vector<Finding>& findings, std::size_t entries) {
  std::string out;
  std::map<std::string_view, std::size_t> by_kind;
  for (const Finding& finding : findings) {
    out += std::string(ToString(finding.severity)) + ": " + finding.stream + ": " + finding.text +
           " [" + std::string(finding.kind) + "]\n";
    ++by_kind[finding.kind];
  }
  if (!findings.empty()) out += '\n';
  for (const auto& [kind, count] : by_kind) {
    out += Column(std::to_string(count), 6) + std::string(kind) + '\n';
  }
  return out + Counted(Count(findings, Severity::kError), "error") + ", " +
         Counted(Count(findings, Severity::kWarning), "warning") + ", " +
         Counted(Count(findings, Severity::kNote), "note") + " in " + std::to_string(entries) +
         " entries\n";
}

std::string ForPrograms(const std::vector<Finding>& findings, std::size_t entries) {
  boost::json::array list;
  for (const Finding& finding : findings) {
    list.push_back(boost::json::object{{"severity", ToString(finding.severity)},
                                       {"kind", finding.kind},
                                       {"stream", finding.stream},
                                       {"text", finding.text}});
  }
  std::string out;
  streams::AppendJson(out, boost::json::object{{"entries", entries},
                                               {"errors", Count(findings, Severity::kError)},
                                               {"warnings", Count(findings, Severity::kWarning)},
                                               {"notes", Count(findings, Severity::kNote)},
                                               {"findings", std::move(list)}});
  return out + '\n';
}

}  // namespace

const CommandSpec& StreamsCheckSpec() {
  static const CommandSpec spec = {
      "streams check",
      "Look for mistakes in the stream configuration and in how it fits the schemas.",
      "Errors are what makes events or their consumers fail, warnings what is likely not meant, "
      "notes what is\n"
      "good to know. Each finding ends with its [kind]. Exit code 0: no errors, 1: some.",
      {kConfigOption, kSetOption, kStreamsJson}};
  return spec;
}

int StreamsCheck(const Arguments& arguments) {
  StreamsInput input;
  if (const auto failed = ReadStreams(arguments, input)) return *failed;
  TitleSchemas schemas(input.config.schemas);
  if (input.config.schemas.base_uris.empty()) {
    return Misused("streams check needs schema_base_uris: the folders or URIs where schemas are");
  }
  if (const auto usable = schemas.Check(); !usable) return Misused(usable.error().message);
  const auto findings =
      streams::LintStreams(*input.streams, input.config.streams,
                           [&](std::string_view title) { return schemas.Find(title); });
  Print(stdout, arguments.Has("--json") ? ForPrograms(findings, input.streams->size())
                                        : ForPeople(findings, input.streams->size()));
  return Count(findings, Severity::kError) > 0 ? kBad : kGood;
}

}  // namespace sluice::cli
