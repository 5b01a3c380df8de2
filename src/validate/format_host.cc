#include "validate/format_host.h"

namespace sluice::validate {
namespace {

// 25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d, or with [01]?\d\d? for the last two: zeros before it.
bool TakeOctet(TextCursor& cursor, LeadingZeros zeros) {
  const char first = cursor.Peek();
  int value = 0;
  std::size_t count = 0;
  for (; count < 3 && IsDigitChar(cursor.Peek()); ++count) {
    value = value * 10 + (cursor.Peek() - '0');
    cursor.Skip(1);
  }
  return count > 0 && value <= 255 && (zeros == LeadingZeros::kYes || count == 1 || first != '0');
}

}  // namespace

bool TakeIpv4(TextCursor& cursor, LeadingZeros zeros) {
  for (int i = 0; i < 4; ++i) {
    if (i > 0 && !cursor.TakeIf('.')) return false;
    if (!TakeOctet(cursor, zeros)) return false;
  }
  return true;
}

// By how many groups `h:` it begins with: behind n of them come up to 7 - n groups `:h`, or up to 5
// - n of these and an IPv4 address behind a colon, or the second colon of a `::`. With none, the
// first colon of the `::` is taken alone; with six, the IPv4 address may follow at once; with
// seven, the last group.
bool TakeIpv6(TextCursor& cursor) {
  constexpr std::size_t kMaxGroupDigits = 4;
  int before = 0;
  for (; before < 7; ++before) {
    TextCursor group = cursor;
    if (group.TakeAll(kHexChar, kMaxGroupDigits) == 0 || !group.TakeIf(':')) break;
    cursor = group;
  }
  if (before == 7) return cursor.TakeAll(kHexChar, kMaxGroupDigits) > 0 || cursor.TakeIf(':');
  if (before == 0 && !cursor.TakeIf(':')) return false;
  if (before == 6 && cursor.Peek() != ':') return TakeIpv4(cursor, LeadingZeros::kNo);
  if (cursor.Peek() != ':') return false;
  int behind = 0;
  TextCursor last = cursor;  // before the last group
  for (; behind < 7; ++behind) {
    TextCursor group = cursor;
    if (!group.TakeIf(':') || group.TakeAll(kHexChar, kMaxGroupDigits) == 0) break;
    last = cursor;
    cursor = group;
  }
  if (behind == 0) return cursor.TakeIf(':');
  if (cursor.Peek() == '.') {  // the last group is the beginning of an IPv4 address
    cursor = last;
    cursor.Skip(1);
    return before <= 5 && behind - 1 <= 5 - before && TakeIpv4(cursor, LeadingZeros::kNo);
  }
  return behind <= 7 - before;
}

bool TakeHostLabel(TextCursor& cursor) {
  constexpr std::size_t kMaxLabel = 63;
  if (!cursor.TakeIfOf(kAlphaChar | kDigitChar)) return false;
  char last = 'a';
  std::size_t length = 1;
  for (; IsOf(cursor.Peek(), kAlphaChar | kDigitChar) || cursor.Peek() == '-'; ++length) {
    last = cursor.Peek();
    cursor.Skip(1);
  }
  return last != '-' && length <= kMaxLabel;
}

bool TakeHostLabels(TextCursor& cursor) {
  if (!TakeHostLabel(cursor)) return false;
  while (cursor.Peek() == '.' && IsOf(cursor.Peek(1), kAlphaChar | kDigitChar)) {
    cursor.Skip(1);
    if (!TakeHostLabel(cursor)) return false;
  }
  return true;
}

}  // namespace sluice::validate
