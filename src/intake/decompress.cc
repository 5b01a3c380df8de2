#include "intake/decompress.h"

#include <brotli/decode.h>
#define ZSTD_STATIC_LINKING_ONLY  // the estimate of a frame's window
#include <zlib.h>
#include <zstd.h>

#include <cstdlib>
#include <string>

namespace sluice::intake {
namespace {

constexpr std::size_t kFirstRoom = 16 * 1024;
constexpr int kMaxWindowLog = 23;  // 8 MiB, what RFC 8878 asks decoders to take
constexpr std::size_t kKeptTables = 1u
                                    << 20;  // larger zstd tables are given back after the request

core::Error Corrupt(std::string_view coding, std::string_view what) {
  return {core::ErrorCode::kMalformedBody,
          "The body is not valid " + std::string(coding) + ": " + std::string(what) + "."};
}

// Room for output: grows by doubling up to one byte above the limit, which tells "too large" from
// "just fits".
class Output {
 public:
  Output(ByteBuffer& out, std::uint64_t max_bytes, Permit& permit)
      : out_(out), max_bytes_(max_bytes), permit_(permit) {
    out_.Free();
  }

  // Makes sure that there is room; the error says why there is none.
  core::Result<void> MakeRoom() {
    if (out_.size() > max_bytes_) return TooLarge();
    if (out_.spare() > 0) return {};
    const std::uint64_t wanted = out_.capacity() == 0 ? kFirstRoom : 2 * out_.capacity();
    const std::uint64_t room = std::min<std::uint64_t>(wanted, max_bytes_ + 1);
    if (!permit_.Charge(room - out_.capacity())) {
      return core::Error{core::ErrorCode::kOverloaded,
                         "No memory left to decompress the body (raise limits.memory_bytes)."};
    }
    out_.Reserve(room);
    return {};
  }
  core::Result<void> Done() { return out_.size() > max_bytes_ ? TooLarge() : core::Result<void>(); }
  ByteBuffer& bytes() { return out_; }

 private:
  core::Result<void> TooLarge() const {
    return core::Error{core::ErrorCode::kBodyTooLarge, "The decompressed body is larger than " +
                                                           std::to_string(max_bytes_) +
                                                           " bytes (max_body_size)."};
  }
  ByteBuffer& out_;
  std::uint64_t max_bytes_;
  Permit& permit_;
};

// Memory of the brotli decoder, charged to the request.
struct BrotliMemory {
  static void* Take(void* self, std::size_t bytes) {
    auto* memory = static_cast<BrotliMemory*>(self);
    if (!memory->permit.Charge(bytes)) {
      memory->refused = true;
      return nullptr;
    }
    memory->charged += bytes;
    return std::malloc(bytes);
  }
  static void Give(void*, void* block) { std::free(block); }
  Permit& permit;
  std::uint64_t charged = 0;
  bool refused = false;
};

bool LooksLikeZlib(std::string_view text) {
  if (text.size() < 2) return false;
  const auto first = static_cast<unsigned char>(text[0]);
  const auto second = static_cast<unsigned char>(text[1]);
  return (first & 0x0f) == 8 && (first * 256 + second) % 31 == 0;
}

}  // namespace

struct Inflater::Impl {
  z_stream zlib{};
  bool zlib_ready = false;
  ZSTD_DCtx* zstd = nullptr;

