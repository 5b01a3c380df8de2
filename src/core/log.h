#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::core {

enum class LogLevel : std::uint8_t { kTrace, kDebug, kInfo, kWarn, kError, kFatal };
// kAuto: kText where stderr is a terminal, else kJson.
enum class LogFormat : std::uint8_t { kAuto, kText, kJson, kJournald };

// "warn"; the word that configuration and log lines have for it.
std::string_view ToString(LogLevel level);
// The level of such a word; nullopt if there is none.
std::optional<LogLevel> LogLevelOf(std::string_view word);

// One extra member of a log line. Values are written as JSON strings, or as they are when
// `raw_json`; a field without a value is left out.
struct LogField {
  LogField(std::string_view n, std::string_view v) : name(n), value(v) {}
  LogField(std::string_view n, const char* v) : name(n), value(v) {}
  LogField(std::string_view n, const std::string& v) : name(n), value(v) {}
  LogField(std::string_view n, std::int64_t v)
      : name(n), value(std::to_string(v)), raw_json(true) {}
  std::string_view name;
  std::string value;
  bool raw_json = false;
};

struct LogOptions {
  LogLevel level = LogLevel::kInfo;
  LogFormat format = LogFormat::kAuto;
  std::string service_name = "sluice";
  int per_kind_per_second = 10;  // lines of one kind above this are counted, not written
};

// Sets what the whole process logs and how, to stderr. May be called again; any thread.
void ConfigureLog(const LogOptions& options);

// Changes the level alone, until the next ConfigureLog. Any thread.
void SetLogLevel(LogLevel level);
LogLevel CurrentLogLevel();

// True if a line of this level would be written: ask before building expensive fields.
bool LogEnabled(LogLevel level);

// Writes one line (a JSON object, "<priority>{…}" for journald, or a text for people), at most
// `per_kind_per_second` a second for each `kind`; what was held back is told by the next line of
// the kind in `suppressed`. `kind` is a short constant word ("schema_load_failed"). Never put a
// request's body or personal data into a field. Any thread, does not throw; one write(2) per line.
void Log(LogLevel level, std::string_view kind, std::string_view message,
         std::initializer_list<LogField> fields = {});

}  // namespace sluice::core
