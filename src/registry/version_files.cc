#include "registry/version_files.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

namespace sluice::registry {
namespace {

namespace fs = std::filesystem;

// Splits "1.12.0.yaml" into version and extension; false if it is no version file.
bool SplitVersion(std::string_view name, std::string_view& version, std::string_view& extension) {
  std::size_t at = 0;
  for (int part = 0; part < 3; ++part) {
    if (part > 0) {
      if (at >= name.size() || name[at] != '.') return false;
      ++at;
    }
    const std::size_t from = at;
    while (at < name.size() && name[at] >= '0' && name[at] <= '9') ++at;
    if (at == from) return false;
  }
  version = name.substr(0, at);
  extension = name.substr(at);
  return extension.empty() || extension == ".yaml" || extension == ".yml" || extension == ".json";
}

}  // namespace

std::vector<VersionFile> FindVersionFiles(const std::string& folder,
                                          std::vector<std::string>& problems) {
  // The extension of each version; an empty one gives way to any other.
  std::map<std::string, std::string> found;
  std::error_code error;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  const fs::recursive_directory_iterator end;
  while (!error && at != end) {
    const fs::directory_entry& entry = *at;
    const std::string name = entry.path().filename().string();
    std::error_code ignored;
    std::string_view version;
    std::string_view extension;
    if (name.starts_with('.')) {
      at.disable_recursion_pending();
    } else if (SplitVersion(name, version, extension) && !entry.is_symlink(ignored) &&
               entry.is_regular_file(ignored)) {
      const std::string parent = entry.path().parent_path().string();
      std::string uri = parent.substr(std::min(folder.size(), parent.size()));
      uri += '/';
      uri += version;
      std::string& known = found[uri];
      if (known.empty()) known = extension;
    }
    at.increment(error);
  }
  if (error) problems.push_back(folder + ": " + error.message());
  std::vector<VersionFile> files;
  files.reserve(found.size());
  for (auto& [uri, extension] : found) files.push_back({uri, extension});
  return files;
}

std::optional<SchemaVersion> ParseSchemaVersion(std::string_view text) {
  SchemaVersion version{};
  for (std::size_t i = 0; i < version.size(); ++i) {
    if (!text.starts_with(i == 0 ? '/' : '.')) return std::nullopt;
    text.remove_prefix(1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version[i]);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  return text.empty() ? std::optional<SchemaVersion>(version) : std::nullopt;
}

std::optional<NewestVersion> FindNewestVersion(const std::string& folder,
                                               std::vector<std::string>& problems) {
  std::optional<NewestVersion> newest;
  for (VersionFile& file : FindVersionFiles(folder, problems)) {
    const auto version = ParseSchemaVersion(file.uri);  // null in the folders below
    if (version && (!newest || *version > newest->version)) {
      newest = NewestVersion{*version, std::move(file)};
    }
  }
  return newest;
}

}  // namespace sluice::registry
