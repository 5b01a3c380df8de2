#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace boost::asio {
class io_context;
}

namespace sluice::streams {

// Tells when files, or the contents of folders, may have changed: written, renamed into their
// place, removed. It watches the folders around them, also behind symbolic links, so that a file
// that is replaced stays watched. Tells too often rather than too rarely. On the thread of `io`.
class FileWatch {
 public:
  FileWatch(boost::asio::io_context& io, std::function<void()> changed);
  ~FileWatch();

  // Watches these from now on, and nothing else. What cannot be watched (a folder that is not
  // there) is left out: call it again before each reading.
  void Watch(const std::vector<std::string>& paths);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace sluice::streams
