#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace sluice::test {

// A folder with a name of its own, gone with all that is in it at the end.
class TempFolder {
 public:
  TempFolder() {
    path_ = (std::filesystem::temp_directory_path() / "sluice-test-").string();
    path_.append(6, 'X');  // mkdtemp puts the name's own part there
    if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("mkdtemp failed: " + path_);
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }

  // Writes `text` to the file at `relative` ("a/b" or "/a/b"), making its folders; returns its
  // path.
  std::string Write(std::string_view relative, std::string_view text) const {
    const std::filesystem::path file = Place(relative);
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
  }
  void Link(std::string_view relative, const std::string& target) const {
    std::filesystem::create_symlink(target, Place(relative));
  }

 private:
  std::filesystem::path Place(std::string_view relative) const {
    if (relative.starts_with('/')) relative.remove_prefix(1);
    const std::filesystem::path file = std::filesystem::path(path_) / relative;
    std::filesystem::create_directories(file.parent_path());
    return file;
  }

  std::string path_;
};

// A file with a name of its own, gone at the end.
class TempFile {
 public:
  explicit TempFile(std::string_view text) : path_(folder_.Write("file", text)) {}
  void Write(std::string_view text) const { folder_.Write("file", text); }
  const std::string& path() const { return path_; }

 private:
  TempFolder folder_;
  std::string path_;
};

}  // namespace sluice::test
