#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "validate/document.h"

namespace sluice::validate {

// Bytes that must be readable behind a text that is parsed in place (simdjson reads in whole
// blocks).
inline constexpr std::size_t kReadPadding = 64;

struct ReadOptions {
  int max_depth = 1000;
  // Asked, if set, whether the tables of a text may take this many bytes besides the text, before
  // they are filled.
  std::function<bool(std::uint64_t table_bytes)> charge;
};

// Reads JSON texts into a Document, accepting exactly what JavaScript's JSON.parse accepts of the
// text decoded as UTF-8 (with a byte order mark skipped and ill-formed bytes replaced), up to
// `max_depth`. simdjson finds the structure and checks UTF-8; numbers of any size, lone surrogates
// and duplicate keys are taken as JavaScript takes them. Keeps its tables between calls; one per
// thread.
class Reader {
 public:
  Reader();
  ~Reader();

  // Parses `text`, behind which kReadPadding bytes are readable. On success `document.body` views
  // `text`, or, if bytes had to be replaced, a copy inside this reader, valid until the next call;
  // replaced() counts them. Fails with kMalformedBody and a message with what is wrong and at which
  // byte (counted in the text as sent, or, where bytes were replaced, in the text after that, which
  // the message then says); with kOverloaded if `charge` said no.
  core::Result<void> Read(std::string_view text, const ReadOptions& options, Document& document);

  // How many ill-formed sequences the last Read replaced by U+FFFD.
  std::size_t replaced() const { return replaced_; }

  // Gives back tables that a large text made large.
  void Shrink();

 private:
  struct Index;  // simdjson's first stage
  core::Result<void> ReadDecoded(std::string_view text, std::size_t skipped,
                                 const ReadOptions& options, Document& document);
  std::unique_ptr<Index> index_;
  std::string copy_;  // the text with its ill-formed bytes replaced
  std::size_t replaced_ = 0;
};

}  // namespace sluice::validate
