// The program sluice_broken: the daemon with a producer that acknowledges a record before Kafka has
// it. The conservation oracle must find it out. The seam is MakeProducer: the real one is compiled
// under another name for this program only, so the daemon's own code knows nothing of it.
#include <memory>
#include <string>
#include <utility>

#include "produce/producer.h"

namespace sluice::produce {

core::Result<std::unique_ptr<Producer>> MakeSoundProducer(const core::OutputOptions& options,
                                                          std::string_view user_agent,
                                                          core::Metrics& metrics);

namespace {

// The record's own bytes, once its requester has been answered.
struct Orphan final : Delivery {
  explicit Orphan(const Record& record)
      : value(record.value), key(record.key), has_key(record.has_key) {
    Reserve(1);
  }
  void OnAllDone() override { delete this; }

  const std::string value;
  const std::string key;
  const bool has_key;
};

class EarlyAckProducer final : public Producer {
 public:
  explicit EarlyAckProducer(std::unique_ptr<Producer> sound) : sound_(std::move(sound)) {}

  core::Result<void> Start() override { return sound_->Start(); }
  Topic* OpenTopic(std::string_view name) override { return sound_->OpenTopic(name); }
  void Produce(Topic& topic, DeliveryMode mode, const Record& record, DeliverySlot* slot) override {
    auto* orphan = new Orphan(record);
    const Record copy{.value = orphan->value,
                      .key = orphan->key,
                      .has_key = orphan->has_key,
                      .timestamp_ms = record.timestamp_ms};
    sound_->Produce(topic, mode, copy, orphan->Add());
    orphan->Seal();
    Delivery::CompleteDelivered(slot, core::Durability::kKafka);  // too early
  }
  void EndOfBatch() override { sound_->EndOfBatch(); }
  std::uint64_t queued_bytes() const override { return sound_->queued_bytes(); }
  std::uint64_t max_queued_bytes() const override { return sound_->max_queued_bytes(); }
  bool HasRoom(DeliveryMode mode) const override { return sound_->HasRoom(mode); }
  std::chrono::seconds DrainTime(DeliveryMode mode) const override {
    return sound_->DrainTime(mode);
  }
  std::string trouble() const override { return sound_->trouble(); }
  std::string spool_trouble() const override { return sound_->spool_trouble(); }
  StopReport Stop(std::chrono::steady_clock::time_point deadline) override {
    return sound_->Stop(deadline);
  }

 private:
  const std::unique_ptr<Producer> sound_;
};

}  // namespace

core::Result<std::unique_ptr<Producer>> MakeProducer(const core::OutputOptions& options,
                                                     std::string_view user_agent,
                                                     core::Metrics& metrics) {
  auto sound = MakeSoundProducer(options, user_agent, metrics);
  if (!sound) return sound.error();
  return std::unique_ptr<Producer>(std::make_unique<EarlyAckProducer>(std::move(*sound)));
}

}  // namespace sluice::produce
