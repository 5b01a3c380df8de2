#include "streams/stream_updater.h"

#include <algorithm>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <future>
#include <iterator>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "core/iso_time.h"
#include "core/log.h"
#include "core/read_file.h"
#include "streams/config_copy.h"
#include "streams/config_files.h"
#include "streams/file_watch.h"
#include "streams/updater_metrics.h"

namespace sluice::streams {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kQuiet{100};          // after a change of a file, for the next one
constexpr milliseconds kLongestQuiet{2000};  // while changes go on
constexpr seconds kUntilCopyIsReplaced{60};  // at most, while the copy is in use
constexpr seconds kBetweenLogLines{60};
constexpr std::size_t kMaxNamedStreams = 20;
constexpr milliseconds kStopPoll{50};

double Seconds(std::chrono::system_clock::time_point time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

std::string FirstLine(const std::string& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string::npos) return text;
  return text.substr(0, end) + " (and " +
         std::to_string(std::count(text.begin(), text.end(), '\n')) + " more)";
}

void ReportNotBuilt(const StaticSnapshot& streams, bool StreamSettings::*flag,
                    std::string_view setting) {
  std::string names;
  std::size_t count = 0;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    if (!(streams.entry(i).*flag)) continue;
    if (++count > kMaxNamedStreams) continue;
    if (!names.empty()) names += ", ";
    names += streams.entry(i).key;
  }
  if (count == 0) return;
  core::Log(
      core::LogLevel::kWarn, "stream_setting_not_supported",
      "Streams have a setting that does nothing here yet: their events are taken without it.",
      {{"setting", setting}, {"count", static_cast<std::int64_t>(count)}, {"streams", names}});
}

}  // namespace

milliseconds WithJitter(seconds ttl, double chance) {
  const auto whole = std::chrono::duration_cast<milliseconds>(ttl);
  return milliseconds(static_cast<std::int64_t>(static_cast<double>(whole.count()) *
                                                (0.9 + 0.2 * std::clamp(chance, 0.0, 1.0))));
}

struct StreamUpdater::Impl : std::enable_shared_from_this<Impl> {
  // Apart, since the gauge of the metrics may outlive the updater.
  struct SharedState {
    mutable std::mutex mutex;
    State state;  // written by the updater's thread only
  };

  explicit Impl(Parts p)
      : parts(std::move(p)),
        metrics(parts.metrics),
        options(parts.options),
        reader(MakeReader(options)),
        watch(io, [this] { OnFileChange(); }),
        next(io),
        quiet(io) {
    parts.metrics.AddGauge(
        "sluice_stream_config_copy_age_seconds",
        "Age of the copy on disk that is in use since the sources cannot be read, else 0",
        [state = shared, &clock = parts.clock] {
          const std::lock_guard lock(state->mutex);
          if (!state->state.from_copy) return 0.0;
          return std::max(0.0, Seconds(clock.Now()) - Seconds(state->state.good_at));
        });
  }

  std::unique_ptr<ConfigReader> MakeReader(const core::StreamOptions& by) {
    return std::make_unique<ConfigReader>(
        io, by, ConfigReader::Options{parts.first_pause, parts.user_agent}, parts.get);
  }

  // Reads once; `over` hears of the first reading that begins after this call.
  void Read(std::function<void()> over) {
    if (over) waiting.push_back(std::move(over));
    if (reading) {
      again = true;
      return;
    }
    reading = true;
    served.swap(waiting);
    next.cancel();
    quiet.cancel();
    quiet_since.reset();
    watch.Watch(ConfigPaths(options));  // before the files are read, so that no change is lost
    reader->Read([this](ConfigReading result) { OnReading(std::move(result)); });
  }

  void OnReading(ConfigReading result) {
    metrics.CountReading(result.outcome);
    if (result.failed()) {
      OnFailure(result);
    } else {
      OnSuccess(result);
    }
    reading = false;
    Schedule();
    for (auto& over : std::exchange(served, {})) over();
    if (std::exchange(again, false)) Read(nullptr);
  }

  void OnSuccess(ConfigReading& result) {
    const auto now = parts.clock.Now();
    bool recovered = false;
    {
      const std::lock_guard lock(shared->mutex);
      recovered = !state.trouble.empty();
      state = {false, {}, now};
    }
    metrics.SetLastSuccess(Seconds(now));
    if (result.streams) {
      Use(result.streams);
      Keep(*result.streams);
    }
    if (!result.streams && !recovered) return;
    core::Log(
        core::LogLevel::kInfo, "stream_config_read",
        recovered ? "Stream configuration could be read again." : "Read stream configuration.",
        {{"streams", static_cast<std::int64_t>(size)},
         {"generation", static_cast<std::int64_t>(parts.registry.generation())}});
  }

