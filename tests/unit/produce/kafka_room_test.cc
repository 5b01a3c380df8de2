#include "produce/kafka_room.h"

#include <doctest/doctest.h>

#include <array>
#include <thread>
#include <vector>

namespace sluice::produce {
namespace {

using std::chrono::milliseconds;
using Answer = KafkaRoom::Answer;

}  // namespace

TEST_CASE("KafkaRoom: records are let in up to a mark below the bound") {
  KafkaRoom room({.bound = 1000, .admit_percent = 80, .topic_share_percent = 10000});
  CHECK(room.admitted_bytes() == 800);
  KafkaRoom::Bytes a{0}, b{0};
  CHECK(room.Take(a, 600) == Answer::kTaken);
  CHECK(room.Take(b, 201) == Answer::kFull);
  CHECK(room.Take(b, 200) == Answer::kTaken);
  CHECK(room.bytes() == 800);
  CHECK(room.IsFilledTo(80));
  CHECK_FALSE(room.IsFilledTo(81));
  room.GiveBack(a, 600);
  CHECK(room.bytes() == 200);
  CHECK(a == 0);
  CHECK(b == 200);
}

TEST_CASE("KafkaRoom: topics that do not drain share, and leave as much to one more") {
  for (std::size_t dead = 1; dead <= 7; ++dead) {
    CAPTURE(dead);
    KafkaRoom room({.bound = 10000, .admit_percent = 80, .topic_share_percent = 100});
    std::array<KafkaRoom::Bytes, 8> topics{};
    for (int round = 0; round < 10000; ++round) {
      for (std::size_t i = 0; i < dead; ++i) room.Take(topics[i], 1);
    }
    const std::uint64_t part = 8000 / (dead + 1);
    for (std::size_t i = 0; i < dead; ++i) {
      CHECK(topics[i] >= part - 1);
      CHECK(topics[i] <= part + 1);
    }
    CHECK(room.Take(topics[dead], part / 2) == Answer::kTaken);
    CHECK(room.Take(topics[0], 1) == Answer::kShareUsed);
  }
}

TEST_CASE("KafkaRoom: the first record of a topic is let in wherever there is room at all") {
  KafkaRoom room({.bound = 1000, .admit_percent = 100, .topic_share_percent = 100});
  KafkaRoom::Bytes a{0}, b{0};
  CHECK(room.Take(a, 900) == Answer::kTaken);
  CHECK(room.Take(a, 10) == Answer::kShareUsed);
  CHECK(room.Take(b, 100) == Answer::kTaken);
}

TEST_CASE("KafkaRoom: the drain time follows what is delivered, from 1 to 60 s") {
  KafkaRoom room({.bound = 100000, .admit_percent = 100, .topic_share_percent = 10000});
  KafkaRoom::Bytes a{0};
  CHECK(room.DrainTime().count() == 1);  // nothing waits
  room.Take(a, 10000);
  CHECK(room.DrainTime().count() == 60);  // and nothing was ever delivered
  KafkaRoom::Time now{milliseconds(1)};
  room.Measure(now);
  for (int second = 0; second < 30; ++second) {
    room.Delivered(1000);
    room.Measure(now += milliseconds(1000));
  }
  CHECK(room.DrainTime().count() == 10);
  room.GiveBack(a, 9999);
  CHECK(room.DrainTime().count() == 1);
  room.Take(a, 9999);
  for (int second = 0; second < 60; ++second) room.Measure(now += milliseconds(1000));
  CHECK(room.DrainTime().count() == 60);
}

TEST_CASE("KafkaRoom: threads never take more than there is") {
  KafkaRoom room({.bound = 1000, .admit_percent = 100, .topic_share_percent = 10000});
  std::array<KafkaRoom::Bytes, 4> topics{};
  std::atomic<std::uint64_t> most{0};
  std::vector<std::thread> threads;
  for (KafkaRoom::Bytes& topic : topics) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20000; ++i) {
        if (room.Take(topic, 77) != Answer::kTaken) continue;
        const std::uint64_t all = room.bytes();
        if (all > most) most = all;
        room.GiveBack(topic, 77);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(room.bytes() == 0);
  CHECK(most <= 1000 + 3 * 77);  // what others have added and are about to take back
  for (KafkaRoom::Bytes& topic : topics) CHECK(topic == 0);
}

}  // namespace sluice::produce
