#include <brotli/encode.h>
#include <doctest/doctest.h>
#include <zlib.h>
#include <zstd.h>

#include <string>

#include "intake/decompress.h"

namespace sluice::intake {
namespace {

std::string Zlib(std::string_view text, int window) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string Brotli(std::string_view text) {
  std::size_t size = BrotliEncoderMaxCompressedSize(text.size()) + 64;
  std::string out(size, '\0');
  REQUIRE(BrotliEncoderCompress(5, 22, BROTLI_MODE_TEXT, text.size(),
                                reinterpret_cast<const std::uint8_t*>(text.data()), &size,
                                reinterpret_cast<std::uint8_t*>(out.data())) == BROTLI_TRUE);
  out.resize(size);
  return out;
}

std::string Zstd(std::string_view text, int window_log = 0) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  if (window_log > 0) ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
  std::string out(ZSTD_compressBound(text.size()), '\0');
  // By streaming, so that the frame does not say its size and keeps its window.
  ZSTD_inBuffer in{text.data(), text.size(), 0};
  ZSTD_outBuffer piece{out.data(), out.size(), 0};
  ZSTD_compressStream2(context, &piece, &in, ZSTD_e_continue);
  while (ZSTD_compressStream2(context, &piece, &in, ZSTD_e_end) != 0) {
  }
  out.resize(piece.pos);
  ZSTD_freeCCtx(context);
  return out;
}

struct Case {
  const char* name;
  ContentCoding coding;
  std::string (*pack)(std::string_view);
};

const Case kCases[] = {
    {"gzip", ContentCoding::kGzip, [](std::string_view t) { return Zlib(t, 31); }},
    {"deflate", ContentCoding::kDeflate, [](std::string_view t) { return Zlib(t, 15); }},
    {"raw deflate", ContentCoding::kDeflate, [](std::string_view t) { return Zlib(t, -15); }},
    {"br", ContentCoding::kBrotli, &Brotli},
    {"zstd", ContentCoding::kZstd, [](std::string_view t) { return Zstd(t); }},
};

struct Budget {
  core::LimitOptions limits;
  AdmissionControl control{limits};
  Permit permit;
  explicit Budget(std::uint64_t bytes = 64u << 20) {
    limits.memory_bytes = bytes;
    control.Use(limits);
    permit = std::move(*control.Admit(0));
  }
};

// In slices of an odd size, as a session does with a larger one.
core::Result<void> Inflate(ContentCoding coding, std::string_view text, std::uint64_t max_bytes,
                           Permit& permit, ByteBuffer& out) {
  Inflater inflater(coding, text, max_bytes, permit, out);
  while (true) {
    const auto progress = inflater.Continue(7777);
    if (!progress) return progress.error();
    if (*progress == Inflater::Progress::kDone) return {};
  }
}

std::string SomeText(std::size_t size) {
  std::string text;
  unsigned state = 7;
  while (text.size() < size) {
    state = state * 1664525u + 1013904223u;
    text += std::to_string(state);
  }
  text.resize(size);
  return text;
}

TEST_CASE("Inflater: gives back what was packed, and charges the room it took") {
  for (const Case& c : kCases) {
    for (const std::size_t size :
         {std::size_t{1}, std::size_t{958}, std::size_t{16384}, std::size_t{300000}}) {
      CAPTURE(c.name);
      CAPTURE(size);
      Budget budget;
      const std::string text = SomeText(size);
      ByteBuffer out;
      const auto result = Inflate(c.coding, c.pack(text), 1u << 20, budget.permit, out);
      REQUIRE(result.has_value());
      CHECK(out.view() == text);
      CHECK(budget.permit.bytes() == out.capacity());
    }
  }
}

TEST_CASE("Inflater: exactly the limit fits, one byte more does not") {
  const std::string text = SomeText(50000);
  for (const Case& c : kCases) {
    CAPTURE(c.name);
    Budget budget;
    ByteBuffer out;
    CHECK(Inflate(c.coding, c.pack(text), 50000, budget.permit, out).has_value());
    const auto result = Inflate(c.coding, c.pack(text), 49999, budget.permit, out);
    REQUIRE(!result);
    CHECK(result.error().code == core::ErrorCode::kBodyTooLarge);
  }
}

TEST_CASE("Inflater: a bomb is stopped at the limit") {
  const std::string zeros(64u << 20, '0');
  for (const Case& c : kCases) {
    CAPTURE(c.name);
    Budget budget(16u << 20);
    ByteBuffer out;
    const auto result = Inflate(c.coding, c.pack(zeros), 1u << 20, budget.permit, out);
    REQUIRE(!result);
    CHECK(result.error().code == core::ErrorCode::kBodyTooLarge);
    CHECK(out.capacity() <= (1u << 20) + 1);
  }
}

TEST_CASE("Inflater: without room in the budget the request is refused as overload") {
  const std::string zeros(4u << 20, '0');
  for (const Case& c : kCases) {
    CAPTURE(c.name);
    Budget budget(300 * 1024);
    ByteBuffer out;
    const auto result = Inflate(c.coding, c.pack(zeros), 10u << 20, budget.permit, out);
    REQUIRE(!result);
    CHECK(result.error().code == core::ErrorCode::kOverloaded);
    CHECK(budget.control.bytes() <= budget.limits.memory_bytes);
  }
}

TEST_CASE("Inflater: corrupt and truncated data are malformed, never accepted") {
  const std::string text = SomeText(5000);
  for (const Case& c : kCases) {
    CAPTURE(c.name);
    Budget budget;
    ByteBuffer out;
    const std::string packed = c.pack(text);
    for (const std::size_t size : {packed.size() - 1, packed.size() / 2, std::size_t{1}}) {
      const auto result =
          Inflate(c.coding, std::string_view(packed).substr(0, size), 1u << 20, budget.permit, out);
      REQUIRE(!result);
      CHECK(result.error().code == core::ErrorCode::kMalformedBody);
    }
    const auto garbage =
        Inflate(c.coding, "{\"not\":\"compressed\"} and more", 1u << 20, budget.permit, out);
    REQUIRE(!garbage);
    CHECK(garbage.error().code == core::ErrorCode::kMalformedBody);
  }
}

TEST_CASE("Inflater: members of gzip may follow each other") {
  Budget budget;
  ByteBuffer out;
  REQUIRE(Inflate(ContentCoding::kGzip, Zlib("one", 31) + Zlib("two", 31) + "tail", 1000,
                  budget.permit, out)
              .has_value());
  CHECK(out.view() == "onetwo");
}

TEST_CASE("Inflater: a zstd window above 8 MiB is refused") {
  Budget budget;
  ByteBuffer out;
  const std::string text = SomeText(100000);
  CHECK(Inflate(ContentCoding::kZstd, Zstd(text, 23), 1u << 20, budget.permit, out).has_value());
  const auto result = Inflate(ContentCoding::kZstd, Zstd(text, 25), 1u << 20, budget.permit, out);
  REQUIRE(!result);
  CHECK(result.error().code == core::ErrorCode::kMalformedBody);
}

TEST_CASE("Deflate: an answer can be inflated again") {
  const std::string text = SomeText(20000);
  for (const ContentCoding coding : {ContentCoding::kGzip, ContentCoding::kDeflate}) {
    std::string packed;
    REQUIRE(Deflate(coding, 3, text, packed));
    CHECK(packed.size() < text.size());
    Budget budget;
    ByteBuffer out;
    REQUIRE(Inflate(coding, packed, 1u << 20, budget.permit, out).has_value());
    CHECK(out.view() == text);
  }
}

}  // namespace
}  // namespace sluice::intake
