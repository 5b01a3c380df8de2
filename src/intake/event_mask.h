#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/config.h"
#include "intake/seen_event.h"
#include "validate/reader.h"

namespace sluice::intake {

// Makes events fit to be shown: without the values of the fields of `refused.mask`, and cut to
// `refused.max_event_bytes`. A path goes through arrays as if they were not there, its dots may
// also stand in keys, and every one of duplicate keys counts, so what might be the field is hidden
// as well. One per thread; keeps its tables.
class EventMask {
 public:
  // Longer events are not read, only their size is told.
  static constexpr std::size_t kMaxReadBytes = 256u << 10;

  explicit EventMask(const core::RefusedOptions& options, int max_depth);

  // `json` is an event as it would be sent on. What cannot be read as JSON is not shown.
  ShownText Show(std::string_view json);

  // `text` without what the last Show hid: for messages, which may quote the event.
  std::string Redacted(std::string_view text) const;

 private:
  void Hide(std::string_view json);
  void Remember(const validate::Node& value);

  const std::size_t max_bytes_;
  validate::ReadOptions read_options_;
  std::unordered_set<std::string> paths_;
  validate::Reader reader_;
  validate::Document document_;
  std::string padded_;
  std::string masked_;
  std::vector<std::string> hidden_;  // texts that Redacted takes out
  bool hid_container_ = false;       // whose parts a message may quote
};

}  // namespace sluice::intake
