#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/config.h"
#include "core/error.h"
#include "core/metrics.h"
#include "produce/delivery.h"

namespace sluice::produce {

// What a spool is able to do; the value of sluice_spool_state.
enum class SpoolState : std::uint8_t {
  kOff,     // there is none
  kOn,      // takes events
  kFull,    // spool.max_bytes or spool.max_age is reached: refuses new ones, replays
  kBroken,  // the disk is full or fails: refuses new ones, tries again
};

enum class DeliveryMode : std::uint8_t { kGuaranteed, kHasty };

using core::Durability;

// A destination for records, resolved once per route and kept: made by Producer::OpenTopic, owned
// by the producer.
class Topic {
 public:
  virtual ~Topic() = default;
  const std::string& name() const { return name_; }

 protected:
  explicit Topic(std::string_view name) : name_(name) {}

 private:
  std::string name_;
};

// One record. The bytes stay valid until the slot is completed: the request owns them.
struct Record {
  std::string_view value;
  std::string_view key;  // meaningful if has_key
  bool has_key = false;
  std::int64_t timestamp_ms = 0;  // epoch; 0: the broker's or file's own
};

struct StopReport {
  // Records that were taken and neither delivered, nor spooled, nor refused to their requester.
  std::uint64_t lost = 0;
  std::uint64_t spooled = 0;  // that wait on disk for the next start
};

// Where valid events go. Any thread may call Produce; it never blocks, and completes the slot
// exactly once: inside the call or later from a thread of the producer.
class Producer {
 public:
  virtual ~Producer() = default;

  virtual core::Result<void> Start() = 0;

  // Never null. Cheap after the first time for a name, but takes a lock: keep the result.
  virtual Topic* OpenTopic(std::string_view name) = 0;

  virtual void Produce(Topic& topic, DeliveryMode mode, const Record& record,
                       DeliverySlot* slot) = 0;

  // Marks the end of the records of one request, so that a producer may wake its thread once.
  // Cheap.
  virtual void EndOfBatch() {}

  // Bytes that wait to be delivered and the bound, for admission and readiness.
  virtual std::uint64_t queued_bytes() const = 0;
  virtual std::uint64_t max_queued_bytes() const = 0;

  // Whether it would take a record of that mode now, asked before a request is looked at: false
  // where the queue is nearly full. Cheap, any thread.
  virtual bool HasRoom(DeliveryMode mode) const {
    static_cast<void>(mode);
    return true;
  }

  // How long a queue as full as now takes to drain, for Retry-After: 1 to 60 s.
  virtual std::chrono::seconds DrainTime(DeliveryMode mode) const {
    static_cast<void>(mode);
    return std::chrono::seconds(2);
  }

  // Empty if events can be delivered as far as is known, else why not ("all brokers down"); for
  // /readyz.
  virtual std::string trouble() const { return {}; }

  // Nothing where there is one place for records only. Else empty while they go to the usual one,
  // or why they go elsewhere.
  virtual std::optional<std::string> detour() const { return std::nullopt; }

  // What the spool is able to do, and why no more: empty if nothing can be said against it.
  virtual SpoolState spool_state() const { return SpoolState::kOff; }
  // Records of it that Kafka has not confirmed yet.
  virtual std::uint64_t spool_waiting() const { return 0; }
  virtual std::string spool_trouble() const { return {}; }

  // When the thread that is furthest behind last took what has come back from Kafka; now, where no
  // thread has to. Between Start and Stop, any thread.
  virtual std::chrono::steady_clock::time_point last_poll() const {
    return std::chrono::steady_clock::now();
  }

  // Delivers what is queued until `deadline`, fails the rest with kShuttingDown or
  // kDeliveryTimeout, ends the threads.
  virtual StopReport Stop(std::chrono::steady_clock::time_point deadline) = 0;
};

// Makes the producer that the options name. Fails with what to change (a data folder that cannot be
// written, an entry of kafka.conf that librdkafka does not know).
core::Result<std::unique_ptr<Producer>> MakeProducer(const core::OutputOptions& options,
                                                     std::string_view user_agent,
                                                     core::Metrics& metrics);

}  // namespace sluice::produce
