#include "core/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace sluice::core {
namespace {

int ReadAll(int fd, std::size_t max_bytes, std::string& out) {
  struct stat info {};
  if (fstat(fd, &info) != 0) return errno;
  if (S_ISDIR(info.st_mode)) return EISDIR;
  if (!S_ISREG(info.st_mode)) return EINVAL;
  out.clear();
  out.reserve(static_cast<std::size_t>(info.st_size));
  char buffer[16384];
  for (;;) {
    const ssize_t got = read(fd, buffer, sizeof buffer);
    if (got == 0) return 0;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (out.size() + static_cast<std::size_t>(got) > max_bytes) return EFBIG;
    out.append(buffer, static_cast<std::size_t>(got));
  }
}

}  // namespace

int ReadFile(const std::string& path, std::size_t max_bytes, std::string& out) {
  if (path.find('\0') != std::string::npos) return EINVAL;
  // Without O_NONBLOCK the open of a pipe would wait for a writer.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return errno;
  const int error = ReadAll(fd, max_bytes, out);
  close(fd);
  return error;
}

std::string ErrnoText(int error) { return std::generic_category().message(error); }

}  // namespace sluice::core
