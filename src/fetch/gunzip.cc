#include "fetch/gunzip.h"

#include <zlib.h>

namespace sluice::fetch {

const char* Gunzip(std::string_view compressed, std::size_t max_bytes, std::string& out) {
  z_stream stream{};
  constexpr int kDetectHeader = 32;
  if (inflateInit2(&stream, MAX_WBITS + kDetectHeader) != Z_OK) return "out of memory";
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));
  stream.avail_in = static_cast<uInt>(compressed.size());
  const char* problem = nullptr;
  out.clear();
  char buffer[16384];
  for (;;) {
    stream.next_out = reinterpret_cast<Bytef*>(buffer);
    stream.avail_out = sizeof buffer;
    const int result = inflate(&stream, Z_NO_FLUSH);
    const std::size_t got = sizeof buffer - stream.avail_out;
    if (out.size() + got > max_bytes) {
      problem = "larger than allowed after decompression";
      break;
    }
    out.append(buffer, got);
    if (result == Z_STREAM_END) break;
    if (result != Z_OK || (got == 0 && stream.avail_in == 0)) {
      problem = result == Z_BUF_ERROR || result == Z_OK ? "compressed data is cut short"
                                                        : "compressed data is corrupt";
      break;
    }
  }
  inflateEnd(&stream);
  return problem;
}

}  // namespace sluice::fetch
