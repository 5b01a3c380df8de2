#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace sluice::intake {

// Somebody who may declare streams.
struct AdminToken {
  std::string name;
  std::array<unsigned char, 32> sha256{};  // of the token; the token itself is not kept
  std::vector<std::string> patterns;       // of stream names, `*` and `?` as in a shell
};

// Whether one of the patterns takes the whole of `name`; `*` is any run of characters, dots too.
bool AnyPatternTakes(const std::vector<std::string>& patterns, std::string_view name);

// Reads a token file, a list as YAML or JSON:
//
//   - name: instrument-tool
//     token: "32 random characters or more"   # or token_sha256: 64 hex digits
//     streams: ["product.*", "test.?"]
//
// Fails with everything that is wrong, one problem a line.
core::Result<std::vector<AdminToken>> ReadAdminTokens(std::string_view text);

// The tokens of a file, which is read again when it has changed; one that is broken then is told in
// the log, and the tokens before stay. Any thread; blocks for the disk.
class AdminTokens {
 public:
  // `path` may begin with ${CREDENTIALS_DIRECTORY}.
  explicit AdminTokens(std::string path) : path_(std::move(path)) {}

  // Reads the file for the first time; fails with what to change.
  core::Result<void> Load();

  // The token of an `Authorization: Bearer …` header, null if it is none of ours. Takes the same
  // time whichever it is, and however much of it is right.
  std::shared_ptr<const AdminToken> Find(std::string_view authorization);

 private:
  struct Stamp {
    long long inode = -1;
    long long size = 0;
    long long seconds = 0;
    long nanoseconds = 0;
    bool operator==(const Stamp&) const = default;
  };
  using TokenList = std::vector<std::shared_ptr<const AdminToken>>;

  static Stamp StampOf(const std::string& path);
  core::Result<void> Read();
  TokenList Current();

  const std::string path_;
  std::mutex mutex_;
  std::string file_;  // path_ resolved
  Stamp stamp_;
  TokenList tokens_;
};

}  // namespace sluice::intake
