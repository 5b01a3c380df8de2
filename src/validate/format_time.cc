#include "validate/format_chars.h"
#include "validate/format_rules.h"

namespace sluice::validate::full {
namespace {

constexpr int kMinutesPerDay = 24 * 60;

// Exactly `count` digits; -1: they are not there.
int TakeNumber(TextCursor& cursor, int count) {
  int value = 0;
  for (int i = 0; i < count; ++i) {
    if (!IsDigitChar(cursor.Peek())) return -1;
    value = value * 10 + (cursor.Peek() - '0');
    cursor.Skip(1);
  }
  return value;
}

int TakeNumberUpTo(TextCursor& cursor, int max) {
  const int value = TakeNumber(cursor, 2);
  return value <= max ? value : -1;
}

int DaysOf(int year, int month) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return month == 2 && leap ? 29 : kDays[month - 1];
}

bool TakeDate(TextCursor& cursor) {
  const int year = TakeNumber(cursor, 4);
  if (year < 0 || !cursor.TakeIf('-')) return false;
  const int month = TakeNumberUpTo(cursor, 12);
  if (month < 1 || !cursor.TakeIf('-')) return false;
  const int day = TakeNumberUpTo(cursor, DaysOf(year, month));
  return day >= 1;
}

// The offset from UTC in minutes.
bool TakeOffset(TextCursor& cursor, int& minutes) {
  minutes = 0;
  if (cursor.TakeIf('Z') || cursor.TakeIf('z')) return true;
  const char sign = cursor.Peek();
  if (sign != '+' && sign != '-') return false;
  cursor.Skip(1);
  const int hour = TakeNumberUpTo(cursor, 23);
  if (hour < 0 || !cursor.TakeIf(':')) return false;
  const int minute = TakeNumberUpTo(cursor, 59);
  if (minute < 0) return false;
  minutes = (hour * 60 + minute) * (sign == '-' ? -1 : 1);
  return true;
}

bool TakeTime(TextCursor& cursor) {
  const int hour = TakeNumberUpTo(cursor, 23);
  if (hour < 0 || !cursor.TakeIf(':')) return false;
  const int minute = TakeNumberUpTo(cursor, 59);
  if (minute < 0 || !cursor.TakeIf(':')) return false;
  const int second = TakeNumberUpTo(cursor, 60);
  if (second < 0) return false;
  if (cursor.TakeIf('.') && cursor.TakeAll(kDigitChar) == 0) return false;
  int offset = 0;
  if (!TakeOffset(cursor, offset)) return false;
  if (second < 60) return true;
  // Leap seconds are inserted at the end of a day in UTC.
  const int utc = (hour * 60 + minute - offset + kMinutesPerDay) % kMinutesPerDay;
  return utc == kMinutesPerDay - 1;
}

}  // namespace

bool IsDate(std::string_view text) {
  TextCursor cursor(text);
  return TakeDate(cursor) && cursor.done();
}

bool IsTime(std::string_view text) {
  TextCursor cursor(text);
  return TakeTime(cursor) && cursor.done();
}

bool IsDateTime(std::string_view text) {
  TextCursor cursor(text);
  return TakeDate(cursor) && (cursor.TakeIf('T') || cursor.TakeIf('t')) && TakeTime(cursor) &&
         cursor.done();
}

}  // namespace sluice::validate::full
