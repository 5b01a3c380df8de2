#include "intake/decompress.h"

#include <brotli/decode.h>
#define ZSTD_STATIC_LINKING_ONLY  // the estimate of a frame's window
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstdlib>

namespace sluice::intake {

// Pulls output from input that is all there.
class Inflater::Decoder {
 public:
  struct Output {
    char* at;
    std::size_t room;
    std::size_t written = 0;
  };
  enum class State : std::uint8_t { kNeedsRoom, kEnd };

  virtual ~Decoder() = default;
  virtual core::Result<State> Decode(Output& output) = 0;
};

namespace {

using Decoder = Inflater::Decoder;
using State = Decoder::State;

constexpr std::size_t kFirstRoom = 16 * 1024;
constexpr std::size_t kZlibTables = 48 * 1024;
constexpr int kMaxWindowLog = 23;  // 8 MiB, what RFC 8878 asks decoders to take

core::Error Corrupt(std::string_view coding, std::string_view what) {
  return {core::ErrorCode::kMalformedBody,
          "The body is not valid " + std::string(coding) + ": " + std::string(what) + "."};
}

core::Error NoMemory() {
  return {core::ErrorCode::kOverloaded,
          "No memory left to decompress the body (raise limits.memory_bytes)."};
}

// A charge for a decoder's tables, given back with the decoder.
class TableCharge {
 public:
  explicit TableCharge(Permit& permit) : permit_(permit) {}
  ~TableCharge() { permit_.Refund(bytes_); }
  TableCharge(const TableCharge&) = delete;
  TableCharge& operator=(const TableCharge&) = delete;
  bool Add(std::uint64_t bytes) {
    if (!permit_.Charge(bytes)) return false;
    bytes_ += bytes;
    return true;
  }

 private:
  Permit& permit_;
  std::uint64_t bytes_ = 0;
};

class ZlibDecoder final : public Decoder {
 public:
  ZlibDecoder(ContentCoding coding, std::string_view text, Permit& permit)
      : gzip_(coding == ContentCoding::kGzip),
        window_(gzip_                 ? 15 + 16
                : LooksLikeZlib(text) ? 15
                                      : -15),
        charge_(permit) {
    // zlib's interface is not const-correct; it does not write to its input.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream_.avail_in = static_cast<uInt>(text.size());
    ready_ = charge_.Add(kZlibTables) && inflateInit2(&stream_, window_) == Z_OK;
  }
  ~ZlibDecoder() override {
    if (ready_) inflateEnd(&stream_);
  }

  core::Result<State> Decode(Output& output) override {
    if (!ready_) return NoMemory();
    stream_.next_out = reinterpret_cast<Bytef*>(output.at);
    stream_.avail_out = static_cast<uInt>(output.room);
    int status = Z_OK;
    do {
      status = inflate(&stream_, Z_NO_FLUSH);
    } while (status == Z_STREAM_END && NextMember());
    output.written = output.room - stream_.avail_out;
    if (status == Z_STREAM_END) return State::kEnd;
    if (status != Z_OK && status != Z_BUF_ERROR) {
      return Corrupt(name(), stream_.msg != nullptr ? stream_.msg : "bad data");
    }
    if (stream_.avail_out > 0) return Corrupt(name(), "unexpected end");
    return State::kNeedsRoom;
  }

 private:
  static bool LooksLikeZlib(std::string_view text) {
    if (text.size() < 2) return false;
    const auto first = static_cast<unsigned char>(text[0]);
    const auto second = static_cast<unsigned char>(text[1]);
    return (first & 0x0f) == 8 && (first * 256 + second) % 31 == 0;
  }
  std::string_view name() const { return gzip_ ? "gzip" : "deflate"; }

  // Members of gzip may follow each other; other bytes behind the end are ignored, as Node ignores
  // them.
  bool NextMember() {
    return gzip_ && stream_.avail_in >= 2 && stream_.next_in[0] == 0x1f &&
           stream_.next_in[1] == 0x8b && inflateReset2(&stream_, window_) == Z_OK;
  }

  const bool gzip_;
  const int window_;
  TableCharge charge_;
  z_stream stream_{};
  bool ready_ = false;
};

class BrotliDecoder final : public Decoder {
 public:
  BrotliDecoder(std::string_view text, Permit& permit)
      : charge_(permit),
        state_(BrotliDecoderCreateInstance(&Take, &Give, this)),
        next_in_(reinterpret_cast<const std::uint8_t*>(text.data())),
        avail_in_(text.size()) {}
  ~BrotliDecoder() override {
    if (state_ != nullptr) BrotliDecoderDestroyInstance(state_);
  }

  core::Result<State> Decode(Output& output) override {
    if (state_ == nullptr) return NoMemory();
    auto* next_out = reinterpret_cast<std::uint8_t*>(output.at);
    std::size_t avail_out = output.room;
    const BrotliDecoderResult status = BrotliDecoderDecompressStream(
        state_, &avail_in_, &next_in_, &avail_out, &next_out, nullptr);
    output.written = output.room - avail_out;
    switch (status) {
      case BROTLI_DECODER_RESULT_SUCCESS:
        return State::kEnd;
      case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT:
        return State::kNeedsRoom;
      case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT:
        return Corrupt("br", "unexpected end");
      case BROTLI_DECODER_RESULT_ERROR:
        break;
    }
    if (refused_) return NoMemory();
    return Corrupt("br", "bad data");
  }

