#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace sluice::streams {

// A file in which what was acknowledged has to stay: all contact of declared streams with the disk,
// so that a test can inject a failure at any call. Every call blocks, returns 0 or the errno of its
// failure, and is made by one thread at a time.
class DurableFile {
 public:
  virtual ~DurableFile() = default;

  // The whole content, empty if there is no file yet. Keeps other processes away from the file for
  // the life of this object: EWOULDBLOCK if one was there first.
  virtual int Load(std::string* content) = 0;

  // Adds `bytes` at the end, made if missing. 0: they survive a loss of power. Else the file was
  // cut back to what it was, if the disk let it.
  virtual int Append(std::string_view bytes) = 0;

  // Puts `content` in the place of all there was: after a crash it is all old or all new.
  virtual int Replace(std::string_view content) = 0;

  // Keeps the file as it is now under another name beside it, for a person to look at.
  virtual int KeepCopy(const std::string& suffix) = 0;
};

// Makes the folder of `path` where missing, at the first call that needs it. Opens the file anew
// for each call, so it may be renamed away (rotated).
std::unique_ptr<DurableFile> MakeDurableFile(std::string path);

}  // namespace sluice::streams
