#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/json_text.h"
#include "intake/ingest_handler.h"

namespace sluice::test {

// Stands in for the pipeline: what a body contains says what becomes of it. "later": answered by
// Release; "block": keeps its thread until Unblock; "bad": 400 with a list; "huge": 400 with eight
// million bytes; "tell": 207 with what was handed over; else 201 for one event.
class RecordingHandler {
 public:
  intake::IngestHandlerFactory Factory() {
    return [this](intake::PostFunction post) {
      return std::make_unique<Thread>(*this, std::move(post));
    };
  }

  // Waits until `count` requests are held back in all.
  void WaitForHeld(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return held_.size() >= count; });
  }
  // What was read of an "early" request after its answer: its body, '|' and its user agent.
  std::string WaitForReadLate() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !read_late_.empty(); });
    return std::exchange(read_late_, {});
  }
  // Waits until a request keeps its thread.
  void WaitForBlocked() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return blocked_; });
  }
  void Unblock() {
    const std::lock_guard lock(mutex_);
    unblocked_ = true;
    changed_.notify_all();
  }
  // Answers all that are held back, from this thread.
  void Release() {
    std::vector<Held> held;
    {
      const std::lock_guard lock(mutex_);
      held.swap(held_);
    }
    for (Held& h : held) {
      h.post([sink = h.sink, permit = h.permit] {
        permit->Free();
        intake::IngestReply reply;
        reply.status = 201;
        reply.events = 1;
        sink->OnReply(std::move(reply));
      });
    }
  }

 private:
  struct Held {
    intake::PostFunction post;
    std::shared_ptr<intake::ReplySink> sink;
    std::shared_ptr<intake::Permit> permit;
  };

  class Thread final : public intake::IngestHandler {
   public:
    Thread(RecordingHandler& owner, intake::PostFunction post)
        : owner_(owner), post_(std::move(post)) {}

    void Process(intake::IngestRequest&& request,
                 std::shared_ptr<intake::ReplySink> sink) override {
      intake::IngestReply reply;
      reply.events = 1;
      reply.durability = produce::Durability::kFile;
      if (request.body.find("later") != std::string_view::npos) {
        const std::lock_guard lock(owner_.mutex_);
        owner_.held_.push_back(
            {post_, std::move(sink), std::make_shared<intake::Permit>(std::move(request.permit))});
        owner_.changed_.notify_all();
        return;
      }
      if (request.body.find("early") != std::string_view::npos) {
        reply.status = 202;
        reply.reason = "1 events hastily received.";
        sink->OnReply(std::move(reply));
        const std::lock_guard lock(owner_.mutex_);
        owner_.read_late_ =
            std::string(request.body) + "|" + std::string(request.headers->Header("user-agent"));
        owner_.changed_.notify_all();
        return;
      }
      if (request.body.find("block") != std::string_view::npos) {
        std::unique_lock lock(owner_.mutex_);
        owner_.blocked_ = true;
        owner_.changed_.notify_all();
        owner_.changed_.wait(lock, [this] { return owner_.unblocked_; });
      }
      if (request.body.find("tell") != std::string_view::npos) {
        reply.status = 207;
        reply.reason = "told";
        reply.body = Describe(request);
      } else if (request.body.find("huge") != std::string_view::npos) {
        reply.status = 400;
        reply.reason = "huge";
        reply.body.assign(8'000'000, 'x');
      } else if (request.body.find("bad") != std::string_view::npos) {
        reply.status = 400;
        reply.reason = "1 out of 1 events were invalid and not accepted.";
        reply.body = "{\"invalid\":[\"" + std::string(2000, 'y') + "\"]}";
      } else {
        reply.status = 201;
      }
      sink->OnReply(std::move(reply));
    }

    void Tick(std::chrono::steady_clock::time_point) override {}

   private:
    static std::string Describe(const intake::IngestRequest& request) {
      std::string out;
      const auto member = [&out](std::string_view name, std::string_view value) {
        out += out.empty() ? "{" : ",";
        core::AppendJsonString(out, name);
        out += ":";
        core::AppendJsonString(out, value);
      };
      member("body", request.body);
      member("kind", request.kind == intake::BodyKind::kNdjson ? "ndjson" : "json");
      member("mode", request.mode == produce::DeliveryMode::kHasty ? "hasty" : "guaranteed");
      member("request_id", request.request_id);
      member("peer", request.peer_address);
      member("trusted", request.peer_is_trusted ? "yes" : "no");
      member("schema_uri", request.schema_uri_default);
      member("stream", request.stream_default);
      member("user_agent", request.headers->Header("user-agent"));
      member("charged", std::to_string(request.permit.bytes()));
      return out + "}";
    }
    RecordingHandler& owner_;
    intake::PostFunction post_;
  };

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Held> held_;
  std::string read_late_;
  bool blocked_ = false;
  bool unblocked_ = false;
};

}  // namespace sluice::test
