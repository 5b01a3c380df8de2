#include "produce/fallback_switch.h"

#include <doctest/doctest.h>

namespace sluice::produce {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Sign = FallbackSwitch::Sign;

// A switch and a clock that moves by a second for each sign.
struct Fixture {
  FallbackSwitch::Time now{};
  FallbackSwitch decision{{.after = seconds(10), .back_after = seconds(20)}, now};

  bool After(milliseconds step, Sign sign) {
    now += step;
    return decision.Observe(sign, now);
  }
  // How many of the signs, up to `most`, it took until the target changed; 0: it did not.
  int CountTo(Sign sign, int most) {
    for (int i = 1; i <= most; ++i) {
      if (After(seconds(1), sign)) return i;
    }
    return 0;
  }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "FallbackSwitch: away once the first cluster was bad for `after`") {
  CHECK(CountTo(Sign::kWell, 100) == 0);
  CHECK(CountTo(Sign::kOutOfReach, 100) == 10);
  CHECK(decision.target() == KafkaTarget::kFallback);
  CHECK(CountTo(Sign::kOutOfReach, 100) == 0);  // and it stays there
}

TEST_CASE_FIXTURE(Fixture, "FallbackSwitch: one good sign begins the wait anew") {
  for (int i = 0; i < 20; ++i) {
    CHECK(CountTo(Sign::kOutOfReach, 9) == 0);
    CHECK_FALSE(After(seconds(1), Sign::kWell));
  }
  CHECK(decision.target() == KafkaTarget::kFirst);
  CHECK(CountTo(Sign::kOutOfReach, 100) == 10);
}

TEST_CASE_FIXTURE(Fixture, "FallbackSwitch: back only after `back_after` without a bad sign") {
  CHECK(CountTo(Sign::kOutOfReach, 100) == 10);
  for (int i = 0; i < 20; ++i) {
    CHECK(CountTo(Sign::kWell, 19) == 0);
    CHECK_FALSE(After(seconds(1), Sign::kOutOfReach));
  }
  CHECK(decision.target() == KafkaTarget::kFallback);
  CHECK(CountTo(Sign::kWell, 100) == 20);
  CHECK(decision.target() == KafkaTarget::kFirst);
  CHECK(CountTo(Sign::kOutOfReach, 100) == 10);  // and away again
}

TEST_CASE_FIXTURE(Fixture, "FallbackSwitch: a first cluster that never answered is left too") {
  CHECK(CountTo(Sign::kOutOfReach, 100) == 10);
}

TEST_CASE_FIXTURE(Fixture, "FallbackSwitch: a time in which nobody looked counts for little") {
  CHECK_FALSE(After(std::chrono::hours(1), Sign::kOutOfReach));
  CHECK(CountTo(Sign::kOutOfReach, 100) == 5);
  CHECK_FALSE(After(std::chrono::hours(1), Sign::kWell));
  CHECK(CountTo(Sign::kWell, 100) == 15);
}

TEST_CASE_FIXTURE(Fixture, "FallbackSwitch: a clock that stands still decides nothing") {
  for (int i = 0; i < 1000; ++i) CHECK_FALSE(After(milliseconds(0), Sign::kOutOfReach));
  CHECK(CountTo(Sign::kOutOfReach, 100) == 10);
}

}  // namespace sluice::produce
