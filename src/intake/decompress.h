#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/error.h"
#include "intake/admission.h"
#include "intake/byte_buffer.h"
#include "intake/media_type.h"

namespace sluice::intake {

// Undoes the content coding of one body, in slices, so that a large one does not keep its thread
// from other connections. The arguments outlive it. Does not block.
class Inflater {
 public:
  enum class Progress : std::uint8_t { kMore, kDone };

  // Will inflate `text` into `out` (which is replaced), at most `max_bytes` of it, charging
  // `permit` for the room of `out` as it grows and, while this lives, for the decoder's tables.
  Inflater(ContentCoding coding, std::string_view text, std::uint64_t max_bytes, Permit& permit,
           ByteBuffer& out);
  ~Inflater();

  // Inflates at most `slice_bytes` more. Fails with kBodyTooLarge at the first byte above
  // `max_bytes`, kMalformedBody for corrupt or truncated data and for zstd windows above 8 MiB,
  // kOverloaded when the memory budget has no room. After a failure or kDone it must not be called
  // again.
  core::Result<Progress> Continue(std::size_t slice_bytes);

  // What a format's decoder looks like to this class.
  class Decoder;

 private:
  core::Result<void> MakeRoom();
  core::Error TooLarge() const;

  std::unique_ptr<Decoder> decoder_;
  std::uint64_t max_bytes_;
  Permit& permit_;
  ByteBuffer& out_;
};

// Deflates an answer by gzip or zlib into `out` (appended). False if that failed or does not make
// it smaller.
bool Deflate(ContentCoding coding, int level, std::string_view text, std::string& out);

}  // namespace sluice::intake