  void Use(const std::shared_ptr<StaticSnapshot>& streams) {
    size = streams->size();
    parts.registry.Publish(streams);
    metrics.SetStreams(size);
    ReportNotBuilt(*streams, &StreamSettings::edge_uniques, "producers.eventgate.use_edge_uniques");
    ReportNotBuilt(*streams, &StreamSettings::test_kitchen,
                   "producers.test_kitchen.is_test_kitchen_stream");
  }

  void OnFailure(const ConfigReading& result) {
    {
      const std::lock_guard lock(shared->mutex);
      state.trouble = FirstLine(result.message);
    }
    ++unreported;
    const auto now = parts.now();
    if (!started || (reported_at && now - *reported_at < kBetweenLogLines)) return;
    reported_at = now;
    core::Log(core::LogLevel::kError, "stream_config_failed",
              "Stream configuration could not be read: the one before stays in use.",
              {{"reason", result.message}, {"failures", std::exchange(unreported, 0)}});
  }

  bool HasSources() const { return !options.config_uri.empty() || !options.config_files.empty(); }

  void Keep(const StaticSnapshot& streams) {
    if (parts.copy_path.empty() || !HasSources()) return;
    const int error =
        WriteConfigCopy(parts.copy_path, SourcesOf(options), streams, parts.clock.Now());
    if (error == 0) return;
    core::Log(core::LogLevel::kWarn, "stream_config_copy_failed",
              "The copy of the stream configuration, for a start without its sources, could not be "
              "written: see data_dir.",
              {{"path", parts.copy_path}, {"reason", core::ErrnoText(error)}});
  }

  // The copy instead of sources that failed at start. False: there is none either.
  bool UseCopy() {
    if (parts.copy_path.empty() || !HasSources()) return false;
    auto copy = ReadConfigCopy(parts.copy_path, SourcesOf(options));
    std::string trouble = state.trouble;
    if (!copy.has_value()) {
      core::Log(core::LogLevel::kWarn, "stream_config_no_copy",
                "There is no copy of the stream configuration to start with.",
                {{"reason", copy.error().message}});
      return false;
    }
    {
      const std::lock_guard lock(shared->mutex);
      state.from_copy = true;
      state.good_at = copy->saved;
    }
    Use(copy->streams);
    core::Log(core::LogLevel::kError, "stream_config_from_copy",
              "Stream configuration could not be read: the last good copy is in use.",
              {{"reason", trouble},
               {"saved", core::FormatIsoTime(copy->saved)},
               {"path", parts.copy_path},
               {"streams", static_cast<std::int64_t>(size)}});
    reported_at = parts.now();
    unreported = 0;
    return true;
  }

  void Schedule() {
    seconds ttl{options.config_ttl_seconds};
    if (state.from_copy || !started)
      ttl = ttl.count() > 0 ? std::min(ttl, kUntilCopyIsReplaced) : kUntilCopyIsReplaced;
    if (ttl.count() == 0) return;
    next.expires_after(WithJitter(ttl, std::uniform_real_distribution<double>(0, 1)(random)));
    next.async_wait([this](const boost::system::error_code& ec) {
      if (!ec) Read(nullptr);
    });
  }

  // A burst of changes is one: waits until it is over, but not for ever.
  void OnFileChange() {
    const auto now = std::chrono::steady_clock::now();
    if (!quiet_since) quiet_since = now;
    quiet.expires_at(std::min(now + kQuiet, *quiet_since + kLongestQuiet));
    quiet.async_wait([this](const boost::system::error_code& ec) {
      if (!ec) Read(nullptr);
    });
  }

  core::Result<void> Start() {
    std::promise<bool> first;
    boost::asio::post(io, [&] {
      Read([&] {
        bool usable = state.trouble.empty();
        if (!usable) usable = UseCopy();
        started = usable;
        Schedule();
        first.set_value(usable);
      });
    });
    thread = std::thread([this] { io.run(); });
    if (first.get_future().get()) return {};
    std::string message = state.trouble;
    Stop();
    return core::Error{core::ErrorCode::kStreamConfigUnavailable, std::move(message)};
  }

  // Sources that are not in force yet, and what they said.
  struct Candidate {
    core::StreamOptions options;
    std::unique_ptr<ConfigReader> reader;
    ConfigReading reading;
  };

