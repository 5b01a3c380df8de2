#include "streams/stream_topics.h"

#include <boost/json/array.hpp>

#include "core/json_text.h"
#include "streams/settings_constraints.h"
#include "streams/settings_reader.h"

namespace sluice::streams {
namespace {

// As PHP's preg_quote does without a delimiter, so '/' is left alone.
std::string QuoteForRegex(std::string_view text) {
  constexpr std::string_view kSpecial = ".\\+*?[^]$(){}=!<>|:-#";
  std::string out;
  for (const char c : text) {
    if (kSpecial.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

bool IsRegex(std::string_view stream) { return stream.size() >= 2 && stream.front() == '/'; }

std::string PrefixedRegex(std::string_view regex, const std::vector<std::string>& prefixes) {
  while (regex.starts_with('/')) regex.remove_prefix(1);
  while (regex.ends_with('/')) regex.remove_suffix(1);
  std::string out = "/";
  if (regex.starts_with('^')) {
    out += '^';
    regex.remove_prefix(1);
  }
  char before = '(';
  for (const std::string& prefix : prefixes) {
    out += before;
    out += QuoteForRegex(prefix);
    before = '|';
  }
  if (prefixes.empty()) out += '(';
  out += ')';
  out += regex;
  out += '/';
  return out;
}

std::optional<std::vector<std::string>> ReadPrefixes(const boost::json::object& settings) {
  const auto* value = settings.if_contains("topic_prefixes");
  if (value == nullptr || !value->is_array()) return std::nullopt;
  std::vector<std::string> prefixes;
  for (const auto& prefix : value->get_array()) prefixes.push_back(PhpString(prefix));
  return prefixes;
}

bool AreComputed(const boost::json::value& given, std::string_view key,
                 const ServedTopics& topics) {
  if (!given.is_array()) return false;
  const auto computed = ComputeTopics(key, topics);
  const auto& list = given.get_array();
  if (list.size() != computed.size()) return false;
  for (std::size_t i = 0; i < computed.size(); ++i) {
    if (list[i] != boost::json::string_view(computed[i])) return false;
  }
  return true;
}

}  // namespace

ServedTopics AppendSettings(std::string& out, std::string_view key,
                            const boost::json::object& settings) {
  ServedTopics topics;
  topics.prefixes = ReadPrefixes(settings);
  const std::size_t begin = out.size();
  bool stream_before = false;
  out += '{';
  for (const auto& member : settings) {
    if (out.size() > begin + 1) out += ',';
    core::AppendJsonString(out, member.key());
    out += ':';
    const std::size_t at = out.size();
    AppendJson(out, member.value());
    if (member.key() == "stream") stream_before = true;
    if (member.key() != "topics") continue;
    topics.configured =
        !member.value().is_null() && !(stream_before && AreComputed(member.value(), key, topics));
    topics.at = static_cast<std::uint32_t>(at - begin);
    topics.size = static_cast<std::uint32_t>(out.size() - at);
  }
  if (topics.size == 0) topics.at = static_cast<std::uint32_t>(out.size() - begin);
  out += '}';
  return topics;
}

std::vector<std::string> ComputeTopics(std::string_view stream, const ServedTopics& topics) {
  if (!topics.prefixes) return {std::string(stream)};
  if (IsRegex(stream)) return {PrefixedRegex(stream, *topics.prefixes)};
  std::vector<std::string> names;
  for (const std::string& prefix : *topics.prefixes) names.push_back(prefix + std::string(stream));
  return names;
}

void AppendServed(std::string& out, std::string_view settings_json, const ServedTopics& topics,
                  std::string_view name) {
  if (topics.configured) {
    out += settings_json;
    return;
  }
  out += settings_json.substr(0, topics.at);
  if (topics.size == 0) out += topics.at > 1 ? ",\"topics\":" : "\"topics\":";
  char before = '[';
  for (const std::string& topic : ComputeTopics(name, topics)) {
    out += before;
    core::AppendJsonString(out, topic);
    before = ',';
  }
  if (before == '[') out += '[';
  out += ']';
  out += settings_json.substr(topics.at + topics.size);
}

}  // namespace sluice::streams
