#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::registry {

// A schema version in a folder of schemas.
struct VersionFile {
  std::string uri;        // "/a/b/1.0.0", as events name it
  std::string extension;  // ".yaml", ".json", or empty if the file has none
};

// All files below `folder` that are named X.Y.Z.yaml, .yml or .json, or X.Y.Z where none of these
// stands beside it, sorted. Links, "current" files and hidden folders are left out. What cannot be
// read is added to `problems`.
std::vector<VersionFile> FindVersionFiles(const std::string& folder,
                                          std::vector<std::string>& problems);

using SchemaVersion = std::array<std::uint64_t, 3>;

// Of "/1.20.3"; nullopt if there is anything else.
std::optional<SchemaVersion> ParseSchemaVersion(std::string_view text);

struct NewestVersion {
  SchemaVersion version{};
  VersionFile file;  // its uri is "/1.20.3"
};

// The highest version by number that lies in `folder` itself. `problems` as above.
std::optional<NewestVersion> FindNewestVersion(const std::string& folder,
                                               std::vector<std::string>& problems);

}  // namespace sluice::registry
