#include "streams/static_snapshot.h"

#include <algorithm>
#include <utility>

#include "core/yaml_json.h"

namespace sluice::streams {
namespace {

// PHP writes the entries of a list with integer keys; such an entry is named by its `stream`
// setting.
std::string_view NameOf(std::string_view key, const boost::json::value& settings) {
  const bool is_integer = !key.empty() && std::all_of(key.begin(), key.end(),
                                                      [](char c) { return c >= '0' && c <= '9'; });
  if (!is_integer || !settings.is_object()) return key;
  const auto* stream = settings.get_object().if_contains("stream");
  return stream && stream->is_string() ? std::string_view(stream->get_string()) : key;
}

bool IsRegex(std::string_view key) {
  return key.size() >= 2 && key.front() == '/' && key.back() == '/';
}

}  // namespace

std::shared_ptr<StaticSnapshot> StaticSnapshot::Build(const boost::json::object& streams,
                                                      const std::string& pointer,
                                                      std::vector<SettingsProblem>& problems) {
  auto snapshot = std::make_shared<StaticSnapshot>();
  snapshot->entries_.reserve(streams.size());
  snapshot->by_key_.reserve(streams.size());
  for (const auto& entry : streams) {
    std::string entry_pointer = pointer;
    core::AppendPointerToken(entry_pointer, entry.key());
    snapshot->AddEntry(NameOf(entry.key(), entry.value()), entry.value(), entry_pointer, problems);
  }
  return snapshot;
}

void StaticSnapshot::AddEntry(std::string_view key, const boost::json::value& settings,
                              const std::string& pointer, std::vector<SettingsProblem>& problems) {
  if (by_key_.contains(key)) {
    problems.push_back({pointer, "stream '" + std::string(key) + "' is configured twice"});
    return;
  }
  entries_.push_back(
      std::make_unique<const StreamSettings>(ReadSettings(key, settings, pointer, problems)));
  const StreamSettings* added = entries_.back().get();
  by_key_.emplace(added->key, added);
  if (!IsRegex(key)) return;
  auto pattern = validate::Pattern::Compile(key.substr(1, key.size() - 2));
  if (pattern) {
    regexes_.push_back({*std::move(pattern), added});
  } else {
    problems.push_back({pointer, "not a regular expression: " + pattern.error().message});
  }
}

const StreamSettings* StaticSnapshot::Find(std::string_view stream) const {
  const auto found = by_key_.find(stream);
  if (found != by_key_.end()) return found->second;
  for (const auto& regex : regexes_) {
    if (regex.pattern->Search(stream) == validate::MatchResult::kMatch) return regex.settings;
  }
  return nullptr;
}

}  // namespace sluice::streams
