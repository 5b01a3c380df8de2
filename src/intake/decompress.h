#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "core/error.h"
#include "intake/admission.h"
#include "intake/byte_buffer.h"
#include "intake/media_type.h"

namespace sluice::intake {

// Undoes the content coding of request bodies. Keeps its tables between calls; one per thread. Does
// not block.
class Inflater {
 public:
  Inflater();
  ~Inflater();

  // Inflates `text` into `out` (which is replaced), at most `max_bytes` of it, charging `permit`
  // for the room of `out` and for large windows as it grows. Fails with kBodyTooLarge at the first
  // byte above `max_bytes`, kMalformedBody for corrupt or truncated data and for windows above 8
  // MiB, kOverloaded when the memory budget has no room.
  core::Result<void> Inflate(ContentCoding coding, std::string_view text, std::uint64_t max_bytes,
                             Permit& permit, ByteBuffer& out);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Deflates an answer by gzip or zlib into `out` (appended). False if that failed or does not make
// it smaller.
bool Deflate(ContentCoding coding, int level, std::string_view text, std::string& out);

}  // namespace sluice::intake
