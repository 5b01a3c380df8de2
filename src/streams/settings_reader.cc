#include "streams/settings_reader.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cmath>
#include <utility>

#include "core/json_text.h"
#include "core/yaml_json.h"
#include "streams/merge_settings.h"
#include "streams/stream_topics.h"
#include "validate/js_number.h"
#include "validate/pattern.h"

namespace sluice::streams {
namespace {

class Reader {
 public:
  Reader(std::string pointer, std::vector<SettingsProblem>& problems)
      : pointer_(std::move(pointer)), problems_(problems) {}

  // The member `name` of `object` as a map: null if it is absent, null, or (which is reported)
  // something else.
  const boost::json::object* Map(const boost::json::object& object, std::string_view name) {
    const boost::json::value* value = Member(object, name);
    if (!value) return nullptr;
    if (const auto* map = value->if_object()) return map;
    Report(name, "has to be a map");
    return nullptr;
  }

  std::optional<std::string> String(const boost::json::object& object, std::string_view name) {
    const boost::json::value* value = Member(object, name);
    if (!value) return std::nullopt;
    if (const auto* text = value->if_string()) return std::string(*text);
    Report(name, "has to be a string");
    return std::nullopt;
  }

  // Null counts as absent: that is how a stream takes back what the default settings say.
  static const boost::json::value* Member(const boost::json::object& object,
                                          std::string_view name) {
    const boost::json::value* value = object.if_contains(name);
    return value && !value->is_null() ? value : nullptr;
  }

  void Report(std::string_view name, std::string text) {
    std::string pointer = pointer_;
    core::AppendPointerToken(pointer, name);
    problems_.push_back({std::move(pointer), std::move(text)});
  }

  void Enter(std::string_view name) { core::AppendPointerToken(pointer_, name); }

