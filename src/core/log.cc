#include "core/log.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
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
  std::string_view text;             // as wide as the others
};

constexpr std::array<LevelWords, 6> kWords = {{
    {"trace", "<7>", "TRACE"},
    {"debug", "<7>", "DEBUG"},
    {"info", "<6>", "INFO "},
    {"warn", "<4>", "WARN "},
    {"error", "<3>", "ERROR"},
    {"fatal", "<2>", "FATAL"},
}};

const LevelWords& WordsOf(LogLevel level) { return kWords[static_cast<std::size_t>(level)]; }

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

// What is told of one line besides its text.
struct LineFacts {
  LogLevel level;
  std::string_view kind;
  std::string service_name;
  std::uint64_t suppressed = 0;
};

using Fields = std::initializer_list<LogField>;

bool IsLeftOut(const LogField& field) { return field.value.empty() && !field.raw_json; }

void AppendObject(std::string& line, const LineFacts& facts, std::string_view message,
                  Fields fields) {
  line += "{\"time\":\"";
  AppendNow(line);
  line += '"';
  AppendMember(line, "level", WordsOf(facts.level).word);
  AppendMember(line, "service", facts.service_name);
  AppendMember(line, "kind", facts.kind);
  AppendMember(line, "message", message);
  for (const LogField& field : fields) {
    if (IsLeftOut(field)) continue;
    if (!field.raw_json) {
      AppendMember(line, field.name, field.value);
      continue;
    }
    line += ',';
    AppendJsonString(line, field.name);
    line += ':';
    line += field.value;
  }
  if (facts.suppressed > 0) line += ",\"suppressed\":" + std::to_string(facts.suppressed);
  line += '}';
}

// A value that stands behind "name=": as it is if it is one plain word, else as a JSON string, so
// that no text from outside can look like a line or a field of ours, or move the cursor.
void AppendWord(std::string& line, std::string_view value) {
  const bool plain = std::all_of(value.begin(), value.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("-_.:/+$,@%").find(c) != std::string_view::npos;
  });
  if (plain) {
    line += value;
  } else {
    AppendJsonString(line, value);
  }
}

void AppendForPeople(std::string& line, const LineFacts& facts, std::string_view message,
                     Fields fields) {
  AppendNow(line);
  line += ' ';
  line += WordsOf(facts.level).text;
  line += ' ';
  std::string text;
  AppendJsonString(text, message);
  line += std::string_view(text).substr(1, text.size() - 2);
  line += "  kind=";
  line += facts.kind;
  for (const LogField& field : fields) {
    if (IsLeftOut(field)) continue;
    line += ' ';
    line += field.name;
    line += '=';
    AppendWord(line, field.value);
  }
  if (facts.suppressed > 0) line += " suppressed=" + std::to_string(facts.suppressed);
}

void WriteLine(LogLevel level, std::string_view kind, std::string_view message, Fields fields) {
  const std::int64_t second = std::chrono::duration_cast<std::chrono::seconds>(
                                  std::chrono::steady_clock::now().time_since_epoch())
                                  .count();
  LogState& state = State();
  LineFacts facts{level, kind, {}};
  LogFormat format = LogFormat::kJson;
  {
    const std::lock_guard lock(state.mutex);
    const KindLimiter::Verdict verdict = state.limiter.Admit(kind, second);
    if (!verdict.write) return;
    facts.suppressed = verdict.suppressed;
    facts.service_name = state.options.service_name;
    format = state.options.format;
  }
  std::string line;
  if (format == LogFormat::kJournald) line += WordsOf(level).journald_prefix;
  if (format == LogFormat::kText) {
    AppendForPeople(line, facts, message, fields);
  } else {
    AppendObject(line, facts, message, fields);
  }
  line += '\n';
  // A log that nobody reads must not stop the service: a failed write is the end of this line.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace

void ConfigureLog(const LogOptions& options) {
  LogState& state = State();
  const std::lock_guard lock(state.mutex);
  state.options = options;
  if (options.format == LogFormat::kAuto) {
    state.options.format = ::isatty(STDERR_FILENO) == 1 ? LogFormat::kText : LogFormat::kJson;
  }
  state.limiter = KindLimiter(options.per_kind_per_second);
  g_level.store(options.level, std::memory_order_relaxed);
}

void SetLogLevel(LogLevel level) { g_level.store(level, std::memory_order_relaxed); }

LogLevel CurrentLogLevel() { return g_level.load(std::memory_order_relaxed); }

std::string_view ToString(LogLevel level) { return WordsOf(level).word; }

std::optional<LogLevel> LogLevelOf(std::string_view word) {
  for (std::size_t i = 0; i < kWords.size(); ++i) {
    if (kWords[i].word == word) return static_cast<LogLevel>(i);
  }
  return std::nullopt;
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
