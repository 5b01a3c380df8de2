#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace sluice::produce {

// A regular file that is open for reading and appending; closed by its destructor. Every call
// returns 0 or the errno of its failure and is made by one thread at a time. Calls block.
class AppendFile {
 public:
  virtual ~AppendFile() = default;

  virtual int Size(std::uint64_t* size_bytes) = 0;

  // Reads exactly `length` bytes; EIO if the file ends before.
  virtual int ReadAt(std::uint64_t offset, char* to, std::size_t length) = 0;

  // Appends at the end of the file. May write less than asked for, and then returns 0; `written` is
  // 0 on failure.
  virtual int Write(const iovec* parts, int count, std::size_t* written) = 0;

  // The bytes written so far (and the length) survive a loss of power when this returns 0.
  virtual int Sync() = 0;

  virtual int Truncate(std::uint64_t size_bytes) = 0;

  // True if the name was removed under us: what is appended now would be seen by nobody.
  virtual bool Unlinked() = 0;
};

// A small file of fixed size whose parts are replaced in place, which needs no room on the disk.
// Returns as in AppendFile; one thread at a time.
class FixedFile {
 public:
  virtual ~FixedFile() = default;
  virtual int ReadAt(std::uint64_t offset, char* to, std::size_t length) = 0;
  virtual int WriteAt(std::uint64_t offset, const char* from, std::size_t length) = 0;
  virtual int Sync() = 0;
};

// All contact of the files producer and of the spool with the operating system, so that a test can
// inject a failure at any call. Returns as in AppendFile. Any thread.
class FileOps {
 public:
  virtual ~FileOps() = default;

  // Creates the folder and its parents where missing.
  virtual int CreateFolders(const std::string& path) = 0;

  // 0 if files can be made in the folder.
  virtual int CheckWritable(const std::string& path) = 0;

  // Keeps other processes that ask the same away from the folder for as long as this object lives;
  // EWOULDBLOCK if one was there first.
  virtual int LockFolder(const std::string& path) = 0;

  // Names of the regular files of a folder, without their folder.
  virtual int ListFiles(const std::string& path, std::vector<std::string>* names) = 0;

  // Opens, or creates with mode 0640.
  virtual int Open(const std::string& path, std::unique_ptr<AppendFile>* file) = 0;

  // Opens the file, or creates it, with zeros up to `size_bytes`.
  virtual int OpenFixed(const std::string& path, std::uint64_t size_bytes,
                        std::unique_ptr<FixedFile>* file) = 0;

  // Of a file that is open elsewhere only the name goes.
  virtual int Remove(const std::string& path) = 0;

  virtual int Rename(const std::string& from, const std::string& to) = 0;

  // New names in the folder survive a loss of power when this returns 0.
  virtual int SyncFolder(const std::string& path) = 0;
};

std::unique_ptr<FileOps> MakePosixFileOps();

}  // namespace sluice::produce