 private:
  std::string pointer_;
  std::vector<SettingsProblem>& problems_;
};

core::StringPairs ReadMessageKey(const boost::json::object& fields, Reader reader) {
  core::StringPairs pairs;
  for (const auto& field : fields) {
    if (const auto* path = field.value().if_string()) {
      pairs.emplace_back(field.key(), *path);
    } else {
      reader.Report(field.key(), "has to be the path of a field of the event, a string");
    }
  }
  return pairs;
}

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

core::StringPairs ReadHeaderFields(const boost::json::object& fields, Reader reader) {
  core::StringPairs pairs;
  for (const auto& field : fields) {
    const auto& value = field.value();
    if (const auto* header = value.if_string()) {
      pairs.emplace_back(field.key(), LowerCase(*header));
    } else if (value.is_null() || value == false) {
      pairs.emplace_back(field.key(), "");
    } else {
      reader.Report(field.key(), "has to be the name of a request header, or false");
    }
  }
  return pairs;
}

bool IsTrue(const boost::json::object& map, std::string_view name) {
  const auto* value = map.if_contains(name);
  return value && value->is_bool() && value->get_bool();
}

void ReadHeaders(const boost::json::object& gate, Reader reader, StreamSettings& out) {
  constexpr std::string_view kHeaders = "enrich_fields_from_http_headers";
  const auto* headers = Reader::Member(gate, kHeaders);
  if (!headers) return;
  if (*headers == false) {
    out.header_fields.emplace();
  } else if (const auto* fields = reader.Map(gate, kHeaders)) {
    reader.Enter(kHeaders);
    out.header_fields = ReadHeaderFields(*fields, reader);
  }
}

void ReadProducers(const boost::json::object& settings, Reader reader, StreamSettings& out) {
  const auto* producers = reader.Map(settings, "producers");
  if (!producers) return;
  reader.Enter("producers");
  if (const auto* kitchen = reader.Map(*producers, "test_kitchen")) {
    out.test_kitchen = IsTrue(*kitchen, "is_test_kitchen_stream");
  }
  if (const auto* gate = reader.Map(*producers, "eventgate")) {
    reader.Enter("eventgate");
    out.edge_uniques = IsTrue(*gate, "use_edge_uniques");
    ReadHeaders(*gate, reader, out);
  }
}

void CheckTopicSettings(const boost::json::object& settings, Reader& reader, StreamSettings& out) {
  for (const std::string_view name : {"topics", "topic_prefixes"}) {
    const auto* value = settings.if_contains(name);
    if (value && !value->is_null() && !value->is_array()) {
      reader.Report(name, "has to be a list, or null");
    }
  }
  const auto* prefixes = settings.if_contains("topic_prefixes");
  out.without_topic_prefix = prefixes && prefixes->is_null();
}

// A regex key is a PCRE literal: delimiters, and modifiers behind the second.
void CompileKey(StreamSettings& out, const std::string& pointer,
                std::vector<SettingsProblem>& problems) {
  const std::string_view key = out.key;
  if (!key.starts_with('/')) return;
  out.regex = true;
  const std::size_t end = key.rfind('/');
  constexpr std::string_view kModifiers = "imsxuADSUXJ";
  if (end == 0 || key.find_first_not_of(kModifiers, end + 1) != std::string_view::npos) {
    problems.push_back({pointer,
                        "not a regular expression: a key that begins with / has to be one, with "
                        "a / at its end"});
    return;
  }
  auto pattern = validate::Pattern::Compile(key.substr(1, end - 1));
  if (pattern) {
    out.pattern = *std::move(pattern);
  } else {
    problems.push_back({pointer, "not a regular expression: " + pattern.error().message});
  }
}

}  // namespace

StreamSettings ReadSettings(std::string_view key, const boost::json::object& defaults,
                            const boost::json::value& settings, const std::string& pointer,
                            std::vector<SettingsProblem>& problems) {
  StreamSettings out;
  out.key = key;
  CompileKey(out, pointer, problems);
  out.has_settings = !settings.is_null() || !defaults.empty();
  boost::json::value merged = defaults;
  if (settings.is_object()) {
    merged = MergeSettings(merged, settings);
  } else if (!settings.is_null()) {
    problems.push_back({pointer, "the settings of a stream have to be a map"});
    return out;
  }
  boost::json::object& map = merged.get_object();
  map["stream"] = key;
  out.topics = AppendSettings(out.settings_json, key, map);
  Reader reader(pointer, problems);
  CheckTopicSettings(map, reader, out);
  out.schema_title = reader.String(map, "schema_title");
  if (const auto* fields = reader.Map(map, "message_key_fields")) {
    Reader inner = reader;
    inner.Enter("message_key_fields");
    out.message_key_fields = ReadMessageKey(*fields, inner);
  }
  ReadProducers(map, reader, out);
  return out;
}

void AppendJson(std::string& out, const boost::json::value& value) {
  switch (value.kind()) {
    case boost::json::kind::null:
      out += "null";
      return;
    case boost::json::kind::bool_:
      out += value.get_bool() ? "true" : "false";
      return;
    case boost::json::kind::int64:
      out += std::to_string(value.get_int64());
      return;
    case boost::json::kind::uint64:
      out += std::to_string(value.get_uint64());
      return;
    case boost::json::kind::double_:
      if (std::isfinite(value.get_double())) {
        validate::AppendJsNumber(out, value.get_double());
      } else {
        out += "null";
      }
      return;
    case boost::json::kind::string:
      core::AppendJsonString(out, value.get_string());
      return;
    case boost::json::kind::array: {
      char before = '[';
      for (const auto& element : value.get_array()) {
        out += std::exchange(before, ',');
        AppendJson(out, element);
      }
      out += value.get_array().empty() ? "[]" : "]";
      return;
    }
    case boost::json::kind::object: {
      char before = '{';
      for (const auto& member : value.get_object()) {
        out += std::exchange(before, ',');
        core::AppendJsonString(out, member.key());
        out += ':';
        AppendJson(out, member.value());
      }
      out += value.get_object().empty() ? "{}" : "}";
      return;
    }
  }
}

}  // namespace sluice::streams
