#include "validate/schema_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/json_text.h"
#include "validate/js_number.h"

namespace sluice::validate {
namespace {

std::uint32_t ArrayIndex(std::string_view key) {
  std::uint32_t index = 0;
  std::from_chars(key.data(), key.data() + key.size(), index);
  return index;
}

bool IsIdentifier(std::string_view key) {
  if (key.empty() || (key[0] >= '0' && key[0] <= '9')) return false;
  return std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$';
  });
}

}  // namespace

bool IsArrayIndex(std::string_view key) {
  if (key.empty() || key.size() > 10 || key[0] < '0' || key[0] > '9') return false;
  if (key[0] == '0') return key.size() == 1;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), value);
  return error == std::errc{} && end == key.data() + key.size() && value < 4294967295u;
}

std::vector<SchemaMember> MembersInOrder(const boost::json::object& object) {
  std::vector<SchemaMember> members;
  members.reserve(object.size());
  for (const auto& member : object) members.emplace_back(member.key(), &member.value());
  const auto middle =
      std::stable_partition(members.begin(), members.end(),
                            [](const SchemaMember& member) { return IsArrayIndex(member.first); });
  std::sort(members.begin(), middle, [](const SchemaMember& a, const SchemaMember& b) {
    return ArrayIndex(a.first) < ArrayIndex(b.first);
  });
  return members;
}

double NumberOf(const boost::json::value& value) {
  if (value.is_int64()) return static_cast<double>(value.get_int64());
  if (value.is_uint64()) return static_cast<double>(value.get_uint64());
  return value.get_double();
}

void AppendJson(std::string& out, const boost::json::value& value) {
  switch (value.kind()) {
    case boost::json::kind::null:
      out.append("null");
      break;
    case boost::json::kind::bool_:
      out.append(value.get_bool() ? "true" : "false");
      break;
    case boost::json::kind::string:
      core::AppendJsonString(out, value.get_string());
      break;
    case boost::json::kind::array: {
      out.push_back('[');
      bool first = true;
      for (const auto& element : value.get_array()) {
        if (!first) out.push_back(',');
        first = false;
        AppendJson(out, element);
      }
      out.push_back(']');
      break;
    }
    case boost::json::kind::object: {
      out.push_back('{');
      bool first = true;
      for (const auto& [key, member] : MembersInOrder(value.get_object())) {
        if (!first) out.push_back(',');
        first = false;
        core::AppendJsonString(out, key);
        out.push_back(':');
        AppendJson(out, *member);
      }
      out.push_back('}');
      break;
    }
    default: {
      const double number = NumberOf(value);
      if (std::isinf(number)) {
        out.append(number < 0 ? "-1e999" : "1e999");
      } else {
        AppendJsNumber(out, number);
      }
    }
  }
}

void AppendPointerStep(std::string& pointer, std::string_view key) {
  pointer.push_back('/');
  for (char c : key) {
    if (c == '~') {
      pointer.append("~0");
    } else if (c == '/') {
      pointer.append("~1");
    } else {
      pointer.push_back(c);
    }
  }
}

void AppendPropertyPath(std::string& out, std::string_view key) {
  if (IsIdentifier(key)) {
    out.append(".").append(key);
    return;
  }
  out.append("['");
  for (char c : key) {
    switch (c) {
      case '\'':
      case '\\':
        out.push_back('\\');
        out.push_back(c);
        break;
      case '\n':
        out.append("\\n");
        break;
      case '\r':
        out.append("\\r");
        break;
      case '\f':
        out.append("\\f");
        break;
      case '\t':
        out.append("\\t");
        break;
      default:
        out.push_back(c);
    }
  }
  out.append("']");
}

int NestingDepth(const boost::json::value& value, int bound) {
  if (!value.is_structured()) return 0;
  if (bound <= 0) return 1;
  int deepest = 0;
  if (value.is_array()) {
    for (const auto& element : value.get_array()) {
      deepest = std::max(deepest, NestingDepth(element, bound - 1));
    }
  } else {
    for (const auto& member : value.get_object()) {
      deepest = std::max(deepest, NestingDepth(member.value(), bound - 1));
    }
  }
  return deepest + 1;
}

}  // namespace sluice::validate
