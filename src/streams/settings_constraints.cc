#include "streams/settings_constraints.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>

namespace sluice::streams {
namespace {

using Wanted = WantedSetting;
using Members = std::vector<WantedMember>;

constexpr int kMaxDepth = 10;              // deeper settings count as matching, as in the original
constexpr std::size_t kMaxKeyDepth = 100;  // of a[b][c]…: bounds recursion

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::string UrlDecode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
    const int low = high >= 0 ? HexDigit(text[i + 2]) : -1;
    if (low >= 0) {
      out.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    } else {
      out.push_back(text[i] == '+' ? ' ' : text[i]);
    }
  }
  return out;
}

// The number of a key that PHP turns into an integer: decimal digits as an integer is printed.
std::optional<std::int64_t> IntegerKey(std::string_view key) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), number);
  if (error != std::errc() || end != key.data() + key.size()) return std::nullopt;
  if (std::to_string(number) != key) return std::nullopt;
  return number;
}

Wanted* Find(Members& members, std::string_view key) {
  for (auto& [name, value] : members) {
    if (name == key) return &value;
  }
  return nullptr;
}

void PushBack(Members& members, Wanted value) {
  std::int64_t next = 0;
  for (const auto& [key, ignored] : members) {
    if (const auto number = IntegerKey(key); number && *number >= next) next = *number + 1;
  }
  members.push_back({std::to_string(next), std::move(value)});
}

enum class OnEqualKeys { kReplace, kMerge };

// PHP's array_merge and array_merge_recursive of `from` into `into`: what has an integer as key is
// appended.
void Merge(Members& into, Members from, OnEqualKeys on_equal_keys) {
  for (auto& [key, value] : from) {
    if (IntegerKey(key)) {
      PushBack(into, std::move(value));
      continue;
    }
    Wanted* known = Find(into, key);
    if (known == nullptr) {
      into.push_back({std::move(key), std::move(value)});
    } else if (on_equal_keys == OnEqualKeys::kReplace) {
      *known = std::move(value);
    } else {
      if (known->is_text) {
        Wanted list{false, {}, {}};
        PushBack(list.members, std::move(*known));
        *known = std::move(list);
      }
      if (value.is_text) {
        PushBack(known->members, std::move(value));
      } else {
        Merge(known->members, std::move(value.members), OnEqualKeys::kMerge);
      }
    }
  }
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

// One "key=value" of a piece into `members`, as MediaWiki's wfCgiToArray does: of a value only what
// is before a second '=' counts.
void AddPair(std::string_view pair, Members& members) {
  const auto halves = Split(pair, '=');
  const std::string key = UrlDecode(halves[0]);
  Wanted value{true, halves.size() > 1 ? UrlDecode(halves[1]) : std::string(), {}};
  auto steps = Split(key, '[');
  if (steps.size() > kMaxKeyDepth) steps.resize(kMaxKeyDepth);
  const bool nested = steps.size() > 1;
  for (; steps.size() > 1; steps.pop_back()) {
    std::string_view name = steps.back();
    if (!name.empty()) name.remove_suffix(1);  // the bracket
    Wanted map{false, {}, {}};
    map.members.push_back({std::string(name), std::move(value)});
    value = std::move(map);
  }
  Wanted* known = Find(members, steps[0]);
  if (known == nullptr) {
    members.push_back({std::string(steps[0]), std::move(value)});
  } else if (nested && !known->is_text) {
    Merge(known->members, std::move(value.members), OnEqualKeys::kReplace);
  } else {
    *known = std::move(value);
  }
}

bool IsList(const Members& members) {
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i].key != std::to_string(i)) return false;
  }
  return true;
}

// An object with the keys 0, 1, … is what PHP has for a list, and an empty one too.
bool IsList(const boost::json::value& value) {
  if (value.is_array()) return true;
  std::size_t i = 0;
  for (const auto& member : value.get_object()) {
    if (std::string_view(member.key()) != std::to_string(i++)) return false;
  }
  return true;
}

bool IsContainer(const boost::json::value& value) { return value.is_object() || value.is_array(); }

