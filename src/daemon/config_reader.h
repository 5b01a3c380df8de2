#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.h"

namespace sluice::daemon {

// Where the configuration comes from.
struct ConfigSource {
  std::string file;               // empty: defaults only
  std::vector<std::string> sets;  // "key.path=value", applied in order over the file
};

struct ConfigProblem {
  std::string where;         // "file.yaml:12", "--set", or empty: of the whole
  std::string key;           // may be empty
  std::string text;          // what is wrong; what to do
  std::string Line() const;  // "where: key: text"
};

struct IgnoredKey {
  std::string where;
  std::string key;
  std::string reason;
};

enum class ConfigShape : std::uint8_t { kFlat, kServiceFile };

// The outcome of reading: usable if there are no problems.
struct ConfigReading {
  core::Config config;
  ConfigShape shape = ConfigShape::kFlat;
  std::vector<ConfigProblem> problems;  // all of them
  std::vector<IgnoredKey> ignored;
  std::map<std::string, std::string, std::less<>>
      places;  // key, or "key entry" of maps, to where it was given
};

// Reads and checks everything that can be checked without connecting to anything or opening a port.
// Does not throw.
ConfigReading ReadConfig(const ConfigSource& source);

}  // namespace sluice::daemon