  // False if the thread ends before that: then it never comes.
  bool Await(const std::future<void>& what) {
    while (what.wait_for(kStopPoll) != std::future_status::ready) {
      if (io.stopped()) return false;
    }
    return true;
  }

  static core::Error Stopped() {
    return {core::ErrorCode::kShuttingDown, "The stream configuration is not read any more."};
  }

  core::Result<std::function<void()>> Prepare(const core::StreamOptions& to) {
    // A reader lives and ends on the thread.
    const std::shared_ptr<Candidate> candidate(new Candidate, [this](Candidate* old) {
      boost::asio::post(io, [owned = std::unique_ptr<Candidate>(old)] {});
    });
    candidate->options = to;
    const auto read = std::make_shared<std::promise<void>>();
    boost::asio::post(io, [this, candidate, read] {
      candidate->reader = MakeReader(candidate->options);
      candidate->reader->Read([raw = candidate.get(), read](ConfigReading result) {
        raw->reading = std::move(result);
        read->set_value();
      });
    });
    if (!Await(read->get_future())) return Stopped();
    metrics.CountReading(candidate->reading.outcome);
    if (candidate->reading.failed()) {
      return core::Error{core::ErrorCode::kStreamConfigUnavailable,
                         std::move(candidate->reading.message)};
    }
    return std::function<void()>([this, candidate] {
      const auto used = std::make_shared<std::promise<void>>();
      boost::asio::post(io, [this, candidate, used] {
        GoBy(*candidate);
        used->set_value();
      });
      Await(used->get_future());
    });
  }

  // A reading of the former sources that is under way ends unheard; who waits for one hears of the
  // next, which also notices what has changed since the candidate was read.
  void GoBy(Candidate& candidate) {
    options = std::move(candidate.options);
    reader = std::move(candidate.reader);
    OnSuccess(candidate.reading);
    waiting.insert(waiting.end(), std::make_move_iterator(served.begin()),
                   std::make_move_iterator(served.end()));
    served.clear();
    reading = again = false;
    Read(nullptr);
  }

  void Stop() {
    io.stop();
    if (thread.joinable()) thread.join();
  }

  Parts parts;
  UpdaterMetrics metrics;
  boost::asio::io_context io{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{io.get_executor()};
  core::StreamOptions options;  // in force
  std::unique_ptr<ConfigReader> reader;
  FileWatch watch;
  boost::asio::steady_timer next;
  boost::asio::steady_timer quiet;
  std::optional<std::chrono::steady_clock::time_point> quiet_since;
  std::minstd_rand random{std::random_device{}()};
  std::atomic<bool> asked{false};  // a refresh is posted and has not begun
  bool started = false;
  bool reading = false;
  bool again = false;
  std::vector<std::function<void()>> waiting;  // for a reading that begins later
  std::vector<std::function<void()>> served;   // by the one that is under way
  std::optional<std::chrono::steady_clock::time_point> reported_at;
  std::int64_t unreported = 0;
  std::size_t size = 0;
  const std::shared_ptr<SharedState> shared = std::make_shared<SharedState>();
  State& state = shared->state;
  std::thread thread;
};

StreamUpdater::StreamUpdater(Parts parts) : impl_(std::make_shared<Impl>(std::move(parts))) {}
StreamUpdater::~StreamUpdater() { Stop(); }

core::Result<void> StreamUpdater::Start() {
  if (!impl_->parts.registry.configured()) return {};
  return impl_->Start();
}

void StreamUpdater::Refresh() {
  if (impl_->asked.exchange(true)) return;
  boost::asio::post(impl_->io, [impl = impl_.get()] {
    impl->asked = false;
    impl->Read(nullptr);
  });
}

void StreamUpdater::RefreshAndWait() {
  std::promise<void> over;
  boost::asio::post(impl_->io,
                    [impl = impl_.get(), &over] { impl->Read([&over] { over.set_value(); }); });
  over.get_future().get();
}

core::Result<std::function<void()>> StreamUpdater::Prepare(const core::StreamOptions& options) {
  if (!impl_->parts.registry.configured()) return std::function<void()>();
  return impl_->Prepare(options);
}

void StreamUpdater::Stop() { impl_->Stop(); }

StreamUpdater::State StreamUpdater::state() const {
  const std::lock_guard lock(impl_->shared->mutex);
  return impl_->state;
}

std::string StreamUpdater::Detail() const {
  const State now = state();
  if (now.trouble.empty()) return {};
  return std::string(now.from_copy ? "in use is the copy of " : "in use is what was read until ") +
         core::FormatIsoTime(now.good_at) + ", since reading fails: " + now.trouble;
}

}  // namespace sluice::streams
