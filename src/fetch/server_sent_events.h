#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace sluice::fetch {

// Takes the bytes of a text/event-stream apart. Knows the fields `event` and `data`; comments are
// skipped.
class ServerSentEvents {
 public:
  // False: enough.
  using OnEvent = std::function<bool(std::string_view name, std::string_view data)>;

  explicit ServerSentEvents(OnEvent on_event) : on_event_(std::move(on_event)) {}

  // Takes what has come, in pieces of any size. False once `on_event` said so.
  bool Add(std::string_view bytes);

 private:
  bool TakeLine(std::string_view line);

  OnEvent on_event_;
  std::string rest_;  // the beginning of a line
  std::string name_;
  std::string data_;
};

}  // namespace sluice::fetch
