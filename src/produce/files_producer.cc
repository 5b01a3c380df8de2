#include "produce/files_producer.h"

#include <pthread.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "core/log.h"
#include "produce/topic_file_name.h"

namespace sluice::produce {
namespace {

// A producer that is told the end of each batch needs no clock; this only bounds the wait of a
// record whose batch was never ended.
constexpr std::chrono::milliseconds kLongestWait{100};

constexpr std::string_view kSuffix = ".ndjson";

core::Error FolderError(std::string_view what, const std::string& folder, int error) {
  return {core::ErrorCode::kInternal,
          std::string(what) + " " + folder + " failed (" +
              std::error_code(error, std::generic_category()).message() +
              "): set data_dir to a folder that this user may write"};
}

}  // namespace

struct FilesProducer::FileTopic final : Topic {
  explicit FileTopic(std::string_view name) : Topic(name) {}
  std::unique_ptr<TopicFile> file;  // null: the name cannot be a file's
  std::vector<Queued> group;        // of the writer thread
  std::list<FileTopic*>::iterator place{};
  bool listed = false;
};

FilesProducer::FilesProducer(Options options, core::Metrics& metrics, std::unique_ptr<FileOps> ops)
    : options_(std::move(options)),
      folder_(options_.data_dir + "/topics"),
      metrics_(metrics),
      ops_(std::move(ops)) {}

FilesProducer::~FilesProducer() { Stop(std::chrono::steady_clock::now()); }

core::Result<void> FilesProducer::Start() {
  if (int error = ops_->CreateFolders(folder_); error != 0)
    return FolderError("creating", folder_, error);
  if (int error = ops_->CheckWritable(folder_); error != 0)
    return FolderError("writing into", folder_, error);
  if (int error = ops_->LockFolder(folder_); error != 0) {
    if (error != EWOULDBLOCK) return FolderError("locking", folder_, error);
    return core::Error{core::ErrorCode::kInternal,
                       "another process writes into " + folder_ +
                           ": stop it, or set data_dir to a folder of this one's own"};
  }
  std::vector<std::string> names;
  if (int error = ops_->ListFiles(folder_, &names); error != 0)
    return FolderError("listing", folder_, error);
  for (const std::string& name : names) {
    if (!name.ends_with(kSuffix)) continue;
    TopicFile file(*ops_, folder_, name, options_.fsync);
    std::uint64_t cut_bytes = 0;
    std::string problem = file.Open(&cut_bytes);
    // A file that cannot be read now fails its own records later; the others need not wait for it.
    if (!problem.empty()) core::Log(core::LogLevel::kError, "topic_file_unusable", problem);
    if (cut_bytes > 0) {
      core::Log(core::LogLevel::kWarn, "torn_line_cut",
                "cut an unfinished last line off " + file.path(),
                {{"bytes", static_cast<std::int64_t>(cut_bytes)}});
    }
  }
  writer_ = std::thread([this] { Run(); });
  ::pthread_setname_np(writer_.native_handle(), "sluice-files");
  return {};
}

Topic* FilesProducer::OpenTopic(std::string_view name) {
  const std::lock_guard lock(topics_mutex_);
  auto at = topics_.find(name);
  if (at == topics_.end()) {
    auto topic = std::make_unique<FileTopic>(name);
    if (auto file_name = TopicFileName(name))
      topic->file = std::make_unique<TopicFile>(*ops_, folder_, *file_name, options_.fsync);
    at = topics_.emplace(std::string(name), std::move(topic)).first;
  }
  return at->second.get();
}

void FilesProducer::Produce(Topic& topic, DeliveryMode mode, const Record& record,
                            DeliverySlot* slot) {
  metrics_.RecordsHanded(1);
  const auto refuse = [&](core::ErrorCode code, std::string_view message) {
    metrics_.RecordsFailed(1);
    Delivery::CompleteFailed(slot, code, message);
  };
  auto& file_topic = static_cast<FileTopic&>(topic);
  if (file_topic.file == nullptr) {
    return refuse(core::ErrorCode::kStreamNotConfigured,
                  "the topic's name is empty or too long for a file name");
  }
  const std::uint64_t size = record.value.size();
  if (queued_bytes_.fetch_add(size, std::memory_order_relaxed) + size > options_.max_queued_bytes) {
    queued_bytes_.fetch_sub(size, std::memory_order_relaxed);
    return refuse(core::ErrorCode::kQueueFull, "the queue to the files is full");
  }
  {
    const std::lock_guard lock(queue_mutex_);
    if (!stopping_) {
      queue_.push_back({&file_topic, {slot, record.value, mode}});
      return;
    }
  }
  queued_bytes_.fetch_sub(size, std::memory_order_relaxed);
  refuse(core::ErrorCode::kShuttingDown, "the service is shutting down");
}

void FilesProducer::EndOfBatch() {
  {
    const std::lock_guard lock(queue_mutex_);
    if (!writer_idle_ || queue_.empty()) return;
    writer_idle_ = false;
  }
  wake_.notify_one();
}

void FilesProducer::Run() {
  std::vector<Arrival> group;
  for (;;) {
    {
      std::unique_lock lock(queue_mutex_);
      writer_idle_ = true;
      while (queue_.empty() && !stopping_) wake_.wait_for(lock, kLongestWait);
      writer_idle_ = false;
      if (queue_.empty()) return;
      group.swap(queue_);
    }
    WriteGroup(group);
    group.clear();
  }
}

void FilesProducer::WriteGroup(std::vector<Arrival>& group) {
  touched_.clear();
  for (const Arrival& arrival : group) {
    if (arrival.topic->group.empty()) touched_.push_back(arrival.topic);
    arrival.topic->group.push_back(arrival.record);
  }
  for (FileTopic* topic : touched_) {
    if (PastDeadline()) {
      FailTopic(*topic, 0, core::ErrorCode::kShuttingDown,
                "the service stopped before the event was written");
    } else {
      WriteTopic(*topic);
    }
    topic->group.clear();
  }
}

void FilesProducer::WriteTopic(FileTopic& topic) {
  LimitOpenFiles(topic);
  values_.clear();
  std::uint64_t kept_bytes = 0;
  for (const Queued& record : topic.group) values_.push_back(record.value);
  const TopicFile::Outcome outcome = topic.file->Append(values_);
  for (std::size_t i = 0; i < outcome.kept; ++i) kept_bytes += values_[i].size();
  queued_bytes_.fetch_sub(kept_bytes, std::memory_order_relaxed);
  metrics_.RecordsDelivered(outcome.kept);
  for (std::size_t i = 0; i < outcome.kept; ++i)
    Delivery::CompleteDelivered(topic.group[i].slot, Durability::kFile);
  SetTrouble(topic, outcome.problem);
  if (outcome.problem.empty()) return;
  core::Log(core::LogLevel::kError, "file_write_failed", outcome.problem,
            {{"records", static_cast<std::int64_t>(topic.group.size() - outcome.kept)}});
  FailTopic(topic, outcome.kept, core::ErrorCode::kDeliveryFailed, outcome.problem);
}

void FilesProducer::FailTopic(FileTopic& topic, std::size_t from, core::ErrorCode code,
                              std::string_view message) {
  std::uint64_t bytes = 0;
  bool stopping = false;
  {
    const std::lock_guard lock(queue_mutex_);
    stopping = stopping_;
  }
  for (std::size_t i = from; i < topic.group.size(); ++i) {
    bytes += topic.group[i].value.size();
    if (stopping && topic.group[i].mode == DeliveryMode::kHasty) ++lost_;
  }
  queued_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  metrics_.RecordsFailed(topic.group.size() - from);
  for (std::size_t i = from; i < topic.group.size(); ++i)
    Delivery::CompleteFailed(topic.group[i].slot, code, message);
}

void FilesProducer::LimitOpenFiles(FileTopic& used) {
  if (used.listed) {
    open_.splice(open_.begin(), open_, used.place);
    return;
  }
  open_.push_front(&used);
  used.place = open_.begin();
  used.listed = true;
  if (open_.size() <= options_.max_open_files) return;
  open_.back()->file->Close();
  open_.back()->listed = false;
  open_.pop_back();
}

void FilesProducer::SetTrouble(const FileTopic& topic, const std::string& problem) {
  const std::lock_guard lock(trouble_mutex_);
  if (!problem.empty()) {
    trouble_ = problem;
    troubled_ = &topic;
  } else if (troubled_ == &topic) {
    trouble_.clear();
    troubled_ = nullptr;
  }
}

std::string FilesProducer::trouble() const {
  const std::lock_guard lock(trouble_mutex_);
  return trouble_;
}

bool FilesProducer::PastDeadline() {
  const std::lock_guard lock(queue_mutex_);
  return stopping_ && std::chrono::steady_clock::now() >= stop_deadline_;
}

StopReport FilesProducer::Stop(std::chrono::steady_clock::time_point deadline) {
  if (!writer_.joinable()) return {};
  {
    const std::lock_guard lock(queue_mutex_);
    stopping_ = true;
    stop_deadline_ = deadline;
  }
  wake_.notify_one();
  writer_.join();
  return {lost_};
}

}  // namespace sluice::produce
