#include "streams/file_watch.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>

namespace sluice::streams {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kEvents = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE |
                                  IN_CREATE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;

// Names of one watched folder that count; empty: all.
using Names = std::set<std::string>;

}  // namespace

struct FileWatch::Impl : std::enable_shared_from_this<Impl> {
  Impl(boost::asio::io_context& io, std::function<void()> callback)
      : changed(std::move(callback)), descriptor(io) {}

  // A new instance for each set of watches: what the old one still had to say does not matter, a
  // reading follows.
  bool Open() {
    boost::system::error_code ignored;
    descriptor.close(ignored);
    names.clear();
    const int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (fd < 0) return false;
    descriptor.assign(fd, ignored);
    return true;
  }

  void AddFolder(const fs::path& folder) {
    const int watch = inotify_add_watch(descriptor.native_handle(), folder.c_str(), kEvents);
    if (watch >= 0) names[watch].clear();
  }

  void AddFile(const fs::path& file) {
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    const int watch = inotify_add_watch(descriptor.native_handle(), folder.c_str(), kEvents);
    if (watch < 0) return;
    const auto [entry, added] = names.try_emplace(watch);
    if (!added && entry->second.empty()) return;  // all of the folder counts already
    entry->second.insert(file.filename().string());
    entry->second.insert("..data");  // what Kubernetes renames when it updates a mounted file
  }

  void Add(const std::string& path) {
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    const bool linked = !error && real != fs::absolute(path, error).lexically_normal();
    if (fs::is_directory(path, error)) {
      AddFolder(path);
      if (linked) AddFile(path);
      return;
    }
    AddFile(path);
    if (linked) AddFile(real);
  }

  bool Counts(const inotify_event& event, const char* name) const {
    if ((event.mask & IN_Q_OVERFLOW) != 0) return true;
    const auto found = names.find(event.wd);
    if (found == names.end()) return false;
    return event.len == 0 || found->second.empty() || found->second.contains(name);
  }

  bool Drain() {
    alignas(inotify_event) std::array<char, 16384> buffer;
    bool counts = false;
    for (;;) {
      const ssize_t size = read(descriptor.native_handle(), buffer.data(), buffer.size());
      if (size <= 0) return counts;
      for (ssize_t at = 0; at < size;) {
        inotify_event event;
        std::memcpy(&event, buffer.data() + at, sizeof event);
        const char* name = buffer.data() + at + sizeof event;
        counts = counts || Counts(event, name);
        at += static_cast<ssize_t>(sizeof event + event.len);
      }
    }
  }

  void Wait() {
    descriptor.async_wait(boost::asio::posix::descriptor_base::wait_read,
                          [weak = weak_from_this()](const boost::system::error_code& ec) {
                            const auto self = weak.lock();
                            if (!self || ec) return;
                            if (self->Drain()) self->changed();
                            if (self->descriptor.is_open()) self->Wait();
                          });
  }

  std::function<void()> changed;
  boost::asio::posix::stream_descriptor descriptor;
  std::map<int, Names> names;  // by watch
};

FileWatch::FileWatch(boost::asio::io_context& io, std::function<void()> changed)
    : impl_(std::make_shared<Impl>(io, std::move(changed))) {}
FileWatch::~FileWatch() = default;

void FileWatch::Watch(const std::vector<std::string>& paths) {
  if (paths.empty() || !impl_->Open()) return;
  for (const std::string& path : paths) impl_->Add(path);
  impl_->Wait();
}

}  // namespace sluice::streams
