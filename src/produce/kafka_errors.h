#pragma once

#include <librdkafka/rdkafka.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.h"

namespace sluice::produce {

// Whether a record is in its topic, as far as a delivery report can tell.
enum class Persistence : std::uint8_t { kYes, kNo, kPerhaps };

// What may be done with a record that is not known to be persisted.
enum class Replay : std::uint8_t {
  kNever,           // its requester is told
  kAlone,           // the whole batch was refused for one of its records: try each by itself
  kAloneNow,        // as kAlone; the record's timestamp may be outside of the broker's window
  kNextGeneration,  // this librdkafka instance is broken for good or gave it back: try the next one
};

// What a delivery report, or a refusal by rd_kafka_produce, means.
struct Fate {
  Persistence persistence = Persistence::kNo;
  core::ErrorCode code = core::ErrorCode::kInternal;  // if not kYes
  Replay replay = Replay::kNever;
};

// From librdkafka's code and the message's status. The status counts more than the code: what is
// persisted is delivered, whatever else went wrong.
Fate ClassifyReport(rd_kafka_resp_err_t error, rd_kafka_msg_status_t status);

// For a person: librdkafka's text (the original's clients know it), the topic where it helps, and
// whether the record may have been written all the same.
std::string DescribeFate(rd_kafka_resp_err_t error, const Fate& fate, std::string_view topic);

}  // namespace sluice::produce
