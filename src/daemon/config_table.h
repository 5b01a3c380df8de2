#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <variant>

#include "core/config.h"

namespace sluice::daemon {

// Where a key is kept; the type of the member is the type of the key.
template <class T>
using Member = T& (*)(core::Config&);
using Target =
    std::variant<Member<std::string>, Member<std::optional<std::string>>, Member<bool>, Member<int>,
                 Member<std::uint16_t>, Member<std::uint32_t>, Member<std::uint64_t>,
                 Member<std::chrono::milliseconds>, Member<std::vector<std::string>>,
                 Member<core::StringPairs>, Member<core::WhenToSet>, Member<core::OutputKind>,
                 Member<core::FsyncPolicy>, Member<core::TopicPolicy>, Member<core::SpoolMode>,
                 Member<core::TlsVersion>, Member<core::LogLevel>, Member<core::LogFormat>>;

// What a type alone does not say about how a value is written.
enum class Notation : std::uint8_t {
  kPlain,
  kBytes,         // "10mb" or bytes
  kFormatMode,    // a bool written as fast | full
  kJsonTexts,     // a list of any YAML values, kept as JSON texts
  kJsonMap,       // a map of any YAML values, kept as JSON text; empty where not given
  kIgnoreFollow,  // a bool written as ignore | follow
  kKafkaConf,     // a map that goes to librdkafka
  kSecretPairs,   // a map whose values may be secret
};

// When a changed value takes effect: with a reload, or only at the next start.
enum class Reload : std::uint8_t { kRestart, kLive };

// One key of the configuration: everything that is known about it. Its default is what
// core::Config{} holds.
struct ConfigKey {
  std::string_view name;  // with dots, as --set takes it
  Target target;
  std::string_view text;  // one sentence or two
  std::int64_t min = 0;   // of numbers; bytes, milliseconds. Of words: the first allowed one
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
  Notation notation = Notation::kPlain;
  std::string_view example = {};  // YAML for config/production.yaml, where the default would not do
  Reload reload = Reload::kRestart;
};

// All keys, in the order of the documentation: those of one section stand together.
std::span<const ConfigKey> ConfigKeys();

// The key of that name, or null.
const ConfigKey* FindKey(std::string_view name);

// The map-like key that `name` is an entry of ("kafka.conf.linger.ms"), and the entry's name; or
// null.
const ConfigKey* FindKeyOfEntry(std::string_view name, std::string_view& entry);

// Whether keys begin with `name` and a dot.
bool IsSection(std::string_view name);

}  // namespace sluice::daemon
