#include "intake/event_mask.h"

#include <utility>

#include "validate/json_string.h"

namespace sluice::intake {
namespace {

using validate::Kind;
using validate::Node;

constexpr std::string_view kStars = "***";
constexpr std::string_view kMaskedValue = "\"***\"";
constexpr std::size_t kMinHiddenBytes = 3;  // shorter ones would be found in any message
constexpr std::size_t kLargeText = 64u << 10;

// At most `max_bytes`, not in the middle of a character.
void CutText(std::string& text, std::size_t max_bytes) {
  std::size_t end = max_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
}

}  // namespace

EventMask::EventMask(const core::RefusedOptions& options, int max_depth)
    : max_bytes_(static_cast<std::size_t>(options.max_event_bytes)),
      paths_(options.mask.begin(), options.mask.end()) {
  read_options_.max_depth = max_depth;
}

ShownText EventMask::Show(std::string_view json) {
  hidden_.clear();
  hid_container_ = false;
  ShownText shown;
  shown.bytes = json.size();
  if (json.empty() || json.size() > kMaxReadBytes) return shown;
  padded_.assign(json);
  padded_.resize(json.size() + validate::kReadPadding);
  const auto read =
      reader_.Read(std::string_view(padded_).substr(0, json.size()), read_options_, document_);
  if (read.has_value()) {
    masked_.clear();
    Hide(document_.body);
    validate::AppendWithoutBlanks(masked_, shown.text);
    shown.whole = shown.text.size() <= max_bytes_;
    if (!shown.whole) CutText(shown.text, max_bytes_);
  }
  if (json.size() > kLargeText) {
    reader_.Shrink();
    std::vector<Node>().swap(document_.nodes);
    document_.Clear();
  }
  return shown;
}

// Copies the text into masked_, the values at masked paths left out.
void EventMask::Hide(std::string_view json) {
  struct Level {
    std::uint32_t end;
    std::size_t path;  // length of the path of the container itself
  };
  std::vector<Level> levels;
  std::string path;
  const std::vector<Node>& nodes = document_.nodes;
  const std::uint32_t end = nodes[0].nodes();
  std::uint32_t copied = 0;
  for (std::uint32_t at = 0; at < end;) {
    while (!levels.empty() && levels.back().end == at) {
      path.resize(levels.back().path);
      levels.pop_back();
    }
    const Node& node = nodes[at];
    if (node.is_container()) levels.push_back({at + node.nodes(), path.size()});
    if (node.kind() != Kind::kKey) {
      ++at;
      continue;
    }
    path.resize(levels.back().path);
    if (!path.empty()) path += '.';
    path += document_.String(node);
    ++at;
    if (!paths_.contains(path)) continue;
    const Node& value = nodes[at];
    Remember(value);
    masked_ += json.substr(copied, value.begin - copied);
    masked_ += kMaskedValue;
    copied = value.end;
    at += value.nodes();
  }
  masked_ += json.substr(copied);
}

void EventMask::Remember(const Node& value) {
  if (value.is_container()) {
    hid_container_ = true;
    return;
  }
  const std::string_view raw = document_.Text(value);
  if (value.kind() == Kind::kString) {
    const std::string_view decoded = document_.String(value);
    if (decoded.size() >= kMinHiddenBytes) hidden_.emplace_back(decoded);
    if (raw.size() >= kMinHiddenBytes + 2) hidden_.emplace_back(raw.substr(1, raw.size() - 2));
  } else if (value.kind() == Kind::kNumber && raw.size() >= kMinHiddenBytes) {
    hidden_.emplace_back(raw);
  }
}

std::string EventMask::Redacted(std::string_view text) const {
  if (hid_container_) return "(not shown: a masked field of the event is no simple value)";
  std::string redacted(text);
  for (const std::string& hidden : hidden_) {
    for (std::size_t at = 0; (at = redacted.find(hidden, at)) != std::string::npos;) {
      redacted.replace(at, hidden.size(), kStars);
      at += kStars.size();
    }
  }
  return redacted;
}

}  // namespace sluice::intake
