// How the pipeline gets from the bytes of a body to a document of events.
#include "core/log.h"
#include "intake/pipeline_impl.h"

namespace sluice::intake {
namespace {

using core::ErrorCode;
using validate::Kind;
using validate::Node;

constexpr std::size_t kLargeBody = 1u << 20;  // tables of larger ones are given back

std::string_view NameOf(Kind kind) {
  switch (kind) {
    case Kind::kNull:
      return "null";
    case Kind::kFalse:
    case Kind::kTrue:
      return "a boolean";
    case Kind::kNumber:
      return "a number";
    case Kind::kString:
      return "a string";
    default:
      return "something else";
  }
}

}  // namespace

bool EventPipeline::Impl::Parse(std::string_view body, BodyKind kind, IngestJob& job) {
  table_bytes_ = 0;
  if (kind == BodyKind::kNdjson) {
    const auto joined = JoinLines(body);
    if (!joined.has_value()) {
      Refuse(job, joined.error());
      return false;
    }
    body = joined.value();
  }
  validate::ReadOptions options;
  options.max_depth = config_->limits.max_depth;
  options.charge = [this, &job](std::uint64_t bytes) {
    if (!job.permit) return true;
    if (!job.permit.Charge(bytes)) return false;
    table_bytes_ = bytes;
    return true;
  };
  const auto read = reader_.Read(body, options, document_);
  if (!read.has_value()) {
    Refuse(job, read.error());
    return false;
  }
  if (reader_.replaced() > 0) parts_.metrics.CountReplacedUtf8(reader_.replaced());
  const Node& root = document_.nodes[0];
  if (!root.is_container()) {
    const std::string message = "Body is not an event or an array of events but " +
                                std::string(NameOf(root.kind())) + " at byte " +
                                std::to_string(root.begin);
    Refuse(job, {ErrorCode::kMalformedBody, message});
    return false;
  }
  if (root.inside == 0) {
    Reply(job, ReplyToEmptyBody());
    return false;
  }
  const std::uint32_t events = EventCount();
  const auto max_events = static_cast<std::uint32_t>(config_->limits.max_events);
  if (events > max_events) {
    Refuse(job, {ErrorCode::kBodyTooLarge, "The body has " + std::to_string(events) +
                                               " events, more than " + std::to_string(max_events) +
                                               " (limits.max_events)."});
    return false;
  }
  return true;
}

std::uint32_t EventPipeline::Impl::EventCount() const {
  const Node& root = document_.nodes[0];
  return root.kind() == Kind::kArray ? validate::Document::Count(&root) : 1;
}

// What one client may send of events is only known now. They count as not received, so that hasty
// ones are refused too.
bool EventPipeline::Impl::TakeFromClient(const AddressKey& client, IngestJob& job) {
  if (parts_.rates == nullptr || !parts_.rates->limits_clients()) return true;
  const auto too_fast = parts_.rates->TakeClient(client, {.events = EventCount()});
  if (!too_fast) return true;
  parts_.metrics.CountFailure({}, {}, false, too_fast->error.code);
  watch_->OnRefusedRequest(too_fast->error, job.request_id, job.body_bytes);
  IngestReply reply = ReplyToFailedRequest(too_fast->error);
  reply.retry_after_seconds = too_fast->retry_after_seconds;
  Reply(job, std::move(reply));
  return false;
}

// Each line is checked alone, then all are read as one array: lines that only together make sense
// are refused.
core::Result<std::string_view> EventPipeline::Impl::JoinLines(std::string_view body) {
  joined_lines_ = "[";
  std::size_t number = 0;
  std::string line_text;
  while (!body.empty()) {
    ++number;
    const std::size_t newline = body.find('\n');
    const std::string_view line = body.substr(0, newline);
    body.remove_prefix(newline == std::string_view::npos ? body.size() : newline + 1);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    line_text.assign(line);
    line_text.resize(line.size() + validate::kReadPadding);
    validate::ReadOptions options;
    options.max_depth = config_->limits.max_depth - 1;  // the array around them is one level
    const auto read =
        reader_.Read(std::string_view(line_text).substr(0, line.size()), options, document_);
    if (!read.has_value()) {
      core::Error error = read.error();
      error.message += " of line " + std::to_string(number);
      return error;
    }
    if (joined_lines_.size() > 1) joined_lines_ += ',';
    joined_lines_ += document_.body;
  }
  joined_lines_ += ']';
  const std::size_t size = joined_lines_.size();
  joined_lines_.resize(size + validate::kReadPadding);
  return std::string_view(joined_lines_).substr(0, size);
}

// After a body was processed: what its tables took is free again, and large ones are not kept for
// the small bodies that most are.
void EventPipeline::Impl::ReleaseLargeTables(std::size_t body_bytes, IngestJob& job) {
  if (table_bytes_ > 0) job.permit.Refund(table_bytes_);
  table_bytes_ = 0;
  if (body_bytes < kLargeBody && joined_lines_.capacity() < kLargeBody) return;
  reader_.Shrink();
  std::vector<Node>().swap(document_.nodes);
  document_.Clear();
  document_.decoded.shrink_to_fit();
  std::string().swap(joined_lines_);
  std::vector<EventInput>().swap(inputs_);
}

}  // namespace sluice::intake
