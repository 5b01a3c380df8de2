#include "intake/stream_config_pages.h"

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/log.h"
#include "core/loggable.h"
#include "intake/decompress.h"
#include "intake/text.h"

namespace sluice::intake {
namespace {

// Up to here an answer is made in the time of a few events.
constexpr std::size_t kSmallSnapshot = 500;
constexpr std::size_t kMaxDocuments = 64;
constexpr std::size_t kMaxBytes = 24u << 20;  // of all documents that are kept
constexpr std::size_t kMaxWaiting = 1024;     // answers that are being made
constexpr std::size_t kGzipAbove = 1024;

struct Job {
  std::string key;
  streams::ServedAs served_as;
  streams::StreamQuery query;
  std::shared_ptr<const streams::StreamSnapshot> snapshot;
};

DocumentPtr Make(const Job& job, int compression_level) {
  auto document = std::make_shared<StreamConfigDocument>();
  if (job.served_as == streams::ServedAs::kAsRead) {
    streams::AppendAll(*job.snapshot, job.served_as, document->body);
  } else {
    streams::AppendAnswer(*job.snapshot, job.query, document->body,
                          [](std::string_view name) { LogUnknownStream(name, {}, {}); });
  }
  document->body.shrink_to_fit();
  document->etag = EntityTag(document->body);
  if (compression_level > 0 && document->body.size() >= kGzipAbove &&
      Deflate(ContentCoding::kGzip, compression_level, document->body, document->gzip)) {
    document->gzip.shrink_to_fit();
  }
  return document;
}

std::string KeyOf(streams::ServedAs served_as, const streams::StreamQuery& query) {
  constexpr char kSeparator = '\0';
  std::string key(1, served_as == streams::ServedAs::kApi ? 'a' : 'r');
  if (query.streams) {
    for (const std::string& name : *query.streams) key.append(1, kSeparator).append(name);
  }
  key.append(query.streams ? "\0s\0" : "\0\0\0", 3).append(query.constraints_text);
  return key.append(1, kSeparator).append(query.warnings);
}

}  // namespace

void LogUnknownStream(std::string_view name, std::string_view request_id,
                      std::string_view trace_id) {
  core::Log(core::LogLevel::kWarn, "stream_config_unknown",
            "Configuration was asked for of a stream that is not configured.",
            {{"stream", core::LoggableName(name)},
             {"request_id", core::LoggableName(request_id)},
             {"trace_id", trace_id}});
}

std::string EntityTag(std::string_view body) {
  const std::uint64_t hash = std::hash<std::string_view>()(body);
  char text[32];
  std::snprintf(text, sizeof(text), "W/\"%016llx%zx\"", static_cast<unsigned long long>(hash),
                body.size());
  return text;
}

bool HasEntityTag(std::string_view if_none_match, std::string_view etag) {
  const auto opaque = [](std::string_view tag) {
    return tag.starts_with("W/") ? tag.substr(2) : tag;
  };
  while (!if_none_match.empty()) {
    const std::string_view tag = Trim(TakeUntil(if_none_match, ','));
    if (tag == "*" || opaque(tag) == opaque(etag)) return true;
  }
  return false;
}

struct StreamConfigPages::Impl {
  struct Entry {
    DocumentPtr document;        // null: it is being made
    std::vector<Later> waiting;  // for that
  };

  explicit Impl(int level) : compression_level(level) {}

  // Forgets the documents of an older snapshot. What is being made for it still goes to those who
  // wait.
  void Renew(std::uint64_t current) {
    if (current <= generation) return;
    generation = current;
    bytes = 0;
    kept = 0;
    for (auto at = entries.begin(); at != entries.end();) {
      at = at->second.document ? entries.erase(at) : std::next(at);
    }
  }

  void Keep(const std::string& key, const DocumentPtr& document) {
    const std::size_t size = document->body.size() + document->gzip.size();
    if (kept >= kMaxDocuments || bytes + size > kMaxBytes) return;
    entries[key].document = document;
    bytes += size;
    ++kept;
  }

  void Run() {
    std::unique_lock lock(mutex);
    while (!stopping) {
      if (jobs.empty()) {
        wake.wait(lock);
        continue;
      }
      const Job job = std::move(jobs.front());
      jobs.pop_front();
      lock.unlock();
      const DocumentPtr document = Make(job, compression_level);
      lock.lock();
      auto entry = entries.extract(job.key);
      if (job.snapshot->generation == generation) Keep(job.key, document);
      lock.unlock();
      if (entry) Tell(entry.mapped().waiting, document);
      lock.lock();
    }
  }

  static void Tell(std::vector<Later>& waiting, const DocumentPtr& document) {
    for (Later& later : waiting) std::exchange(later, nullptr)(document);
  }

  std::atomic<int> compression_level;
  std::mutex mutex;
  std::condition_variable wake;
  std::uint64_t generation = 0;
  std::map<std::string, Entry> entries;
  std::size_t kept = 0;
  std::size_t bytes = 0;
  std::deque<Job> jobs;
  bool stopping = false;
  std::thread thread;
};

StreamConfigPages::StreamConfigPages(const streams::StreamRegistry& registry, int compression_level)
    : registry_(registry), impl_(std::make_unique<Impl>(compression_level)) {}

StreamConfigPages::~StreamConfigPages() { Stop(); }

void StreamConfigPages::Use(int compression_level) {
  impl_->compression_level.store(compression_level, std::memory_order_relaxed);
}

DocumentPtr StreamConfigPages::Get(streams::ServedAs served_as, const streams::StreamQuery& query,
                                   Later later) {
  Job job{KeyOf(served_as, query), served_as, query, registry_.Current()};
  // An answer that is being made for an older snapshot must not do for this one.
  job.key += std::to_string(job.snapshot->generation);
  std::unique_lock lock(impl_->mutex);
  impl_->Renew(job.snapshot->generation);
  const auto found = impl_->entries.find(job.key);
  if (found != impl_->entries.end() && found->second.document) return found->second.document;
  if (job.snapshot->size() <= kSmallSnapshot) {
    lock.unlock();
    DocumentPtr document = Make(job, impl_->compression_level);
    lock.lock();
    if (job.snapshot->generation == impl_->generation && !impl_->entries.contains(job.key)) {
      impl_->Keep(job.key, document);
    }
    return document;
  }
  if (impl_->stopping || impl_->jobs.size() >= kMaxWaiting) {
    lock.unlock();
    later(nullptr);
    return nullptr;
  }
  impl_->entries[job.key].waiting.push_back(std::move(later));
  if (found != impl_->entries.end()) return nullptr;  // it is being made for others
  impl_->jobs.push_back(std::move(job));
  if (!impl_->thread.joinable()) impl_->thread = std::thread([this] { impl_->Run(); });
  impl_->wake.notify_one();
  return nullptr;
}

void StreamConfigPages::Stop() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
    impl_->wake.notify_one();
  }
  if (impl_->thread.joinable()) impl_->thread.join();
  std::map<std::string, Impl::Entry> left;
  {
    const std::lock_guard lock(impl_->mutex);
    left.swap(impl_->entries);
  }
  for (auto& [key, entry] : left) Impl::Tell(entry.waiting, nullptr);
}

}  // namespace sluice::intake