  ~Impl() {
    if (zlib_ready) inflateEnd(&zlib);
    ZSTD_freeDCtx(zstd);
  }
  core::Result<void> Zlib(ContentCoding coding, std::string_view text, Output& out);
  core::Result<void> Brotli(std::string_view text, Permit& permit, Output& out);
  core::Result<void> Zstd(std::string_view text, Permit& permit, Output& out);
};

core::Result<void> Inflater::Impl::Zlib(ContentCoding coding, std::string_view text, Output& out) {
  const bool gzip = coding == ContentCoding::kGzip;
  const int window = gzip ? 15 + 16 : LooksLikeZlib(text) ? 15 : -15;
  const std::string_view name = gzip ? "gzip" : "deflate";
  const int ready = zlib_ready ? inflateReset2(&zlib, window) : inflateInit2(&zlib, window);
  if (ready != Z_OK) return core::Error{core::ErrorCode::kInternal, "zlib cannot start."};
  zlib_ready = true;
  // zlib's interface is not const-correct; it does not write to its input.
  zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  zlib.avail_in = static_cast<uInt>(text.size());
  while (true) {
    if (auto room = out.MakeRoom(); !room) return room;
    ByteBuffer& bytes = out.bytes();
    const auto spare = static_cast<uInt>(bytes.spare());
    zlib.next_out = reinterpret_cast<Bytef*>(bytes.end());
    zlib.avail_out = spare;
    const int status = inflate(&zlib, Z_NO_FLUSH);
    bytes.Grow(spare - zlib.avail_out);
    if (status == Z_STREAM_END) {
      // Members of gzip may follow each other; other bytes behind the end are ignored, as Node
      // ignores them.
      if (gzip && zlib.avail_in >= 2 && zlib.next_in[0] == 0x1f && zlib.next_in[1] == 0x8b) {
        if (inflateReset2(&zlib, window) == Z_OK) continue;
      }
      return out.Done();
    }
    if (status == Z_OK && (zlib.avail_in > 0 || zlib.avail_out == 0)) continue;
    if (status == Z_OK || status == Z_BUF_ERROR) {
      if (zlib.avail_out == 0) continue;
      return Corrupt(name, "unexpected end");
    }
    return Corrupt(name, zlib.msg != nullptr ? zlib.msg : "bad data");
  }
}

core::Result<void> Inflater::Impl::Brotli(std::string_view text, Permit& permit, Output& out) {
  BrotliMemory memory{permit};
  const std::unique_ptr<BrotliDecoderState, void (*)(BrotliDecoderState*)> state(
      BrotliDecoderCreateInstance(&BrotliMemory::Take, &BrotliMemory::Give, &memory),
      &BrotliDecoderDestroyInstance);
  const auto no_memory =
      core::Error{core::ErrorCode::kOverloaded,
                  "No memory left to decompress the body (raise limits.memory_bytes)."};
  if (!state) return no_memory;
  const auto* next_in = reinterpret_cast<const std::uint8_t*>(text.data());
  std::size_t avail_in = text.size();
  core::Result<void> result;
  while (true) {
    result = out.MakeRoom();
    if (!result) break;
    ByteBuffer& bytes = out.bytes();
    auto* next_out = reinterpret_cast<std::uint8_t*>(bytes.end());
    std::size_t avail_out = bytes.spare();
    const std::size_t spare = avail_out;
    const BrotliDecoderResult status = BrotliDecoderDecompressStream(
        state.get(), &avail_in, &next_in, &avail_out, &next_out, nullptr);
    bytes.Grow(spare - avail_out);
    if (status == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT) continue;
    if (status == BROTLI_DECODER_RESULT_SUCCESS) {
      result = out.Done();
    } else if (status == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT) {
      result = Corrupt("br", "unexpected end");
    } else if (memory.refused) {
      result = no_memory;
    } else {
      result = Corrupt("br", "bad data");
    }
    break;
  }
  permit.Refund(memory.charged);
  return result;
}

core::Result<void> Inflater::Impl::Zstd(std::string_view text, Permit& permit, Output& out) {
  if (zstd == nullptr) zstd = ZSTD_createDCtx();
  if (zstd == nullptr) return core::Error{core::ErrorCode::kInternal, "zstd cannot start."};
  ZSTD_DCtx_reset(zstd, ZSTD_reset_session_and_parameters);
  ZSTD_DCtx_setParameter(zstd, ZSTD_d_windowLogMax, kMaxWindowLog);
  // The window of the first frame, which is what a sender can make large cheaply.
  const std::size_t tables = ZSTD_estimateDStreamSize_fromFrame(text.data(), text.size());
  const std::uint64_t window = ZSTD_isError(tables) || tables > (2u << kMaxWindowLog) ? 0 : tables;
  if (!permit.Charge(window)) {
    return core::Error{core::ErrorCode::kOverloaded,
                       "No memory left to decompress the body (raise limits.memory_bytes)."};
  }
  ZSTD_inBuffer in{text.data(), text.size(), 0};
  core::Result<void> result;
  while (true) {
    result = out.MakeRoom();
    if (!result) break;
    ByteBuffer& bytes = out.bytes();
    ZSTD_outBuffer piece{bytes.end(), bytes.spare(), 0};
    const std::size_t status = ZSTD_decompressStream(zstd, &piece, &in);
    bytes.Grow(piece.pos);
    if (ZSTD_isError(status)) {
      result = Corrupt("zstd", ZSTD_getErrorName(status));
      break;
    }
    if (in.pos < in.size || piece.pos == piece.size) {
      if (status != 0 || in.pos < in.size) continue;
    }
    result = status == 0 ? out.Done() : Corrupt("zstd", "unexpected end");
    break;
  }
  permit.Refund(window);
  if (ZSTD_sizeof_DCtx(zstd) > kKeptTables) {
    ZSTD_freeDCtx(zstd);
    zstd = nullptr;
  }
  return result;
}

Inflater::Inflater() : impl_(std::make_unique<Impl>()) {}
Inflater::~Inflater() = default;

core::Result<void> Inflater::Inflate(ContentCoding coding, std::string_view text,
                                     std::uint64_t max_bytes, Permit& permit, ByteBuffer& out) {
  Output output(out, max_bytes, permit);
  switch (coding) {
    case ContentCoding::kIdentity:
      break;
    case ContentCoding::kGzip:
    case ContentCoding::kDeflate:
      return impl_->Zlib(coding, text, output);
    case ContentCoding::kBrotli:
      return impl_->Brotli(text, permit, output);
    case ContentCoding::kZstd:
      return impl_->Zstd(text, permit, output);
  }
  out.Append(text);
  return output.Done();
}

bool Deflate(ContentCoding coding, int level, std::string_view text, std::string& out) {
  z_stream stream{};
  const int window = coding == ContentCoding::kGzip ? 15 + 16 : 15;
  if (deflateInit2(&stream, level, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) != Z_OK) return false;
  const std::size_t begin = out.size();
  out.resize(begin + text.size());
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data() + begin);
  stream.avail_out = static_cast<uInt>(text.size());
  const int status = deflate(&stream, Z_FINISH);
  const std::size_t size = text.size() - stream.avail_out;
  deflateEnd(&stream);
  out.resize(status == Z_STREAM_END ? begin + size : begin);
  return status == Z_STREAM_END;
}

}  // namespace sluice::intake
