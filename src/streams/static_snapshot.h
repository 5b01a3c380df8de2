#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "streams/settings_reader.h"
#include "streams/stream_registry.h"

namespace sluice::streams {

// The streams of all sources but the declared ones. A name is found in one hash look-up, whatever
// dots it has; regex entries are tried in the order of their declaration, and each thread remembers
// the answers for a bounded number of names. Immutable once it is filled.
class StaticSnapshot {
 public:
  // `defaults` lie under the settings of every stream.
  explicit StaticSnapshot(boost::json::object defaults);

  // Adds the entries of one document: a map of names and regexes to settings, or a list of settings
  // with `stream`, which stands at `pointer`. An entry whose key an earlier document has is left
  // out. What is wrong is added to `problems`; the snapshot is fit for use only if nothing was
  // added. Not after the snapshot is shared.
  void Add(const boost::json::value& streams, const std::string& pointer,
           std::vector<SettingsProblem>& problems);

  const StreamSettings* FindKey(std::string_view key) const;
  // The first regex entry that matches.
  const StreamSettings* FindRegex(std::string_view stream) const;

  std::size_t size() const { return entries_.size(); }
  const StreamSettings& entry(std::size_t i) const { return entries_[i]; }
  const boost::json::object& defaults() const { return defaults_; }

 private:
  void AddEntry(std::string_view key, const boost::json::value& settings,
                const std::string& pointer, std::size_t first_of_document,
                std::vector<SettingsProblem>& problems);
  const StreamSettings* SearchRegexes(std::string_view stream) const;

  const std::uint64_t id_;  // of no other snapshot in this process
  boost::json::object defaults_;
  std::deque<StreamSettings> entries_;
  std::unordered_map<std::string_view, std::size_t> by_key_;  // views of StreamSettings::key
  std::vector<const StreamSettings*> regexes_;                // as the gate reads them: /…/
};

}  // namespace sluice::streams
