#pragma once

#include "validate/format_chars.h"

// Addresses, as several formats have them inside.
namespace sluice::validate {

// Whether 010 is a number from 0 to 255.
enum class LeadingZeros : std::uint8_t { kNo, kYes };
// Four numbers with dots between. On failure the cursor may have moved.
bool TakeIpv4(TextCursor& cursor, LeadingZeros zeros);

// RFC 4291, 2.2, an IPv4 address at the end included. On failure the cursor may have moved.
bool TakeIpv6(TextCursor& cursor);

// A letter or digit, and up to 62 more of them or hyphens, the last no hyphen. On failure the
// cursor may have moved.
bool TakeHostLabel(TextCursor& cursor);
// Labels with dots between, as far as they go: a dot that no label follows is left.
bool TakeHostLabels(TextCursor& cursor);

}  // namespace sluice::validate
