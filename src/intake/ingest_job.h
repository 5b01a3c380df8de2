#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/metrics.h"
#include "intake/error_event.h"
#include "intake/ingest.h"
#include "intake/reply.h"
#include "produce/delivery.h"

namespace sluice::intake {

struct Route;

// One request on its way through the pipeline: what its events became, the bytes of its records,
// and who waits for the answer. Lives on its I/O thread until the last delivery report; OnAllDone
// hands it back to the pipeline.
class IngestJob final : public produce::Delivery {
 public:
  using DoneFunction = void (*)(IngestJob& job, void* pipeline);

  // A record that is valid and waits to be produced, or was.
  struct Accepted {
    std::uint32_t event;        // index in the request
    std::uint32_t value_begin;  // in `bytes`
    std::uint32_t value_end;
    std::uint32_t key_begin;  // equal to key_end: no key
    std::uint32_t key_end;
    produce::Topic* topic;
    core::RouteCounters* counters;
    std::int64_t timestamp_ms;
  };
  struct Failed {
    std::uint32_t event;
    EventFailure failure;
  };

  // An accepted event that somebody watches.
  struct Watched {
    std::uint32_t slot;  // in `accepted`
    std::string stream;
    std::string schema_uri;
  };

  IngestJob(DoneFunction done, void* pipeline) : done_(done), pipeline_(pipeline) {}

  std::shared_ptr<ReplySink> sink;  // null: answered, or an event of our own
  Permit permit;
  produce::DeliveryMode mode = produce::DeliveryMode::kGuaranteed;
  bool own_events = false;  // error events: not counted as received, failures are only logged
  std::optional<ErrorEvent>
      error_event;         // of own events, to be sent for the older schema if need be
  std::string request_id;  // for the log, as the next three
  std::string trace_id;
  std::string failed_stream;  // of the first event that failed
  std::string failed_schema_uri;
  std::uint64_t body_bytes = 0;
  std::uint32_t events = 0;
  std::string bytes;               // of all records; fixed once producing began
  std::vector<Accepted> accepted;  // accepted[i] has slot i
  std::vector<Failed> failed;
  std::vector<Watched> watched;
  core::Durability durability = core::Durability::kKafka;  // the weakest of what was delivered

  std::chrono::steady_clock::time_point stage_start{};
  std::chrono::steady_clock::time_point deadline{};  // of the answer, once it waits
  bool linked = false;                               // is in the pipeline's list of waiting jobs
  IngestJob* previous = nullptr;
  IngestJob* next = nullptr;
  bool out_of_memory = false;  // no room to tell about its failures: it fails as a whole
  bool launched = false;       // its records were handed to the producer
  bool done_inline = false;    // the last report came while they were handed over
  bool timed_out = false;      // answered without waiting further; the reports still come

  produce::Record RecordOf(const Accepted& a) const {
    produce::Record record;
    const std::string_view all(bytes);
    record.value = all.substr(a.value_begin, a.value_end - a.value_begin);
    record.key = all.substr(a.key_begin, a.key_end - a.key_begin);
    record.has_key = a.key_begin != a.key_end;
    record.timestamp_ms = a.timestamp_ms;
    return record;
  }

 private:
  void OnAllDone() override { done_(*this, pipeline_); }

  DoneFunction done_;
  void* pipeline_;
};

}  // namespace sluice::intake
