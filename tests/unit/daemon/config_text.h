#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/config_reader.h"

namespace doctest {
template <>
struct StringMaker<std::vector<std::string>> {
  static String convert(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += "\n  " + line;
    return text.c_str();
  }
};
}  // namespace doctest

namespace sluice::daemon {

// A configuration file in the temporary folder while it lives.
class ConfigFile {
 public:
  explicit ConfigFile(std::string_view text) {
    std::string name = "/tmp/sluice-config-" + std::string(6, 'X');
    const int descriptor = mkstemp(name.data());
    REQUIRE(descriptor >= 0);
    close(descriptor);
    path_ = name;
    std::ofstream(path_) << text;
  }
  ~ConfigFile() { std::remove(path_.c_str()); }
  ConfigFile(const ConfigFile&) = delete;
  ConfigFile& operator=(const ConfigFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Reads `text` as a file; in what comes back the file's path is "F".
inline ConfigReading ReadText(std::string_view text, std::vector<std::string> sets = {}) {
  const ConfigFile file(text);
  ConfigReading reading = ReadConfig({file.path(), std::move(sets)});
  const auto rename = [&](std::string& line) {
    for (std::size_t at; (at = line.find(file.path())) != std::string::npos;) {
      line.replace(at, file.path().size(), "F");
    }
  };
  for (ConfigProblem& problem : reading.problems) {
    rename(problem.where);
    rename(problem.text);
  }
  for (IgnoredKey& ignored : reading.ignored) rename(ignored.where);
  return reading;
}

inline std::vector<std::string> ProblemLines(const ConfigReading& reading) {
  std::vector<std::string> lines;
  for (const ConfigProblem& problem : reading.problems) lines.push_back(problem.Line());
  return lines;
}

inline std::string ReadWholeFile(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Enough to be good.
inline constexpr std::string_view kMinimal = "schema_base_uris: [/schemas]\n";

}  // namespace sluice::daemon
