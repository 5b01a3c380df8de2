#include "fetch/server_sent_events.h"

#include <utility>

namespace sluice::fetch {

bool ServerSentEvents::Add(std::string_view bytes) {
  rest_ += bytes;
  std::size_t begin = 0;
  for (std::size_t end; (end = rest_.find('\n', begin)) != std::string::npos; begin = end + 1) {
    std::string_view line = std::string_view(rest_).substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!TakeLine(line)) return false;
  }
  rest_.erase(0, begin);
  return true;
}

bool ServerSentEvents::TakeLine(std::string_view line) {
  if (line.empty()) {
    const std::string name = std::exchange(name_, {});
    const std::string data = std::exchange(data_, {});
    return data.empty() || on_event_(name.empty() ? "message" : name, data);
  }
  const std::size_t colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? "" : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "event") {
    name_ = value;
  } else if (field == "data") {
    if (!data_.empty()) data_ += '\n';
    data_ += value;
  }
  return true;
}

}  // namespace sluice::fetch
