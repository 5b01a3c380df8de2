#include "cli/streams_list.h"

#include <algorithm>
#include <boost/json/parse.hpp>

#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/streams_config.h"
#include "streams/settings_reader.h"
#include "streams/stream_query.h"

namespace sluice::cli {

const CommandSpec& StreamsListSpec() {
  static const CommandSpec spec = {
      "streams list",
      "Show the configured streams: name, schema title, service that they are posted to.",
      "With --json an object as the EventStreamConfig API answers it.",
      {kConfigOption,
       kSetOption,
       {"--constraints", "TEXT",
        "only streams with these settings, as in the API: key=value or a[b]=value, '|' between "
        "them"},
       kStreamsJson}};
  return spec;
}

int StreamsList(const Arguments& arguments) {
  streams::Parameters parameters = {{"action", "streamconfigs"}};
  if (arguments.Has("--constraints")) {
    parameters.emplace_back("constraints", arguments.Value("--constraints"));
  }
  const auto reading = streams::ReadStreamQuery(parameters);
  if (reading.error) return Misused(reading.error->info);
  StreamsInput input;
  if (const auto failed = ReadStreams(arguments, input)) return *failed;
  std::string answer;
  streams::AppendAnswer(*input.streams, reading.query, answer, [](std::string_view) {});
  if (arguments.Has("--json")) {
    Print(stdout, answer + '\n');
    return kGood;
  }
  const auto parsed = boost::json::parse(answer);
  const auto& found = parsed.get_object().at("streams").get_object();
  std::size_t name_width = 0;
  std::size_t title_width = 0;
  for (const auto& member : found) {
    name_width = std::max(name_width, member.key().size());
    title_width = std::max(title_width, TextOf(member.value().get_object(), "schema_title").size());
  }
  std::string out;
  for (const auto& member : found) {
    const auto& settings = member.value().get_object();
    out += Column(member.key(), name_width + 2) +
           Column(TextOf(settings, "schema_title"), title_width + 2) +
           TextOf(settings, "destination_event_service");
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  }
  Print(stdout, out);
  Print(stderr, std::to_string(found.size()) + " of " + std::to_string(input.streams->size()) +
                    " entries\n");
  return kGood;
}

const CommandSpec& StreamsShowSpec() {
  static const CommandSpec spec = {
      "streams show",
      "Show the settings of streams, the default ones included, as they are served.",
      "Exit code 1: one of them is not configured.",
      {kConfigOption, kSetOption, kStreamsJson},
      "NAME",
      Visibility::kShown,
      "NAME..."};
  return spec;
}

int StreamsShow(const Arguments& arguments) {
  if (arguments.operands().empty()) return Misused("streams show needs the name of a stream");
  StreamsInput input;
  if (const auto failed = ReadStreams(arguments, input)) return *failed;
  bool all_known = true;
  std::string answer;
  streams::AppendNamed(*input.streams, arguments.operands(), streams::ServedAs::kApi, answer,
                       [&](std::string_view name) {
                         all_known = false;
                         Print(stderr, "sluice: " + std::string(name) + " is not configured\n");
                       });
  Print(stdout, (arguments.Has("--json") ? answer : PrettyJson(boost::json::parse(answer))) + '\n');
  return all_known ? kGood : kBad;
}

}  // namespace sluice::cli
