#include "core/log.h"

#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>

#include "core/json_text.h"
#include "core/kind_limiter.h"

namespace sluice::core {
namespace {

struct LogState {
  std::mutex mutex;
  LogOptions options;
  KindLimiter limiter{LogOptions{}.per_kind_per_second};
};

// Never destroyed: threads may log while statics are torn down.
LogState& State() {
  static LogState* state = new LogState;
  return *state;
}

std::atomic<LogLevel> g_level{LogOptions{}.level};

struct LevelWords {
  std::string_view word;
  std::string_view journald_prefix;  // sd-daemon(3)
};

const LevelWords& WordsOf(LogLevel level) {
  static constexpr std::array<LevelWords, 6> kWords = {{
      {"trace", "<7>"},
      {"debug", "<7>"},
      {"info", "<6>"},
      {"warn", "<4>"},
      {"error", "<3>"},
      {"fatal", "<2>"},
  }};
  return kWords[static_cast<std::size_t>(level)];
}

void AppendNow(std::string& line) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm parts{};
  gmtime_r(&now.tv_sec, &parts);
  std::array<char, 80> text{};
  const int length =
      std::snprintf(text.data(), text.size(), "%04d-%02d-%02dT%02d:%02d:%02d.%03ldZ",
                    parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour,
                    parts.tm_min, parts.tm_sec, now.tv_nsec / 1000000);
  line.append(text.data(), static_cast<std::size_t>(length));
}

void AppendMember(std::string& line, std::string_view name, std::string_view value) {
  line += ',';
  AppendJsonString(line, name);
  line += ':';
  AppendJsonString(line, value);
}

void WriteLine(LogLevel level, std::string_view kind, std::string_view message,
               std::initializer_list<LogField> fields) {
  const std::int64_t second = std::chrono::duration_cast<std::chrono::seconds>(
                                  std::chrono::steady_clock::now().time_since_epoch())
                                  .count();
  LogState& state = State();
  std::string service_name;
  LogFormat format = LogFormat::kJson;
  KindLimiter::Verdict verdict;
  {
    const std::lock_guard lock(state.mutex);
    verdict = state.limiter.Admit(kind, second);
    if (!verdict.write) return;
    service_name = state.options.service_name;
    format = state.options.format;
  }
  std::string line;
  if (format == LogFormat::kJournald) line += WordsOf(level).journald_prefix;
  line += "{\"time\":\"";
  AppendNow(line);
  line += '"';
  AppendMember(line, "level", WordsOf(level).word);
  AppendMember(line, "service", service_name);
  AppendMember(line, "kind", kind);
  AppendMember(line, "message", message);
  for (const LogField& field : fields) {
    if (!field.raw_json) {
      AppendMember(line, field.name, field.value);
      continue;
    }
    line += ',';
    AppendJsonString(line, field.name);
    line += ':';
    line += field.value;
  }
  if (verdict.suppressed > 0) line += ",\"suppressed\":" + std::to_string(verdict.suppressed);
  line += "}\n";
  // A log that nobody reads must not stop the service: a failed write is the end of this line.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace

void ConfigureLog(const LogOptions& options) {
  LogState& state = State();
  const std::lock_guard lock(state.mutex);
  state.options = options;
  state.limiter = KindLimiter(options.per_kind_per_second);
  g_level.store(options.level, std::memory_order_relaxed);
}

bool LogEnabled(LogLevel level) { return level >= g_level.load(std::memory_order_relaxed); }

void Log(LogLevel level, std::string_view kind, std::string_view message,
         std::initializer_list<LogField> fields) {
  if (!LogEnabled(level)) return;
  try {
    WriteLine(level, kind, message, fields);
  } catch (const std::exception&) {
    // Out of memory: the caller has better things to do than to fail over a log line.
  }
}

}  // namespace sluice::core
