#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "streams/stream_query.h"

namespace sluice::intake {

// An answer that was made once and is served as often as it is asked for.
struct StreamConfigDocument {
  std::string body;
  std::string gzip;  // empty: not worth it
  std::string etag;  // with its quotes
};
using DocumentPtr = std::shared_ptr<const StreamConfigDocument>;

// A weak entity tag of a body: the same bytes have the same tag, in any process.
std::string EntityTag(std::string_view body);
// Whether a header If-None-Match has the tag; as RFC 9110 compares for GET.
bool HasEntityTag(std::string_view if_none_match, std::string_view etag);

// Logs that a name was asked for which is not configured, with the ids of who asked, if there are
// any.
void LogUnknownStream(std::string_view name, std::string_view request_id,
                      std::string_view trace_id);

// The answers about stream configuration that take more than some look-ups: all entries, or those
// that constraints select. Each is made once for each snapshot, as long as there is room for it: of
// a small snapshot at once, of a large one on a thread of its own. Any thread.
class StreamConfigPages {
 public:
  // Called once, on any thread; null: the service stops.
  using Later = std::function<void(DocumentPtr)>;

  // `registry` outlives this, and is configured. `compression_level` 0: no gzip.
  StreamConfigPages(const streams::StreamRegistry& registry, int compression_level);
  ~StreamConfigPages();

  // Another level of compression, for answers that are made from now on.
  void Use(int compression_level);

  const streams::StreamRegistry& registry() const { return registry_; }

  // The answer to `query` by the current snapshot, which is not null. If it has to be made and that
  // would take long: null, and `later` is called.
  DocumentPtr Get(streams::ServedAs served_as, const streams::StreamQuery& query, Later later);

  // Calls everyone who waits, with null; ends the thread. What would have to be made on it is
  // answered with null from then on.
  void Stop();

 private:
  struct Impl;
  const streams::StreamRegistry& registry_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::intake
