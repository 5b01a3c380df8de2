#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.h"
#include "intake/seen_event.h"

namespace sluice::intake {

// The last events of each stream that were not accepted. Bounded by the number of streams, of
// events for each and the size of an event; of streams above the bound the one that had none for
// longest is forgotten, names that clients made up before those that are configured. Any thread.
class RefusedEvents {
 public:
  enum class StreamIs : std::uint8_t { kConfigured, kMadeUp };
  using EventPtr = std::shared_ptr<const SeenEvent>;

  // `options.keep` is above 0.
  explicit RefusedEvents(const core::RefusedOptions& options);

  void Add(SeenEvent seen, StreamIs stream_is);

  // The newest first, at most `limit`. Of one stream, or, if `stream` is empty, of all.
  std::vector<EventPtr> Last(std::string_view stream, std::size_t limit) const;
  // Of requests that were refused before a stream was known.
  std::vector<EventPtr> LastWithoutStream(std::size_t limit) const;

  struct StreamCount {
    std::string stream;  // empty: see LastWithoutStream
    std::size_t kept;
  };
  std::vector<StreamCount> Streams() const;

 private:
  struct Stream {
    std::deque<EventPtr> events;
    std::uint64_t last = 0;  // number of its newest event
    StreamIs is = StreamIs::kMadeUp;
  };
  void MakeRoom();

  const std::size_t keep_;
  const std::size_t max_streams_;
  mutable std::mutex mutex_;
  std::uint64_t added_ = 0;
  std::map<std::string, Stream, std::less<>> streams_;
};

}  // namespace sluice::intake
