#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/explain_changes.h"
#include "cli/explain_run.h"
#include "cli/explain_violation.h"

namespace sluice::cli {

enum class StepState : std::uint8_t {
  kGood,
  kBad,      // here it ends
  kSkipped,  // not reached
};
std::string_view ToString(StepState state);

// One decision about an event.
struct Step {
  std::string name;
  StepState state = StepState::kGood;
  std::string text;  // a sentence
  std::vector<std::string> hints;
  std::vector<Change> changes;
  std::vector<Violation> violations;
};

// All decisions about one event, in order.
struct Explanation {
  int status = 0;    // of the answer
  std::string code;  // why it is not accepted; empty: it is
  std::vector<Step> steps;
  std::optional<ProducedRecord> record;
};

// Runs one event through `daemon` and says what happened. `text` is a body: the event's JSON text,
// or an array of it alone, or what should be one of them.
Explanation ExplainEvent(DryDaemon& daemon, std::string_view text,
                         const DryDaemon::Headers& headers);

}  // namespace sluice::cli
