#include "produce/file_ops.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace sluice::produce {
namespace {

class PosixFile final : public AppendFile {
 public:
  explicit PosixFile(int fd) : fd_(fd) {}
  ~PosixFile() override { ::close(fd_); }
  PosixFile(const PosixFile&) = delete;
  PosixFile& operator=(const PosixFile&) = delete;

  int Size(std::uint64_t* size_bytes) override {
    struct stat info {};
    if (::fstat(fd_, &info) != 0) return errno;
    *size_bytes = static_cast<std::uint64_t>(info.st_size);
    return 0;
  }

  int ReadAt(std::uint64_t offset, char* to, std::size_t length) override {
    while (length > 0) {
      const ssize_t got = ::pread(fd_, to, length, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return errno;
      if (got == 0) return EIO;
      to += got;
      offset += static_cast<std::uint64_t>(got);
      length -= static_cast<std::size_t>(got);
    }
    return 0;
  }

  int Write(const iovec* parts, int count, std::size_t* written) override {
    *written = 0;
    for (;;) {
      const ssize_t n = ::writev(fd_, parts, count);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return errno;
      *written = static_cast<std::size_t>(n);
      return 0;
    }
  }

  int Sync() override { return ::fdatasync(fd_) == 0 ? 0 : errno; }

  int Truncate(std::uint64_t size_bytes) override {
    return ::ftruncate(fd_, static_cast<off_t>(size_bytes)) == 0 ? 0 : errno;
  }

  bool Unlinked() override {
    struct stat info {};
    return ::fstat(fd_, &info) == 0 && info.st_nlink == 0;
  }

 private:
  int fd_;
};

class PosixFileOps final : public FileOps {
 public:
  PosixFileOps() = default;
  ~PosixFileOps() override {
    if (lock_fd_ >= 0) ::close(lock_fd_);
  }
  PosixFileOps(const PosixFileOps&) = delete;
  PosixFileOps& operator=(const PosixFileOps&) = delete;

  int CreateFolders(const std::string& path) override {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    return error.value();
  }

  int CheckWritable(const std::string& path) override {
    return ::access(path.c_str(), W_OK | X_OK) == 0 ? 0 : errno;
  }

  int LockFolder(const std::string& path) override {
    lock_fd_ = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock_fd_ < 0) return errno;
    return ::flock(lock_fd_, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
  }

  int ListFiles(const std::string& path, std::vector<std::string>* names) override {
    std::error_code error;
    std::filesystem::directory_iterator entry(path, error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
      std::error_code ignored;  // an entry that vanished meanwhile is no file of ours
      if (entry->is_regular_file(ignored)) names->push_back(entry->path().filename().string());
    }
    return error.value();
  }

  int Open(const std::string& path, std::unique_ptr<AppendFile>* file) override {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    if (fd < 0) return errno;
    *file = std::make_unique<PosixFile>(fd);
    return 0;
  }

  int SyncFolder(const std::string& path) override {
    const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return errno;
    const int error = ::fsync(fd) == 0 ? 0 : errno;
    ::close(fd);
    return error;
  }

 private:
  int lock_fd_ = -1;
};

}  // namespace

std::unique_ptr<FileOps> MakePosixFileOps() { return std::make_unique<PosixFileOps>(); }

}  // namespace sluice::produce
