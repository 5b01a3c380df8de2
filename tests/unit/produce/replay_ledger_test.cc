#include "produce/replay_ledger.h"

#include <doctest/doctest.h>

namespace sluice::produce {
namespace {

using std::chrono::milliseconds;
const ReplayLedger::Time kStart{std::chrono::hours(1)};

}  // namespace

TEST_CASE("ReplayLedger: replays end with the window, counted from the first time") {
  ReplayLedger ledger(milliseconds(100));
  DeliverySlot slot;
  CHECK(ledger.Admit(&slot, kStart, kStart + milliseconds(50)));
  CHECK(ledger.Admit(&slot, kStart + milliseconds(60), kStart + milliseconds(100)));
  CHECK_FALSE(ledger.Admit(&slot, kStart + milliseconds(100), kStart + milliseconds(101)));
}

TEST_CASE("ReplayLedger: replays end with their number") {
  ReplayLedger ledger(milliseconds(100));
  DeliverySlot slot;
  for (int i = 0; i < ReplayLedger::kMaxReplays; ++i) CHECK(ledger.Admit(&slot, kStart, kStart));
  CHECK_FALSE(ledger.Admit(&slot, kStart, kStart));
}

TEST_CASE("ReplayLedger: a timestamp is replaced once, and only of a record that is known") {
  ReplayLedger ledger(milliseconds(100));
  DeliverySlot slot;
  CHECK_FALSE(ledger.AdmitRestamp(&slot));
  CHECK(ledger.Admit(&slot, kStart, kStart));
  CHECK(ledger.AdmitRestamp(&slot));
  CHECK_FALSE(ledger.AdmitRestamp(&slot));
}

TEST_CASE("ReplayLedger: a slot that is done is forgotten") {
  ReplayLedger ledger(milliseconds(100));
  DeliverySlot slot;
  DeliverySlot other;
  ledger.Forget(&slot);
  CHECK(ledger.Admit(&slot, kStart, kStart));
  CHECK(ledger.Admit(&other, kStart, kStart));
  CHECK(ledger.size() == 2);
  ledger.Forget(&slot);
  ledger.Forget(&other);
  CHECK(ledger.size() == 0);
  CHECK(ledger.Admit(&slot, kStart + milliseconds(500), kStart + milliseconds(500)));
}

}  // namespace sluice::produce
