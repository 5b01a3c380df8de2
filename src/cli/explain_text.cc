#include "cli/explain_text.h"

#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <charconv>

#include "core/json_text.h"

namespace sluice::cli {
namespace {

namespace json = boost::json;

constexpr std::size_t kShownBytes = 100;
constexpr std::size_t kShownNames = 20;
constexpr std::size_t kMaxDepth = 10'000;

void Append(const json::value& value, std::string& out) {
  std::string_view before;
  if (const auto* object = value.if_object()) {
    out += '{';
    for (const auto& member : *object) {
      out += before;
      core::AppendJsonString(out, member.key());
      out += ": ";
      Append(member.value(), out);
      before = ", ";
    }
    out += '}';
  } else if (const auto* array = value.if_array()) {
    out += '[';
    for (const json::value& element : *array) {
      out += before;
      Append(element, out);
      before = ", ";
    }
    out += ']';
  } else if (value.is_string()) {
    core::AppendJsonString(out, std::string_view(value.get_string()));
  } else if (value.is_null()) {
    out += "null";
  } else if (value.is_bool()) {
    out += value.get_bool() ? "true" : "false";
  } else {
    std::array<char, 64> text{};
    char* const begin = text.data();
    char* const end = begin + text.size();
    const auto written = value.is_int64()    ? std::to_chars(begin, end, value.get_int64())
                         : value.is_uint64() ? std::to_chars(begin, end, value.get_uint64())
                                             : std::to_chars(begin, end, value.get_double());
    out.append(begin, written.ptr);
  }
}

}  // namespace

std::string JsonText(const json::value& value) {
  std::string out;
  Append(value, out);
  return out;
}

std::string Cut(std::string_view text) {
  if (text.size() <= kShownBytes) return std::string(text);
  std::size_t end = kShownBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "... (" + std::to_string(text.size()) + " bytes)";
}

std::string List(const std::vector<std::string_view>& names) {
  std::string list;
  for (std::size_t i = 0; i < names.size() && i < kShownNames; ++i) {
    if (!list.empty()) list += ", ";
    list += names[i];
  }
  if (names.size() > kShownNames) {
    list += " and " + std::to_string(names.size() - kShownNames) + " more";
  }
  return list;
}

json::value ParseLoosely(std::string_view text) {
  json::parse_options options;
  options.max_depth = kMaxDepth;
  boost::system::error_code failed;
  json::value value = json::parse(text, failed, {}, options);
  return failed ? json::value() : value;
}

}  // namespace sluice::cli
