#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/error.h"
#include "intake/ingest.h"

namespace sluice::intake {

enum class ContentCoding : std::uint8_t { kIdentity, kGzip, kDeflate, kBrotli, kZstd };

// What a Content-Type says about a body of events. Fails with kUnsupportedMediaType and the
// accepted types, also for a charset other than UTF-8.
core::Result<BodyKind> ReadContentType(std::string_view content_type);

// What a Content-Encoding says; empty means identity. Fails with kUnsupportedMediaType and the
// accepted codings.
core::Result<ContentCoding> ReadContentEncoding(std::string_view content_encoding);

// The coding of an answer by the request's Accept-Encoding: gzip or deflate, whichever is wanted
// more (gzip if alike), else identity.
ContentCoding ChooseAnswerCoding(std::string_view accept_encoding);

}  // namespace sluice::intake