const boost::json::value* Find(const boost::json::value& container, std::string_view key) {
  if (const auto* object = container.if_object()) return object->if_contains(key);
  const auto index = IntegerKey(key);
  const auto& array = container.get_array();
  if (!index || *index < 0 || static_cast<std::size_t>(*index) >= array.size()) return nullptr;
  return &array[static_cast<std::size_t>(*index)];
}

// Whether every wanted element is among the actual ones, in whatever order.
bool Contains(const boost::json::value& actual, const Members& wanted) {
  std::vector<std::string> texts;
  if (const auto* array = actual.if_array()) {
    for (const auto& element : *array) texts.push_back(PhpString(element));
  } else {
    for (const auto& member : actual.get_object()) texts.push_back(PhpString(member.value()));
  }
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& member) {
    const Wanted& element = member.value;
    const std::string_view text =
        element.is_text ? std::string_view(element.text) : std::string_view("Array");
    return std::find(texts.begin(), texts.end(), text) != texts.end();
  });
}

bool MatchMembers(const boost::json::value& actual, const Members& wanted, int depth);

bool MatchValue(const boost::json::value* actual, const Wanted& wanted, int depth) {
  if (actual == nullptr || actual->is_null()) return false;
  if (wanted.is_text || !IsContainer(*actual)) {
    return wanted.is_text && !IsContainer(*actual) && PhpString(*actual) == wanted.text;
  }
  if (IsList(wanted.members) && IsList(*actual)) return Contains(*actual, wanted.members);
  return MatchMembers(*actual, wanted.members, depth - 1);
}

bool MatchMembers(const boost::json::value& actual, const Members& wanted, int depth) {
  if (depth == 0) return true;
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& member) {
    return MatchValue(Find(actual, member.key), member.value, depth);
  });
}

// "%.14G" as PHP prints it: at least one digit behind the point of a mantissa, exponents unpadded.
std::string PhpDouble(double number) {
  if (std::isnan(number)) return "NAN";
  if (std::isinf(number)) return number > 0 ? "INF" : "-INF";
  char buffer[40];
  std::snprintf(buffer, sizeof(buffer), "%.13e", number);
  std::string text(buffer);
  const std::size_t e = text.find('e');
  const int exponent = std::stoi(text.substr(e + 1));
  const bool is_plain = exponent >= -4 && exponent < 14;
  if (is_plain) {
    std::snprintf(buffer, sizeof(buffer), "%.*f", 13 - exponent, number);
    text = buffer;
  } else {
    text.resize(e);
  }
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  if (is_plain) return text;
  if (text.find('.') == std::string::npos) text += ".0";
  return text + "E" + (exponent < 0 ? "-" : "+") + std::to_string(std::abs(exponent));
}

}  // namespace

SettingsConstraints SettingsConstraints::Parse(const std::vector<std::string>& pieces) {
  SettingsConstraints constraints;
  for (const std::string& piece : pieces) {
    std::string_view text = piece;
    if (text.starts_with('?')) text.remove_prefix(1);
    Members members;
    for (const std::string_view pair : Split(text, '&')) {
      if (!pair.empty()) AddPair(pair, members);
    }
    Merge(constraints.wanted_, std::move(members), OnEqualKeys::kMerge);
  }
  return constraints;
}

bool SettingsConstraints::Match(const boost::json::object& settings,
                                const std::function<bool(std::string_view)>& is_stream) const {
  return std::all_of(wanted_.begin(), wanted_.end(), [&](const auto& member) {
    if (member.key == "stream") return member.value.is_text && is_stream(member.value.text);
    return MatchValue(settings.if_contains(member.key), member.value, kMaxDepth);
  });
}

std::string PhpString(const boost::json::value& value) {
  switch (value.kind()) {
    case boost::json::kind::null:
      return {};
    case boost::json::kind::bool_:
      return value.get_bool() ? "1" : "";
    case boost::json::kind::int64:
      return std::to_string(value.get_int64());
    case boost::json::kind::uint64:
      return std::to_string(value.get_uint64());
    case boost::json::kind::double_:
      return PhpDouble(value.get_double());
    case boost::json::kind::string:
      return std::string(value.get_string());
    case boost::json::kind::array:
    case boost::json::kind::object:
      break;
  }
  return "Array";
}

}  // namespace sluice::streams