 private:
  // brotli's own memory, up to a window of 16 MiB, is charged as it is taken.
  static void* Take(void* self, std::size_t bytes) {
    auto* decoder = static_cast<BrotliDecoder*>(self);
    if (decoder->charge_.Add(bytes)) return std::malloc(bytes);
    decoder->refused_ = true;
    return nullptr;
  }
  static void Give(void*, void* block) { std::free(block); }

  TableCharge charge_;
  bool refused_ = false;
  BrotliDecoderState* state_;
  const std::uint8_t* next_in_;
  std::size_t avail_in_;
};

class ZstdDecoder final : public Decoder {
 public:
  ZstdDecoder(std::string_view text, Permit& permit)
      : charge_(permit), in_{text.data(), text.size(), 0} {
    // The window of the first frame; of a window above the limit nothing is taken, decoding it
    // fails.
    const std::size_t tables = ZSTD_estimateDStreamSize_fromFrame(text.data(), text.size());
    const bool sensible = !ZSTD_isError(tables) && tables <= (std::size_t{2} << kMaxWindowLog);
    if (!charge_.Add(sensible ? tables : kZlibTables)) return;
    context_ = ZSTD_createDCtx();
    if (context_ != nullptr) ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, kMaxWindowLog);
  }
  ~ZstdDecoder() override { ZSTD_freeDCtx(context_); }

  core::Result<State> Decode(Output& output) override {
    if (context_ == nullptr) return NoMemory();
    ZSTD_outBuffer piece{output.at, output.room, 0};
    std::size_t status = 1;
    do {  // frame after frame
      status = ZSTD_decompressStream(context_, &piece, &in_);
      output.written = piece.pos;
      if (ZSTD_isError(status)) return Corrupt("zstd", ZSTD_getErrorName(status));
    } while (in_.pos < in_.size && piece.pos < piece.size);
    if (status == 0 && in_.pos == in_.size) return State::kEnd;
    if (piece.pos < piece.size) return Corrupt("zstd", "unexpected end");
    return State::kNeedsRoom;
  }

 private:
  TableCharge charge_;
  ZSTD_inBuffer in_;
  ZSTD_DCtx* context_ = nullptr;
};

std::unique_ptr<Decoder> MakeDecoder(ContentCoding coding, std::string_view text, Permit& permit) {
  switch (coding) {
    case ContentCoding::kIdentity:
      break;
    case ContentCoding::kGzip:
    case ContentCoding::kDeflate:
      return std::make_unique<ZlibDecoder>(coding, text, permit);
    case ContentCoding::kBrotli:
      return std::make_unique<BrotliDecoder>(text, permit);
    case ContentCoding::kZstd:
      return std::make_unique<ZstdDecoder>(text, permit);
  }
  return nullptr;
}

}  // namespace

Inflater::Inflater(ContentCoding coding, std::string_view text, std::uint64_t max_bytes,
                   Permit& permit, ByteBuffer& out)
    : decoder_(MakeDecoder(coding, text, permit)),
      max_bytes_(max_bytes),
      permit_(permit),
      out_(out) {
  out_.Free();
  if (decoder_ == nullptr) out_.Append(text);
}

Inflater::~Inflater() = default;

core::Error Inflater::TooLarge() const {
  return {core::ErrorCode::kBodyTooLarge, "The decompressed body is larger than " +
                                              std::to_string(max_bytes_) +
                                              " bytes (max_body_size)."};
}

// Room grows by doubling, up to one byte above the limit, which tells "too large" from "just fits".
core::Result<void> Inflater::MakeRoom() {
  if (out_.size() > max_bytes_) return TooLarge();
  if (out_.spare() > 0) return {};
  const std::uint64_t wanted = out_.capacity() == 0 ? kFirstRoom : 2 * out_.capacity();
  const std::uint64_t room = std::min<std::uint64_t>(wanted, max_bytes_ + 1);
  if (!permit_.Charge(room - out_.capacity())) return NoMemory();
  out_.Reserve(room);
  return {};
}

core::Result<Inflater::Progress> Inflater::Continue(std::size_t slice_bytes) {
  while (decoder_ != nullptr) {
    if (slice_bytes == 0) return Progress::kMore;
    if (const auto room = MakeRoom(); !room) return room.error();
    Decoder::Output output{out_.end(), std::min(out_.spare(), slice_bytes)};
    const auto state = decoder_->Decode(output);
    out_.Grow(output.written);
    slice_bytes -= output.written;
    if (!state) return state.error();
    if (*state == Decoder::State::kEnd) break;
  }
  if (out_.size() > max_bytes_) return TooLarge();
  return Progress::kDone;
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
