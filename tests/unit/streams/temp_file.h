#pragma once

#include <doctest/doctest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace sluice::streams {

// A file with a name of its own, gone at the end.
class TempFile {
 public:
  explicit TempFile(std::string_view text) {
    path_ = (std::filesystem::temp_directory_path() / "sluice-streams-XXXXXX").string();
    const int fd = mkstemp(path_.data());
    REQUIRE(fd >= 0);
    REQUIRE(close(fd) == 0);
    Write(text);
  }
  ~TempFile() { std::filesystem::remove(path_); }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  void Write(std::string_view text) { std::ofstream(path_, std::ios::binary) << text; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A folder with a name of its own, gone with all that is in it at the end.
class TempFolder {
 public:
  TempFolder() {
    path_ = (std::filesystem::temp_directory_path() / "sluice-streams-XXXXXX").string();
    REQUIRE(mkdtemp(path_.data()) != nullptr);
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  std::string Write(const std::string& name, std::string_view text) const {
    std::ofstream(path_ + '/' + name, std::ios::binary) << text;
    return path_ + '/' + name;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace sluice::streams
