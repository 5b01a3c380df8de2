#include "streams/declared_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/read_file.h"

namespace sluice::streams {
namespace {

constexpr std::size_t kMaxBytes = 4096ull << 20;
constexpr mode_t kMode = 0640;

class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }

 private:
  int fd_;
};

int WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

class PosixFile final : public DurableFile {
 public:
  explicit PosixFile(std::string path) : path_(std::move(path)) {
    folder_ = std::filesystem::path(path_).parent_path().string();
    if (folder_.empty()) folder_ = ".";
  }

  int Load(std::string* content) override {
    if (const int error = MakeFolder()) return error;
    lock_ = Fd(::open((path_ + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kMode));
    if (!lock_.ok() || ::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) return errno;
    content->clear();
    const int error = core::ReadFile(path_, kMaxBytes, *content);
    return error == ENOENT ? 0 : error;
  }

  int Append(std::string_view bytes) override {
    if (const int error = MakeFolder()) return error;
    const Fd file(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kMode));
    struct stat before {};
    if (!file.ok() || ::fstat(file.get(), &before) != 0) return errno;
    int error = WriteAll(file.get(), bytes);
    if (error == 0 && ::fdatasync(file.get()) != 0) error = errno;
    if (error == 0) return before.st_size == 0 ? SyncFolder() : 0;
    // Of what was refused nothing may come back later.
    if (::ftruncate(file.get(), before.st_size) == 0) ::fdatasync(file.get());
    return error;
  }

  int Replace(std::string_view content) override {
    if (const int error = MakeFolder()) return error;
    const std::string fresh = path_ + ".new";
    int error = 0;
    {
      const Fd file(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode));
      if (!file.ok()) return errno;
      error = WriteAll(file.get(), content);
      if (error == 0 && ::fsync(file.get()) != 0) error = errno;
    }
    if (error == 0 && ::rename(fresh.c_str(), path_.c_str()) != 0) error = errno;
    if (error == 0) return SyncFolder();
    ::unlink(fresh.c_str());
    return error;
  }

  int KeepCopy(const std::string& suffix) override {
    return ::link(path_.c_str(), (path_ + suffix).c_str()) == 0 ? 0 : errno;
  }

 private:
  int MakeFolder() {
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    return error.value();
  }

  int SyncFolder() {
    const Fd folder(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return folder.ok() && ::fsync(folder.get()) == 0 ? 0 : errno;
  }

  std::string path_;
  std::string folder_;
  Fd lock_;
};

}  // namespace

std::unique_ptr<DurableFile> MakeDurableFile(std::string path) {
  return std::make_unique<PosixFile>(std::move(path));
}

}  // namespace sluice::streams
