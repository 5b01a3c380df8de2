#include "cli/streams_diff.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <vector>

#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/streams_config.h"
#include "streams/settings_reader.h"

namespace sluice::cli {
namespace {

// A setting that differs; null: one side does not have it.
struct Change {
  std::string path;
  const boost::json::value* before;
  const boost::json::value* after;
};

void Compare(const std::string& path, const boost::json::object& before,
             const boost::json::object& after, std::vector<Change>& changes) {
  const auto inner = [&](std::string_view name) {
    return path.empty() ? std::string(name) : path + '.' + std::string(name);
  };
  for (const auto& member : before) {
    const auto* other = after.if_contains(member.key());
    if (other != nullptr && other->is_object() && member.value().is_object()) {
      Compare(inner(member.key()), member.value().get_object(), other->get_object(), changes);
    } else if (other == nullptr || *other != member.value()) {
      changes.push_back({inner(member.key()), &member.value(), other});
    }
  }
  for (const auto& member : after) {
    if (!before.contains(member.key())) {
      changes.push_back({inner(member.key()), nullptr, &member.value()});
    }
  }
}

std::string Text(const boost::json::value* value) {
  std::string out;
  if (value == nullptr) return "(nothing)";
  streams::AppendJson(out, *value);
  return out;
}

using Snapshot = std::shared_ptr<const streams::StreamSnapshot>;

// The streams of one source alone: a file or folder, or a URL.
core::Result<Snapshot> ReadSource(const core::StreamOptions& options, const std::string& source,
                                  std::string_view object_path) {
  core::StreamOptions alone = options;
  alone.inline_config.clear();
  alone.config_files.clear();
  alone.config_uri.clear();
  alone.config_object_path = object_path;
  const bool is_url = source.starts_with("http://") || source.starts_with("https://");
  if (is_url) {
    alone.config_uri = source;
  } else {
    alone.config_files = {source};
  }
  auto streams = streams::ReadStreamConfig(alone);
  if (!streams) return streams.error();
  return *std::move(streams);
}

std::vector<std::string_view> RegexKeys(const streams::StreamSnapshot& streams) {
  std::vector<std::string_view> keys;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    if (streams.entry(i).regex) keys.push_back(streams.entry(i).key);
  }
  return keys;
}

struct Differences {
  boost::json::array removed;
  boost::json::array added;
  boost::json::object changed;
  bool regex_order = false;  // the same regexes, tried in another order

  bool none() const { return removed.empty() && added.empty() && changed.empty() && !regex_order; }
};

Differences Find(const streams::StreamSnapshot& a, const streams::StreamSnapshot& b) {
  Differences differences;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto& before = a.entry(i);
    const auto* after = b.FindKey(before.key);
    if (after == nullptr) {
      differences.removed.emplace_back(before.key);
      continue;
    }
    const auto settings_before = SettingsOf(before);
    const auto settings_after = SettingsOf(*after);
    std::vector<Change> changes;
    Compare({}, settings_before, settings_after, changes);
    boost::json::array list;
    for (const Change& change : changes) {
      boost::json::object one = {{"setting", change.path}};
      if (change.before != nullptr) one["before"] = *change.before;
      if (change.after != nullptr) one["after"] = *change.after;
      list.push_back(std::move(one));
    }
    if (!list.empty()) differences.changed[before.key] = std::move(list);
  }
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (a.FindKey(b.entry(i).key) == nullptr) differences.added.emplace_back(b.entry(i).key);
  }
  auto before = RegexKeys(a);
  auto after = RegexKeys(b);
  std::erase_if(before, [&](std::string_view key) { return b.FindKey(key) == nullptr; });
  std::erase_if(after, [&](std::string_view key) { return a.FindKey(key) == nullptr; });
  differences.regex_order = before != after;
  return differences;
}

std::string ForPeople(const Differences& differences) {
  std::string out;
  for (const auto& key : differences.removed) out.append("- ").append(key.get_string()) += '\n';
  for (const auto& key : differences.added) out.append("+ ").append(key.get_string()) += '\n';
  for (const auto& member : differences.changed) {
    out.append("~ ").append(member.key()) += '\n';
    for (const auto& change : member.value().get_array()) {
      const auto& one = change.get_object();
      out.append("    ").append(one.at("setting").get_string()).append(": ");
      out += Text(one.if_contains("before")) + " -> " + Text(one.if_contains("after")) + '\n';
    }
  }
  if (differences.regex_order) out += "~ regular expressions are tried in another order\n";
  return out;
}

}  // namespace

const CommandSpec& StreamsDiffSpec() {
  static const CommandSpec spec = {
      "streams diff",
      "Compare two stream configurations by their settings, the default ones included.",
      "A and B are each a file, a folder of files, or a URL. Exit code 0: the same, 1: not.",
      {kConfigOption,
       kSetOption,
       {"--object-path", "PATH",
        "where in the documents the streams are; without it, at 'streams' if there are some"},
       kStreamsJson},
      "A B",
      Visibility::kShown,
      "A B"};
  return spec;
}

int StreamsDiff(const Arguments& arguments) {
  if (arguments.operands().size() != 2) return Misused("streams diff needs two sources: A and B");
  StreamsInput input;
  if (const auto failed = ReadStreamsConfig(arguments, input)) return *failed;
  Snapshot sides[2];
  for (std::size_t i = 0; i < 2; ++i) {
    auto streams = ReadSource(input.config.streams, arguments.operands()[i],
                              arguments.Value("--object-path", "streams"));
    if (!streams) return Misused(streams.error().message);
    sides[i] = *std::move(streams);
  }
  const Differences differences = Find(*sides[0], *sides[1]);
  if (arguments.Has("--json")) {
    std::string out;
    streams::AppendJson(out, boost::json::object{{"removed", differences.removed},
                                                 {"added", differences.added},
                                                 {"changed", differences.changed},
                                                 {"regex_order", differences.regex_order}});
    Print(stdout, out + '\n');
  } else {
    Print(stdout, ForPeople(differences));
  }
  return differences.none() ? kGood : kBad;
}

}  // namespace sluice::cli
