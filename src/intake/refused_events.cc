#include "intake/refused_events.h"

#include <algorithm>
#include <utility>

namespace sluice::intake {
namespace {

using EventPtr = RefusedEvents::EventPtr;

}  // namespace

RefusedEvents::RefusedEvents(const core::RefusedOptions& options)
    : keep_(static_cast<std::size_t>(options.keep)),
      max_streams_(static_cast<std::size_t>(options.max_streams)) {}

void RefusedEvents::Add(SeenEvent seen, StreamIs stream_is) {
  auto event = std::make_shared<const SeenEvent>(std::move(seen));
  const std::lock_guard lock(mutex_);
  auto found = streams_.find(event->stream);
  if (found == streams_.end()) {
    if (streams_.size() >= max_streams_) MakeRoom();
    found = streams_.emplace(event->stream, Stream{}).first;
  }
  Stream& stream = found->second;
  stream.is = stream_is;
  stream.last = ++added_;
  stream.events.push_back(std::move(event));
  if (stream.events.size() > keep_) stream.events.pop_front();
}

void RefusedEvents::MakeRoom() {
  const auto oldest =
      std::min_element(streams_.begin(), streams_.end(), [](const auto& a, const auto& b) {
        const bool a_made_up = a.second.is == StreamIs::kMadeUp;
        const bool b_made_up = b.second.is == StreamIs::kMadeUp;
        return a_made_up != b_made_up ? a_made_up : a.second.last < b.second.last;
      });
  if (oldest != streams_.end()) streams_.erase(oldest);
}

std::vector<EventPtr> RefusedEvents::Last(std::string_view stream, std::size_t limit) const {
  std::vector<EventPtr> events;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, kept] : streams_) {
      if (!stream.empty() && name != stream) continue;
      const std::size_t count = std::min(limit, kept.events.size());
      events.insert(events.end(), kept.events.rbegin(),
                    kept.events.rbegin() + static_cast<std::ptrdiff_t>(count));
    }
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const EventPtr& a, const EventPtr& b) { return a->time_ms > b->time_ms; });
  if (events.size() > limit) events.resize(limit);
  return events;
}

std::vector<EventPtr> RefusedEvents::LastWithoutStream(std::size_t limit) const {
  const std::lock_guard lock(mutex_);
  const auto found = streams_.find(std::string_view());
  if (found == streams_.end()) return {};
  const auto& events = found->second.events;
  const std::size_t count = std::min(limit, events.size());
  return {events.rbegin(), events.rbegin() + static_cast<std::ptrdiff_t>(count)};
}

std::vector<RefusedEvents::StreamCount> RefusedEvents::Streams() const {
  const std::lock_guard lock(mutex_);
  std::vector<StreamCount> counts;
  for (const auto& [name, kept] : streams_) counts.push_back({name, kept.events.size()});
  return counts;
}

}  // namespace sluice::intake
