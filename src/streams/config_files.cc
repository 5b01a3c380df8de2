#include "streams/config_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/read_file.h"

namespace sluice::streams {
namespace {

namespace fs = std::filesystem;

class FileReading {
 public:
  explicit FileReading(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  void Read(const std::string& uri, std::string_view setting, ConfigText::Origin origin) {
    const std::string path = PathOf(uri);
    const std::string about = std::string(setting) + " " + path;
    std::error_code error;
    if (fs::is_directory(path, error)) {
      ReadFolder(path, about, origin);
    } else {
      ReadOne(path, about, origin);
    }
  }

  core::Result<std::vector<ConfigText>> Take() {
    if (message_.empty()) return std::move(texts_);
    return core::Error{core::ErrorCode::kStreamConfigUnavailable, std::move(message_)};
  }

 private:
  void Complain(const std::string& line) {
    if (!message_.empty()) message_ += '\n';
    message_ += line;
  }

  void ReadFolder(const std::string& path, const std::string& about, ConfigText::Origin origin) {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator entry(path, error), end; !error && entry != end;
         entry.increment(error)) {
      const fs::path file = entry->path().filename();
      const std::string extension = file.extension().string();
      if (extension == ".yaml" || extension == ".yml" || extension == ".json")
        names.push_back(file.string());
    }
    if (error) return Complain(about + ": " + error.message());
    std::erase_if(names, [](const std::string& name) { return name.front() == '.'; });
    if (names.empty()) return Complain(about + ": the folder holds no .yaml, .yml or .json file");
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      const std::string file = (fs::path(path) / name).string();
      ReadOne(file, file, origin);
    }
  }

  void ReadOne(const std::string& path, const std::string& about, ConfigText::Origin origin) {
    ConfigText text{path, {}, origin};
    if (const int error = core::ReadFile(path, max_bytes_, text.text)) {
      std::string line = about + ": " + core::ErrnoText(error);
      if (error == EFBIG) line += " (stream_config_max_bytes)";
      return Complain(line);
    }
    texts_.push_back(std::move(text));
  }

  const std::size_t max_bytes_;
  std::vector<ConfigText> texts_;
  std::string message_;
};

}  // namespace

bool IsHttpUrl(std::string_view uri) {
  return uri.starts_with("http://") || uri.starts_with("https://");
}

std::string PathOf(std::string_view uri) {
  constexpr std::string_view kFileScheme = "file://";
  if (uri.starts_with(kFileScheme)) uri.remove_prefix(kFileScheme.size());
  return std::string(uri);
}

std::vector<std::string> ConfigPaths(const core::StreamOptions& options) {
  std::vector<std::string> paths;
  for (const std::string& file : options.config_files) paths.push_back(PathOf(file));
  if (!options.config_uri.empty() && !IsHttpUrl(options.config_uri))
    paths.push_back(PathOf(options.config_uri));
  return paths;
}

core::Result<std::vector<ConfigText>> ReadConfigFiles(const core::StreamOptions& options) {
  FileReading reading(options.config_max_bytes);
  for (const std::string& file : options.config_files)
    reading.Read(file, "stream_config_files", ConfigText::Origin::kFiles);
  if (!options.config_uri.empty() && !IsHttpUrl(options.config_uri))
    reading.Read(options.config_uri, "stream_config_uri", ConfigText::Origin::kUri);
  return reading.Take();
}

}  // namespace sluice::streams
