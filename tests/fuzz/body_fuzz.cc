#include <boost/json/parse.hpp>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "core/log.h"
#include "intake/decompress.h"
#include "intake/event_pipeline.h"
#include "support/recording_producer.h"

// The first byte says how a body was sent, the rest is the body: through content coding and
// pipeline to the outcome. There is one answer, its body is JSON, the books balance, and what was
// produced would be accepted again as it is.
namespace {

using namespace sluice;

class NoHeaders final : public intake::HeaderSource {
 public:
  std::string_view Header(std::string_view) const override { return {}; }
};

struct Sink final : intake::ReplySink {
  int replies = 0;
  intake::IngestReply reply;
  void OnReply(intake::IngestReply&& r) override {
    ++replies;
    reply = std::move(r);
  }
};

class Gate {
 public:
  Gate() {
    core::LogOptions quiet;
    quiet.level = core::LogLevel::kFatal;
    core::ConfigureLog(quiet);
    const char* source = std::getenv("SLUICE_SOURCE");
    config_.schemas.base_uris = {std::string(source != nullptr ? source : ".") + "/config/schemas"};
    config_.schemas.max_unknown_per_minute = 1 << 30;
    config_.enrichment.meta_dt = core::WhenToSet::kMissing;
    config_.http.max_body_bytes = 1 << 20;
    config_.limits.memory_bytes = 16 << 20;
    schemas_ = std::make_unique<registry::SchemaRegistry>(config_.schemas, metrics_);
    if (!schemas_->Start().has_value()) std::abort();
    pipeline_ = std::make_unique<intake::EventPipeline>(
        intake::EventPipeline::Parts{config_, *schemas_, streams_, producer_, metrics_, clock_,
                                     [this](std::function<void()> task) {
                                       const std::lock_guard lock(mutex_);
                                       tasks_.push_back(std::move(task));
                                     }});
  }
  ~Gate() { schemas_->Stop(); }

  std::shared_ptr<Sink> Post(std::string_view body, intake::BodyKind kind,
                             produce::DeliveryMode mode) {
    auto sink = std::make_shared<Sink>();
    intake::IngestRequest request;
    auto permit = admission_.Admit(body.size());
    if (!permit.has_value()) std::abort();  // the one before did not give back what it took
    request.permit = std::move(*permit);
    request.body = body;
    request.kind = kind;
    request.mode = mode;
    request.headers = &headers_;
    request.request_id = "fuzz";
    request.peer_address = "192.0.2.1";
    pipeline_->Process(std::move(request), sink);
    while (sink->replies == 0 || metrics_.events_in_flight() > 0) RunTasks();
    RunTasks();
    if (sink->replies != 1) std::abort();
    if (!sink->reply.body.empty()) {
      boost::system::error_code ec;
      boost::json::parse_options options;
      options.max_depth = 2000;
      options.allow_invalid_utf8 =
          true;  // lone surrogates stay escapes; checked for JSON, not for Unicode
      boost::json::parse(sink->reply.body, ec, {}, options);
      // 1e400 in an echoed event is JSON that this parser refuses.
      if (ec && ec != boost::json::error::exponent_overflow) std::abort();
    }
    return sink;
  }

  void Fuzz(std::uint8_t how, std::string_view sent) {
    auto permit = admission_.Admit(sent.size());
    if (!permit.has_value()) std::abort();
    intake::ByteBuffer body;
    const auto coding = static_cast<intake::ContentCoding>(how % 5);
    if (coding == intake::ContentCoding::kIdentity) {
      body.Append(sent);
    } else {
      intake::Inflater inflater(coding, sent, config_.http.max_body_bytes, *permit, body);
      while (true) {
        const auto progress = inflater.Continue(64 << 10);
        if (!progress.has_value()) {
          if (body.size() > config_.http.max_body_bytes + 1) std::abort();
          return;
        }
        if (*progress == intake::Inflater::Progress::kDone) break;
      }
    }
    body.Reserve(body.size() + 1);
    permit->Free();
    const auto kind = how & 0x10 ? intake::BodyKind::kNdjson : intake::BodyKind::kJson;
    const auto mode =
        how & 0x20 ? produce::DeliveryMode::kHasty : produce::DeliveryMode::kGuaranteed;
    Post(body.view(), kind, mode);
    for (const auto& taken : producer_.Take()) {
      std::string value = taken.value;
      value.append(validate::kReadPadding, '\0');
      const auto again = Post(std::string_view(value).substr(0, taken.value.size()),
                              intake::BodyKind::kJson, produce::DeliveryMode::kGuaranteed);
      if (again->reply.status != 201) std::abort();
      const auto same = producer_.Take();
      if (same.size() != 1 || same[0].value != taken.value || same[0].topic != taken.topic)
        std::abort();
    }
    if (admission_.bytes() != 0 || admission_.in_flight() != 0) std::abort();
  }

 private:
  void RunTasks() {
    while (true) {
      std::function<void()> task;
      {
        const std::lock_guard lock(mutex_);
        if (tasks_.empty()) return;
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      task();
    }
  }

  core::Config config_;
  core::Metrics metrics_{{}, "fuzz"};
  test::RecordingProducer producer_;
  core::SystemClock clock_;
  NoHeaders headers_;
  std::mutex mutex_;
  std::deque<std::function<void()>> tasks_;
  std::unique_ptr<registry::SchemaRegistry> schemas_;
  streams::StreamRegistry streams_{config_.streams};
  intake::AdmissionControl admission_{config_.limits};
  std::unique_ptr<intake::EventPipeline> pipeline_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Gate gate;
  if (size > 0) gate.Fuzz(data[0], {reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
