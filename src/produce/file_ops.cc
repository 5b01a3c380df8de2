#include "produce/file_ops.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

namespace sluice::produce {
namespace {

int PReadAll(int fd, std::uint64_t offset, char* to, std::size_t length) {
  while (length > 0) {
    const ssize_t got = ::pread(fd, to, length, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) return EIO;
    to += got;
    offset += static_cast<std::uint64_t>(got);
    length -= static_cast<std::size_t>(got);
  }
  return 0;
}

int PWriteAll(int fd, std::uint64_t offset, const char* from, std::size_t length) {
  while (length > 0) {
    const ssize_t put = ::pwrite(fd, from, length, static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno;
    from += put;
    offset += static_cast<std::uint64_t>(put);
    length -= static_cast<std::size_t>(put);
  }
  return 0;
}

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
    return PReadAll(fd_, offset, to, length);
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

class PosixFixedFile final : public FixedFile {
 public:
  explicit PosixFixedFile(int fd) : fd_(fd) {}
  ~PosixFixedFile() override { ::close(fd_); }
  PosixFixedFile(const PosixFixedFile&) = delete;
  PosixFixedFile& operator=(const PosixFixedFile&) = delete;

  int ReadAt(std::uint64_t offset, char* to, std::size_t length) override {
    return PReadAll(fd_, offset, to, length);
  }
  int WriteAt(std::uint64_t offset, const char* from, std::size_t length) override {
    return PWriteAll(fd_, offset, from, length);
  }
  int Sync() override { return ::fdatasync(fd_) == 0 ? 0 : errno; }

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
    if (::flock(lock_fd_, LOCK_EX | LOCK_NB) == 0) return 0;
    const int error = errno;
    ::close(std::exchange(lock_fd_, -1));
    return error;
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

  int OpenFixed(const std::string& path, std::uint64_t size_bytes,
                std::unique_ptr<FixedFile>* file) override {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640);
    if (fd < 0) return errno;
    auto opened = std::make_unique<PosixFixedFile>(fd);
    struct stat info {};
    if (::fstat(fd, &info) != 0) return errno;
    // Written and not only made longer: a place in the file must be there when the disk is full.
    const auto size = static_cast<std::uint64_t>(info.st_size);
    if (size < size_bytes) {
      const std::string zeros(size_bytes - size, '\0');
      if (int error = PWriteAll(fd, size, zeros.data(), zeros.size()); error != 0) return error;
    }
    *file = std::move(opened);
    return 0;
  }

  int Remove(const std::string& path) override { return ::unlink(path.c_str()) == 0 ? 0 : errno; }

  int Rename(const std::string& from, const std::string& to) override {
    return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
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
