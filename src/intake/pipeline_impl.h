#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "intake/event_pipeline.h"
#include "intake/event_processor.h"
#include "intake/ingest_job.h"
#include "intake/route.h"
#include "intake/stored_request.h"
#include "validate/reader.h"

namespace sluice::intake {

// The inside of EventPipeline; shared with the callbacks that are under way.
class EventPipeline::Impl : public std::enable_shared_from_this<Impl> {
 public:
  explicit Impl(Parts parts);

  void Process(IngestRequest&& request, std::shared_ptr<ReplySink> sink);
  void Tick(std::chrono::steady_clock::time_point now);
  void UseConfig(ConfigPtr config);
  void NoteRefused(const core::Error& error, std::string_view request_id, std::uint64_t bytes) {
    watch_->OnRefusedRequest(error, request_id, bytes);
  }

 private:
  using JobPtr = std::unique_ptr<IngestJob>;

  // Parsing (pipeline_parse.cc). Parse fills document_ and answers the request itself if there is
  // nothing to process.
  bool Parse(std::string_view body, BodyKind kind, IngestJob& job);
  // Of document_.
  std::uint32_t EventCount() const;
  bool TakeFromClient(const AddressKey& client, IngestJob& job);
  core::Result<std::string_view> JoinLines(std::string_view body);
  void ReleaseLargeTables(std::size_t body_bytes, IngestJob& job);

  // From a parsed document to a launched job.
  void Run(JobPtr job, const RequestFacts& facts, std::int64_t now_ms, StoredRequest* stored);
  void Plan(const RequestFacts& facts, StoredRequest* stored, std::vector<std::string>& missing);
  void Suspend(JobPtr job, const RequestFacts& facts, std::int64_t now_ms,
               const std::vector<std::string>& missing);
  void OnSchema(const std::shared_ptr<StoredRequest>& stored, const std::string& uri,
                const core::Result<registry::SchemaPtr>& result);
  void Resume(StoredRequest& stored);
  void Launch(JobPtr job);

  // The end of a job (pipeline_finish.cc).
  static void OnDone(IngestJob& job, void* impl);
  void Finish(IngestJob& job);
  void TimeOut(IngestJob& job);
  void Answer(IngestJob& job);
  void CollectDeliveries(IngestJob& job);
  void TellOfDelivered(const IngestJob& job);
  void TellOfFailure(IngestJob& job, const IngestJob::Accepted& accepted,
                     const EventFailure& failure);
  void Reply(IngestJob& job, IngestReply&& reply);
  // Answers a request that failed as a whole, and counts it.
  int DrainSeconds(produce::DeliveryMode mode) const;
  void RefuseForRoom(IngestJob& job);
  void Refuse(IngestJob& job, const core::Error& error);
  void CountEnds(const IngestJob& job, std::size_t delivered);

  void SendErrorEvents();
  void SendErrorEvent(ErrorEvent&& event);
  std::string_view ErrorSchemaUri() const;

  void UseProcessor();
  void EndStage(IngestJob& job, core::Stage stage);
  void Link(IngestJob& job);
  void Unlink(IngestJob& job);
  void RefreshNow();
  std::vector<std::string> HeaderNames() const;

  Parts parts_;
  ConfigPtr config_;        // in force; without an owner at first
  std::thread::id thread_;  // the I/O thread, once it has run
  validate::Reader reader_;
  validate::Document document_;
  std::string joined_lines_;
  std::uint64_t table_bytes_ = 0;  // charged for the tables of the current body
  RouteCache routes_;
  std::optional<EventWatch> watch_;          // always there, as the next
  std::optional<EventProcessor> processor_;  // always there; made anew for another configuration
  std::vector<EventInput> inputs_;
  std::deque<std::string> owned_;  // addresses of events without a route
  bool old_error_schema_ = false;
  const IngestJob* launching_ = nullptr;  // whose records are being handed over; I/O thread only
  std::size_t own_jobs_ = 0;
  std::deque<ErrorEvent> backlog_;  // error events that wait for room among the own jobs
  IngestJob* first_ = nullptr;      // guaranteed requests that wait, by deadline
  IngestJob* last_ = nullptr;
  std::int64_t now_ms_ = -1;
  std::string now_json_;
};

}  // namespace sluice::intake
