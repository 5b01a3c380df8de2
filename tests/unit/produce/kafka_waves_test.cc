#include "produce/kafka_waves.h"

#include <doctest/doctest.h>

#include <string>
#include <thread>

namespace sluice::produce {
namespace {

using std::chrono::milliseconds;

Record RecordOf(std::string_view value) {
  Record record;
  record.value = value;
  return record;
}

struct Fixture {
  explicit Fixture(KafkaWaves::Options options = {.linger = milliseconds(1)})
      : waves(options, held, [this](const Record& record, DeliverySlot*) {
          if (answer == RD_KAFKA_RESP_ERR_NO_ERROR) sent += record.value;
          return answer;
        }) {}

  // One record for each letter.
  void Produce(std::string_view letters) {
    for (std::size_t i = 0; i < letters.size(); ++i)
      CHECK(waves.Produce(RecordOf(letters.substr(i, 1)), nullptr, now) ==
            RD_KAFKA_RESP_ERR_NO_ERROR);
  }

  KafkaWaves::Time now{std::chrono::hours(1)};
  std::atomic<std::int64_t> held{0};
  rd_kafka_resp_err_t answer = RD_KAFKA_RESP_ERR_NO_ERROR;
  std::string sent;
  std::vector<KafkaWaves::Refused> refused;
  KafkaWaves waves;
};

}  // namespace

TEST_CASE("KafkaWaves: what comes within the linger goes with the first, what comes later waits") {
  Fixture f;
  f.Produce("abcdefgh");
  CHECK(f.sent == "abcdefgh");
  f.now += milliseconds(2);
  f.Produce("ijk");
  CHECK(f.sent == "abcdefgh");
  CHECK(f.held == 3);
  f.waves.OnReports(8, f.now, f.refused);
  CHECK(f.sent == "abcdefghijk");
  CHECK(f.held == 0);
}

TEST_CASE("KafkaWaves: while only a few are on their way nothing waits") {
  Fixture f;
  for (const char* letter : {"a", "b", "c", "d", "e"}) {
    f.Produce(letter);
    f.now += milliseconds(2);
  }
  CHECK(f.sent == "abcde");
  f.Produce("f");
  CHECK(f.sent == "abcde");
  f.waves.OnReports(1, f.now, f.refused);
  CHECK(f.sent == "abcdef");
}

TEST_CASE("KafkaWaves: an array is not torn by the number of those on their way") {
  Fixture f;
  f.Produce("abc");
  f.now += milliseconds(2);
  f.Produce("defghijklmnop");
  CHECK(f.sent == "abcdefghijklmnop");
}

TEST_CASE("KafkaWaves: a wave has no more records or bytes than a batch") {
  SUBCASE("records") {
    Fixture f({.linger = milliseconds(1), .batch_records = 6});
    f.Produce("abcdefghijklmnop");
    CHECK(f.sent == "abcdef");
    f.waves.OnReports(6, f.now, f.refused);
    CHECK(f.sent == "abcdefghijkl");
    f.waves.OnReports(6, f.now, f.refused);
    CHECK(f.sent == "abcdefghijklmnop");
    CHECK(f.held == 0);
  }
  SUBCASE("bytes") {
    Fixture f({.linger = milliseconds(1), .batch_bytes = 300});
    f.Produce("abcdefghijklmnop");
    CHECK(f.sent == "abcdefgh");
    const std::string large(1000, 'L');
    CHECK(f.waves.Produce(RecordOf(large), nullptr, f.now) == RD_KAFKA_RESP_ERR_NO_ERROR);
    f.waves.OnReports(8, f.now, f.refused);
    f.waves.OnReports(8, f.now, f.refused);
    CHECK(f.sent == "abcdefghijklmnop" + large);  // a wave of its own: it does not fit any
  }
}

TEST_CASE("KafkaWaves: late comers keep behind those that wait, whatever is on its way") {
  Fixture f({.linger = milliseconds(1), .batch_records = 6});
  f.Produce("abcdefghijklmn");
  f.waves.OnReports(6, f.now, f.refused);
  f.Produce("o");
  CHECK(f.sent == "abcdefghijkl");
  f.waves.OnReports(6, f.now, f.refused);
  CHECK(f.sent == "abcdefghijklmno");
}

TEST_CASE("KafkaWaves: without reports all pass until the topic is idle") {
  Fixture f;
  f.Produce("abcdef");
  f.now += milliseconds(2);
  f.Produce("g");
  f.now += KafkaWaves::kLongestSilence - milliseconds(1);
  f.waves.Tick(f.now, f.refused);
  CHECK(f.sent == "abcdef");
  f.now += milliseconds(1);
  f.waves.Tick(f.now, f.refused);
  f.Produce("h");
  CHECK(f.sent == "abcdefgh");
  f.waves.OnReports(7, f.now, f.refused);
  f.now += milliseconds(2);
  f.Produce("ijklm");
  CHECK(f.sent == "abcdefghijklm");
  f.waves.OnReports(6, f.now, f.refused);  // idle: waves again
  f.Produce("nopqrs");
  f.now += milliseconds(2);
  f.Produce("t");
  CHECK(f.sent == "abcdefghijklmnopqrs");
}

TEST_CASE("KafkaWaves: reports that keep coming do not make a record wait for long") {
  Fixture f({.linger = milliseconds(1), .batch_records = 6});
  f.Produce("abcdefghijklmnopqrstuvwxyz0123456789");
  while (f.now - KafkaWaves::Time(std::chrono::hours(1)) < KafkaWaves::kLongestHold) {
    CHECK(f.held > 0);
    f.now += milliseconds(75);
    f.waves.OnReports(1, f.now - milliseconds(1), f.refused);
    f.waves.Tick(f.now, f.refused);
  }
  CHECK(f.held == 0);
}

TEST_CASE("KafkaWaves: what is refused when its turn comes is given back, in order") {
  Fixture f({.linger = milliseconds(1), .batch_records = 6});
  f.Produce("abcdefgh");
  f.answer = RD_KAFKA_RESP_ERR__FATAL;
  f.waves.OnReports(6, f.now, f.refused);
  REQUIRE(f.refused.size() == 2);
  CHECK(f.refused[0].record.value == "g");
  CHECK(f.refused[1].error == RD_KAFKA_RESP_ERR__FATAL);
  CHECK(f.held == 0);
  CHECK(f.waves.Produce(RecordOf("i"), nullptr, f.now) == RD_KAFKA_RESP_ERR__FATAL);
}

TEST_CASE("KafkaWaves: once opened nothing is held any more") {
  Fixture f({.linger = milliseconds(1), .batch_records = 6});
  f.Produce("abcdefgh");
  f.waves.Open(f.refused);
  f.Produce("ij");
  CHECK(f.sent == "abcdefghij");
}

TEST_CASE("KafkaWaves: records that took another way are counted by their reports") {
  Fixture f;
  for (int i = 0; i < 6; ++i) f.waves.Count();
  f.waves.Uncount();
  f.Produce("a");
  CHECK(f.sent.empty());
  f.waves.OnReports(5, f.now, f.refused);
  CHECK(f.sent == "a");
}

TEST_CASE("KafkaWaves: producers and reports of several threads lose nothing") {
  constexpr std::size_t kEach = 5000;
  constexpr int kThreads = 3;
  std::atomic<std::int64_t> held{0};
  std::atomic<std::uint32_t> sent{0};
  std::atomic<std::uint32_t> reported{0};
  KafkaWaves waves({.linger = std::chrono::microseconds(1), .batch_records = 20}, held,
                   [&](const Record&, DeliverySlot*) {
                     sent.fetch_add(1);
                     return RD_KAFKA_RESP_ERR_NO_ERROR;
                   });
  const auto now = [] { return std::chrono::steady_clock::now(); };
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (std::size_t i = 0; i < kEach; ++i)
        static_cast<void>(waves.Produce(RecordOf("v"), nullptr, now()));
    });
  }
  std::vector<KafkaWaves::Refused> refused;
  while (reported < kThreads * kEach) {
    const std::uint32_t due = sent.load() - reported.load();
    if (due == 0) std::this_thread::yield();
    waves.OnReports(due, now(), refused);
    reported += due;
    if (held > 0) waves.Tick(now(), refused);
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(sent == kThreads * kEach);
  CHECK(held == 0);
  CHECK(refused.empty());
}

}  // namespace sluice::produce
