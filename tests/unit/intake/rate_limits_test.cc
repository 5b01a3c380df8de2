#include "intake/rate_limits.h"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

namespace sluice::intake {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

core::RateOptions Rates(int requests, int events, std::uint64_t bytes) {
  core::RateOptions rates;
  rates.requests = requests;
  rates.events = events;
  rates.bytes = bytes;
  return rates;
}

RateTable::Key KeyOf(int n) {
  RateTable::Key key{};
  key[0] = static_cast<unsigned char>(n);
  key[1] = static_cast<unsigned char>(n >> 8);
  key[15] = 1;
  return key;
}

// How many requests of `key` pass at `now`.
int Passing(RateTable& table, const RateTable::Key& key, RateTable::Clock::time_point now,
            int tries) {
  int passed = 0;
  for (int i = 0; i < tries; ++i) passed += table.Take(key, {.requests = 1}, now) ? 0 : 1;
  return passed;
}

TEST_CASE("RateTable: a burst passes, then the rate does, and the wait is exact") {
  RateTable table(Rates(10, 0, 0), seconds(2), 100);
  const RateTable::Clock::time_point start{seconds(1000)};
  CHECK(Passing(table, KeyOf(1), start, 100) == 20);
  CHECK(Passing(table, KeyOf(1), start + seconds(1), 100) == 10);
  const auto refusal = table.Take(KeyOf(1), {.requests = 1}, start + seconds(1));
  REQUIRE(refusal);
  CHECK(refusal->kind == RateKind::kRequests);
  CHECK(refusal->wait == milliseconds(100));
  CHECK_FALSE(table.Take(KeyOf(1), {.requests = 1}, start + seconds(1) + refusal->wait));
  CHECK(Passing(table, KeyOf(2), start + seconds(1), 100) == 20);
}

TEST_CASE("RateTable: of several kinds all are taken or none") {
  RateTable table(Rates(10, 0, 1000), seconds(1), 100);
  const RateTable::Clock::time_point start{seconds(1000)};
  CHECK_FALSE(table.Take(KeyOf(1), {.requests = 1, .bytes = 1000}, start));
  const auto refusal = table.Take(KeyOf(1), {.requests = 1, .bytes = 1}, start);
  REQUIRE(refusal);
  CHECK(refusal->kind == RateKind::kBytes);
  CHECK(Passing(table, KeyOf(1), start, 100) == 9);
}

TEST_CASE("RateTable: what is larger than a bucket passes when it is full, and is paid for") {
  RateTable table(Rates(0, 0, 1000), seconds(2), 100);
  const RateTable::Clock::time_point start{seconds(1000)};
  CHECK_FALSE(table.Take(KeyOf(1), {.bytes = 10'000}, start));
  const auto refusal = table.Take(KeyOf(1), {.bytes = 1}, start + seconds(1));
  REQUIRE(refusal);
  CHECK(refusal->wait == milliseconds(7001));  // 8 s of debt, less the one, and one byte
  CHECK(table.Take(KeyOf(1), {.bytes = 10'000}, start + seconds(9)));
  CHECK_FALSE(table.Take(KeyOf(1), {.bytes = 10'000}, start + seconds(10)));
}

TEST_CASE("RateTable: never grows beyond its bound, and no flood of keys gets around a limit") {
  RateTable table(Rates(1, 0, 0), seconds(1), 8);
  const RateTable::Clock::time_point start{seconds(1000)};
  int passed = 0;
  for (int i = 0; i < 1000; ++i) passed += Passing(table, KeyOf(i), start, 1);
  CHECK(table.size() == 8);
  CHECK(table.shared() == 992);
  CHECK(passed == 9);  // one for each bucket, and the common one
  // A second later all are full again and make room.
  CHECK(Passing(table, KeyOf(2000), start + seconds(1), 2) == 1);
  CHECK(table.size() == 8);
  CHECK(table.shared() == 992);
}

TEST_CASE("RateTable: other rates count from the next request on") {
  RateTable table(Rates(0, 0, 0), seconds(1), 100);
  CHECK_FALSE(table.any());
  const RateTable::Clock::time_point start{seconds(1000)};
  CHECK(Passing(table, KeyOf(1), start, 1000) == 1000);
  table.Configure(Rates(5, 0, 0), seconds(1));
  CHECK(table.any());
  CHECK(Passing(table, KeyOf(1), start, 1000) == 5);
}

TEST_CASE("RateTable: threads share one limit") {
  RateTable table(Rates(1000, 0, 0), seconds(1), 100'000);
  const RateTable::Clock::time_point start{seconds(1000)};
  std::atomic<int> passed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      passed += Passing(table, KeyOf(1), start, 1000);
      for (int i = 0; i < 500; ++i) Passing(table, KeyOf(1000 * t + i + 2), start, 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(passed == 1000);
}

TEST_CASE("AddressKeyOf: IPv6 by its /64, mapped IPv4 as IPv4, nonsense as none") {
  CHECK(AddressKeyOf("2001:db8:1:2:3::4") == AddressKeyOf("2001:db8:1:2:ffff::1"));
  CHECK(AddressKeyOf("2001:db8:1:2::1") != AddressKeyOf("2001:db8:1:3::1"));
  CHECK(AddressKeyOf("::ffff:192.0.2.1") == AddressKeyOf("192.0.2.1"));
  CHECK(AddressKeyOf("192.0.2.1") != AddressKeyOf("192.0.2.2"));
  CHECK(AddressKeyOf("unknown") == AddressKey{});
  CHECK(AddressKeyOf("") == AddressKey{});
}

struct Limits {
  core::LimitOptions options;
  core::Metrics metrics{core::MetricOptions{}, "test"};
};

TEST_CASE("RateLimits: a refusal names the key and is counted") {
  Limits l;
  l.options.client.events = 10;
  l.options.rate_burst = seconds(1);
  RateLimits limits(l.options, l.metrics);
  CHECK(limits.limits_clients());
  CHECK_FALSE(limits.limits_streams());
  const AddressKey client = AddressKeyOf("192.0.2.1");
  CHECK_FALSE(limits.TakeClient(client, {.events = 100}));
  const auto too_fast = limits.TakeClient(client, {.events = 1});
  REQUIRE(too_fast);
  CHECK(too_fast->error.code == core::ErrorCode::kRateLimited);
  CHECK(too_fast->error.message.find("limits.client.events") != std::string::npos);
  CHECK(too_fast->retry_after_seconds >= 9);
  CHECK(too_fast->retry_after_seconds <= 10);
  CHECK_FALSE(limits.TakeClient({}, {.events = 1}));  // without an address: a unix socket
  CHECK(l.metrics.Scrape().find("sluice_rate_limited_total{kind=\"events\",of=\"client\"} 1") !=
        std::string::npos);
}

TEST_CASE("RateLimits: streams have buckets of their own") {
  Limits l;
  l.options.stream.events = 1;
  l.options.rate_burst = seconds(1);
  RateLimits limits(l.options, l.metrics);
  CHECK_FALSE(limits.TakeStream("a", {.events = 1}));
  CHECK(limits.TakeStream("a", {.events = 1}));
  CHECK_FALSE(limits.TakeStream("b", {.events = 1}));
}

TEST_CASE("RateLimits: connections of an address are counted while they are open") {
  Limits l;
  l.options.max_connections_per_address = 2;
  RateLimits limits(l.options, l.metrics);
  const AddressKey client = AddressKeyOf("192.0.2.1");
  auto first = limits.Connect(client);
  auto second = limits.Connect(client);
  REQUIRE(first);
  REQUIRE(second);
  CHECK_FALSE(limits.Connect(client));
  CHECK(limits.Connect(AddressKeyOf("192.0.2.2")));
  first->Free();
  AddressPlace moved = std::move(*second);
  CHECK(limits.Connect(client));
  moved.Free();
}

}  // namespace
}  // namespace sluice::intake
