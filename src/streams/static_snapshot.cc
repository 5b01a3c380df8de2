#include "streams/static_snapshot.h"

#include <algorithm>
#include <atomic>
#include <boost/json/array.hpp>
#include <utility>

#include "core/yaml_json.h"
#include "streams/regex_memo.h"
#include "validate/pattern.h"

namespace sluice::streams {
namespace {

std::uint64_t NextId() {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

bool IsInteger(std::string_view key) {
  return !key.empty() &&
         std::all_of(key.begin(), key.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// The `stream` setting, which names entries that PHP wrote with integer keys; empty if there is
// none.
std::string_view StreamSetting(const boost::json::value& settings) {
  const auto* map = settings.if_object();
  const auto* stream = map ? map->if_contains("stream") : nullptr;
  return stream && stream->is_string() ? std::string_view(stream->get_string())
                                       : std::string_view();
}

}  // namespace

StaticSnapshot::StaticSnapshot(boost::json::object defaults)
    : id_(NextId()), defaults_(std::move(defaults)) {}

void StaticSnapshot::Add(const boost::json::value& streams, const std::string& pointer,
                         std::vector<SettingsProblem>& problems) {
  const std::size_t first = entries_.size();
  if (const auto* list = streams.if_array()) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      AddEntry(std::to_string(i), (*list)[i], pointer + '/' + std::to_string(i), first, problems);
    }
  } else if (const auto* map = streams.if_object()) {
    by_key_.reserve(by_key_.size() + map->size());
    for (const auto& member : *map) {
      std::string entry_pointer = pointer;
      core::AppendPointerToken(entry_pointer, member.key());
      AddEntry(member.key(), member.value(), entry_pointer, first, problems);
    }
  } else {
    problems.push_back({pointer, "streams have to be a map"});
  }
}

void StaticSnapshot::AddEntry(std::string_view key, const boost::json::value& settings,
                              const std::string& pointer, std::size_t first_of_document,
                              std::vector<SettingsProblem>& problems) {
  std::string_view name = key;
  if (IsInteger(key)) {
    name = StreamSetting(settings);
    if (name.empty()) {
      problems.push_back(
          {pointer, "an entry with an integer key has to be named by its setting `stream`"});
      return;
    }
  }
  const auto found = by_key_.find(name);
  if (found != by_key_.end()) {
    if (found->second >= first_of_document)
      problems.push_back({pointer, "stream '" + std::string(name) + "' is configured twice"});
    return;
  }
  entries_.push_back(ReadSettings(name, defaults_, settings, pointer, problems));
  const StreamSettings& added = entries_.back();
  by_key_.emplace(added.key, entries_.size() - 1);
  if (added.pattern && added.key.ends_with('/')) regexes_.push_back(&added);
}

const StreamSettings* StaticSnapshot::FindKey(std::string_view key) const {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : &entries_[found->second];
}

const StreamSettings* StaticSnapshot::FindRegex(std::string_view stream) const {
  if (regexes_.empty()) return nullptr;
  RegexMemo& memo = RegexMemo::OfThisThread();
  if (const auto known = memo.Find(id_, stream)) return *known;
  const StreamSettings* found = SearchRegexes(stream);
  memo.Add(id_, stream, found);
  return found;
}

const StreamSettings* StaticSnapshot::SearchRegexes(std::string_view stream) const {
  for (const StreamSettings* entry : regexes_) {
    if (entry->pattern->Search(stream) == validate::MatchResult::kMatch) return entry;
  }
  return nullptr;
}

}  // namespace sluice::streams
