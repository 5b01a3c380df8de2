#pragma once

#include <boost/json/object.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "streams/settings_reader.h"
#include "streams/stream_registry.h"
#include "validate/pattern.h"

namespace sluice::streams {

// A snapshot made from one map of stream names and regexes to settings. A name is found in one hash
// look-up, whatever dots it has; regex entries are tried in the order of their declaration.
class StaticSnapshot final : public StreamSnapshot {
 public:
  // Reads all entries of `streams`, which stands at `pointer` in its document. What is wrong is
  // added to `problems`; the snapshot is fit for use only if nothing was added. Never null.
  static std::shared_ptr<StaticSnapshot> Build(const boost::json::object& streams,
                                               const std::string& pointer,
                                               std::vector<SettingsProblem>& problems);

  const StreamSettings* Find(std::string_view stream) const override;
  std::size_t size() const override { return entries_.size(); }

  // All entries in the order of their declaration; for serving the configuration.
  const std::vector<std::unique_ptr<const StreamSettings>>& entries() const { return entries_; }

 private:
  struct RegexEntry {
    std::unique_ptr<const validate::Pattern> pattern;
    const StreamSettings* settings;
  };
  void AddEntry(std::string_view key, const boost::json::value& settings,
                const std::string& pointer, std::vector<SettingsProblem>& problems);

  std::vector<std::unique_ptr<const StreamSettings>> entries_;
  std::unordered_map<std::string_view, const StreamSettings*>
      by_key_;  // views of StreamSettings::key
  std::vector<RegexEntry> regexes_;
};

}  // namespace sluice::streams
