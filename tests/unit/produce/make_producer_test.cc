#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "produce/producer.h"
#include "support/temp_folder.h"
#include "unit/produce/waiting_delivery.h"

namespace sluice::produce {
namespace {

std::string ReadAll(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

const auto kInTime = std::chrono::seconds(30);

}  // namespace

TEST_CASE("Durability: the words of the contract") {
  CHECK(ToString(Durability::kKafka) == "kafka");
  CHECK(ToString(Durability::kSpool) == "spool");
  CHECK(ToString(Durability::kFile) == "file");
  CHECK(ToString(Durability::kNone) == "none");
}

TEST_CASE("MakeProducer: discard completes inside of Produce") {
  core::Metrics metrics({}, "test");
  core::OutputOptions options;
  options.kind = core::OutputKind::kDiscard;
  auto producer = *MakeProducer(options, "test", metrics);
  REQUIRE(producer->Start().has_value());
  Topic* topic = producer->OpenTopic("a");
  CHECK(topic == producer->OpenTopic("a"));
  CHECK(topic->name() == "a");
  WaitingDelivery delivery(1);
  delivery.Send(*producer, *topic, "x");
  CHECK(delivery.Fate(0) == "delivered");
  delivery.Seal();
}

TEST_CASE("MakeProducer: files under data_dir, kept over a restart") {
  const test::TempFolder folder;
  core::OutputOptions options;
  options.data_dir = folder.path() + "/deep/er";
  for (int run = 0; run < 2; ++run) {
    core::Metrics metrics({}, "test");
    auto producer = *MakeProducer(options, "test", metrics);
    REQUIRE(producer->Start().has_value());
    WaitingDelivery delivery(2);
    delivery.Send(*producer, *producer->OpenTopic("eqiad.a"),
                  "{\"run\":" + std::to_string(run) + "}");
    delivery.Send(*producer, *producer->OpenTopic("../b"), "{}");
    producer->EndOfBatch();
    REQUIRE(delivery.Wait());
    CHECK(delivery.Fate(0) == "delivered");
    CHECK(delivery.Fate(1) == "delivered");
    producer->Stop(std::chrono::steady_clock::now() + kInTime);
    if (run == 0) {  // as a crash in the middle of a write leaves it
      std::ofstream(options.data_dir + "/topics/eqiad.a.ndjson", std::ios::app) << "{\"torn";
    }
  }
  CHECK(ReadAll(options.data_dir + "/topics/eqiad.a.ndjson") == "{\"run\":0}\n{\"run\":1}\n");
  CHECK(ReadAll(options.data_dir + "/topics/%2E.%2Fb.ndjson") == "{}\n{}\n");
}

TEST_CASE("MakeProducer: a data folder that is a file, and one that is in use") {
  const test::TempFolder folder;
  core::OutputOptions options;
  core::Metrics metrics({}, "test");
  std::ofstream(folder.path() + "/file") << "x";
  options.data_dir = folder.path() + "/file";
  auto result = (*MakeProducer(options, "test", metrics))->Start();
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().message.find("set data_dir to a folder") != std::string::npos);

  options.data_dir = folder.path() + "/data";
  auto first = *MakeProducer(options, "test", metrics);
  REQUIRE(first->Start().has_value());
  result = (*MakeProducer(options, "test", metrics))->Start();
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().message.starts_with("another process writes into "));
}

}  // namespace sluice::produce
