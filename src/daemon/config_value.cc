#include "daemon/config_value.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <type_traits>

#include "core/json_text.h"
#include "daemon/secret_values.h"
#include "daemon/yaml_json.h"

namespace sluice::daemon {
namespace {

template <class Enum>
struct Words;
template <>
struct Words<core::WhenToSet> {
  static constexpr std::array<std::string_view, 3> kAll = {"always", "missing", "never"};
};
template <>
struct Words<core::OutputKind> {
  static constexpr std::array<std::string_view, 3> kAll = {"kafka", "files", "discard"};
};
template <>
struct Words<core::SpoolMode> {
  static constexpr std::array<std::string_view, 3> kAll = {"off", "hasty", "all"};
};
template <>
struct Words<core::FsyncPolicy> {
  static constexpr std::array<std::string_view, 2> kAll = {"never", "batch"};
};
template <>
struct Words<core::TopicPolicy> {
  static constexpr std::array<std::string_view, 2> kAll = {"create", "require"};
};
template <>
struct Words<core::TlsVersion> {
  static constexpr std::array<std::string_view, 2> kAll = {"1.2", "1.3"};
};
template <>
struct Words<core::LogLevel> {
  static constexpr std::array<std::string_view, 6> kAll = {"trace", "debug", "info",
                                                           "warn",  "error", "fatal"};
};
template <>
struct Words<core::LogFormat> {
  static constexpr std::array<std::string_view, 4> kAll = {"auto", "text", "json", "journald"};
};
constexpr std::array<std::string_view, 2> kFormatModes = {"fast", "full"};
constexpr std::array<std::string_view, 2> kIgnoreFollow = {"ignore", "follow"};

// The words for false and true, null if the key is written as such.
const std::array<std::string_view, 2>* WordsOfBool(Notation notation) {
  if (notation == Notation::kFormatMode) return &kFormatModes;
  return notation == Notation::kIgnoreFollow ? &kIgnoreFollow : nullptr;
}

using Complaint = std::optional<std::string>;

struct Unit {
  std::string_view suffix;
  std::int64_t factor;
};
constexpr std::array<Unit, 4> kByteUnits = {
    {{"kb", 1 << 10}, {"mb", 1 << 20}, {"gb", 1 << 30}, {"b", 1}}};
constexpr std::array<Unit, 4> kTimeUnits = {{{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}}};

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

bool IsPlainScalar(const YAML::Node& value) { return value.IsScalar() && value.Tag() == "?"; }

std::string Shown(const YAML::Node& value) {
  if (value.IsScalar()) return '"' + value.Scalar() + '"';
  if (value.IsSequence()) return "a list";
  if (value.IsMap()) return "a map";
  return "nothing";
}

template <std::size_t N>
std::string JoinFrom(const std::array<std::string_view, N>& words, std::size_t first) {
  std::string joined;
  for (std::size_t i = first; i < N; ++i) {
    if (!joined.empty()) joined += i + 1 == N ? " or " : ", ";
    joined += words[i];
  }
  return joined;
}

template <class Number>
bool ParseWhole(std::string_view text, Number& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

// "10mb", "1.5 s", or a bare number in the unit of factor 1.
template <std::size_t N>
std::optional<std::int64_t> ParseWithUnit(std::string_view text, const std::array<Unit, N>& units) {
  const std::string lower = Lower(text);
  std::string_view number = lower;
  std::int64_t factor = 1;
  for (const Unit& unit : units) {
    if (number.size() > unit.suffix.size() && number.ends_with(unit.suffix)) {
      number.remove_suffix(unit.suffix.size());
      factor = unit.factor;
      break;
    }
  }
  while (!number.empty() && number.back() == ' ') number.remove_suffix(1);
  if (std::int64_t whole = 0; ParseWhole(number, whole)) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(whole, factor, &product)) return std::nullopt;
    return product;
  }
  double fraction = 0;
  if (!ParseWhole(number, fraction) || !std::isfinite(fraction)) return std::nullopt;
  const double product = fraction * static_cast<double>(factor);
  if (factor == 1 || product < 0 || product > 1e15) return std::nullopt;
  return static_cast<std::int64_t>(product);
}

template <std::size_t N>
std::string WithUnit(std::int64_t value, const std::array<Unit, N>& units) {
  const Unit* best = nullptr;
  for (const Unit& unit : units) {
    if (value != 0 && value % unit.factor == 0 && (best == nullptr || unit.factor > best->factor))
      best = &unit;
  }
  if (value == 0 || best == nullptr) return std::to_string(value);
  if (best->suffix == "b") return std::to_string(value);
  return std::to_string(value / best->factor) + std::string(best->suffix);
}

std::string Written(const ConfigKey& key, std::int64_t number) {
  if (std::holds_alternative<Member<std::chrono::milliseconds>>(key.target))
    return WithUnit(number, kTimeUnits);
  if (key.notation == Notation::kBytes) return WithUnit(number, kByteUnits);
  return std::to_string(number);
}

std::string Bounds(const ConfigKey& key) {
  if (key.max == std::numeric_limits<std::int64_t>::max())
    return Written(key, key.min) + " or more";
  return Written(key, key.min) + " to " + Written(key, key.max);
}

// Reads and formats one type each. `Store` leaves `out` alone on failure.
struct Storer {
  const ConfigKey& key;
  const YAML::Node& value;
  core::Config& config;

  Complaint Wrong(std::string_view wanted) const {
    return "is " + Shown(value) + "; give " + std::string(wanted);
  }

  Complaint InBounds(std::int64_t number) const {
    if (number >= key.min && number <= key.max) return std::nullopt;
    return Written(key, number) + (number < key.min ? " is too small" : " is too large") +
           "; give " + Bounds(key);
  }

  template <class Integer>
  Complaint StoreInteger(Integer& out, std::string_view wanted,
                         std::optional<std::int64_t> number) const {
    if (!number) return Wrong(wanted);
    if (Complaint complaint = InBounds(*number)) return complaint;
    out = static_cast<Integer>(*number);
    return std::nullopt;
  }

  template <class Integer>
  requires std::is_integral_v<Integer> Complaint operator()(Member<Integer> member) const {
    if (!value.IsScalar()) return Wrong("a number");
    if (key.notation == Notation::kBytes) {
      return StoreInteger(member(config), "bytes, or a size such as 100kb or 10mb",
                          ParseWithUnit(value.Scalar(), kByteUnits));
    }
    std::int64_t number = 0;
    const bool is_number = ParseWhole<std::int64_t>(value.Scalar(), number);
    return StoreInteger(member(config), "a whole number, " + Bounds(key),
                        is_number ? std::optional(number) : std::nullopt);
  }

  Complaint operator()(Member<bool> member) const {
    if (const auto* words = WordsOfBool(key.notation)) {
      const auto* found =
          std::find(words->begin(), words->end(), value.IsScalar() ? value.Scalar() : "");
      if (found == words->end()) return Wrong(JoinFrom(*words, 0));
      member(config) = found != words->begin();
      return std::nullopt;
    }
    const std::string text = IsPlainScalar(value) ? Lower(value.Scalar()) : "";
    if (text != "true" && text != "false") return Wrong("true or false");
    member(config) = text == "true";
    return std::nullopt;
  }

  Complaint operator()(Member<std::chrono::milliseconds> member) const {
    std::int64_t milliseconds = 0;
    const std::string_view wanted = "milliseconds, or a time such as 500ms, 10s or 2m";
    if (!value.IsScalar()) return Wrong(wanted);
    if (Complaint complaint =
            StoreInteger(milliseconds, wanted, ParseWithUnit(value.Scalar(), kTimeUnits))) {
      return complaint;
    }
    member(config) = std::chrono::milliseconds(milliseconds);
    return std::nullopt;
  }

  Complaint operator()(Member<std::string> member) const {
    if (key.notation == Notation::kJsonMap) {
      if (!value.IsMap()) return Wrong("a map");
      member(config) = YamlToJson(value);
      return std::nullopt;
    }
    if (!value.IsScalar()) return Wrong("a text");
    member(config) = value.Scalar();
    return std::nullopt;
  }

  Complaint operator()(Member<std::optional<std::string>> member) const {
    if (!value.IsScalar()) return Wrong("a text, or false");
    const std::string word = IsPlainScalar(value) ? Lower(value.Scalar()) : "";
    if (word == "true") return Wrong("the text itself, or false");
    if (word == "false") {
      member(config).reset();
    } else {
      member(config) = value.Scalar();
    }
    return std::nullopt;
  }

  Complaint operator()(Member<std::vector<std::string>> member) const {
    std::vector<std::string> texts;
    const bool as_json = key.notation == Notation::kJsonTexts;
    if (value.IsScalar() && !as_json) {
      texts.push_back(value.Scalar());
    } else if (value.IsSequence()) {
      for (const YAML::Node& element : value) {
        if (!as_json && !element.IsScalar())
          return "has an element that is " + Shown(element) + "; give texts only";
        if (as_json && !element.IsMap())
          return "has an element that is " + Shown(element) + "; give events (maps)";
        texts.push_back(as_json ? YamlToJson(element) : element.Scalar());
      }
    } else {
      return Wrong(as_json ? "a list of events" : "a text or a list of texts");
    }
    member(config) = std::move(texts);
    return std::nullopt;
  }

  Complaint operator()(Member<core::StringPairs> member) const {
    if (!value.IsMap()) return Wrong("a map of texts");
    core::StringPairs pairs;
    for (const auto& entry : value) {
      if (!entry.second.IsScalar()) {
        return "has an entry " + entry.first.Scalar() + " that is " + Shown(entry.second) +
               "; give a text or number";
      }
      pairs.emplace_back(entry.first.Scalar(), entry.second.Scalar());
    }
    member(config) = std::move(pairs);
    return std::nullopt;
  }

  template <class Enum>
  requires std::is_enum_v<Enum> Complaint operator()(Member<Enum> member) const {
    const auto& words = Words<Enum>::kAll;
    for (auto i = static_cast<std::size_t>(key.min); i < words.size(); ++i) {
      if (value.IsScalar() && words[i] == value.Scalar()) {
        member(config) = static_cast<Enum>(i);
        return std::nullopt;
      }
    }
    return Wrong(JoinFrom(words, static_cast<std::size_t>(key.min)));
  }
};

struct Formatter {
  const ConfigKey& key;
  core::Config& config;
  Secrets secrets;

  std::string Text(std::string_view text) const {
    return QuoteYaml(secrets == Secrets::kMask ? MaskUserInfo(text) : std::string(text));
  }

  template <class Integer>
  requires std::is_integral_v<Integer> std::string operator()(Member<Integer> member) const {
    return Written(key, static_cast<std::int64_t>(member(config)));
  }

  std::string operator()(Member<bool> member) const {
    if (const auto* words = WordsOfBool(key.notation))
      return std::string((*words)[member(config) ? 1 : 0]);
    return member(config) ? "true" : "false";
  }
  std::string operator()(Member<std::chrono::milliseconds> member) const {
    return Written(key, member(config).count());
  }
  std::string operator()(Member<std::string> member) const {
    const std::string& text = member(config);
    if (key.notation == Notation::kJsonMap) return text;
    return Text(text);
  }
  std::string operator()(Member<std::optional<std::string>> member) const {
    return member(config) ? Text(*member(config)) : "false";
  }
  std::string operator()(Member<std::vector<std::string>> member) const {
    std::string list = "[";
    for (const std::string& text : member(config)) {
      if (list.size() > 1) list += ", ";
      list += key.notation == Notation::kJsonTexts ? text : Text(text);
    }
    return list + "]";
  }
  std::string operator()(Member<core::StringPairs> member) const {
    std::string map = "{";
    for (const auto& [name, text] : member(config)) {
      if (map.size() > 1) map += ", ";
      const bool hide = secrets == Secrets::kMask && IsSecretName(name);
      map += QuoteYaml(name) + ": " + (hide ? QuoteYaml(kMasked) : Text(text));
    }
    return map + "}";
  }
  template <class Enum>
  requires std::is_enum_v<Enum> std::string operator()(Member<Enum> member) const {
    return std::string(Words<Enum>::kAll[static_cast<std::size_t>(member(config))]);
  }
};

struct Describer {
  const ConfigKey& key;

  template <class Integer>
  requires std::is_integral_v<Integer> std::string operator()(Member<Integer>) const {
    return (key.notation == Notation::kBytes ? "size, " : "integer, ") + Bounds(key);
  }
  std::string operator()(Member<bool>) const {
    const auto* words = WordsOfBool(key.notation);
    return words != nullptr ? JoinFrom(*words, 0) : "true or false";
  }
  std::string operator()(Member<std::chrono::milliseconds>) const { return "time, " + Bounds(key); }
  std::string operator()(Member<std::string>) const {
    return key.notation == Notation::kJsonMap ? "map" : "text";
  }
  std::string operator()(Member<std::optional<std::string>>) const { return "text or false"; }
  std::string operator()(Member<std::vector<std::string>>) const {
    return key.notation == Notation::kJsonTexts ? "list of events" : "text or list of texts";
  }
  std::string operator()(Member<core::StringPairs>) const { return "map of texts"; }
  template <class Enum>
  requires std::is_enum_v<Enum> std::string operator()(Member<Enum>) const {
    return JoinFrom(Words<Enum>::kAll, static_cast<std::size_t>(key.min));
  }
};

}  // namespace

std::optional<std::string> StoreValue(const ConfigKey& key, const YAML::Node& value,
                                      core::Config& config) {
  return std::visit(Storer{key, value, config}, key.target);
}

std::optional<std::string> StoreEntry(const ConfigKey& key, std::string_view entry,
                                      const YAML::Node& value, core::Config& config) {
  if (!value.IsScalar()) return "is " + Shown(value) + "; give a text or number";
  core::StringPairs& pairs = std::get<Member<core::StringPairs>>(key.target)(config);
  const auto found = std::find_if(pairs.begin(), pairs.end(),
                                  [&](const auto& pair) { return pair.first == entry; });
  if (found == pairs.end()) {
    pairs.emplace_back(entry, value.Scalar());
  } else {
    found->second = value.Scalar();
  }
  return std::nullopt;
}

std::string FormatValue(const ConfigKey& key, const core::Config& config, Secrets secrets) {
  core::Config copy = config;  // members are reached through a mutable reference
  return std::visit(Formatter{key, copy, secrets}, key.target);
}

std::string DescribeType(const ConfigKey& key) { return std::visit(Describer{key}, key.target); }

std::string QuoteYaml(std::string_view text) {
  static constexpr std::string_view kSafeFirst = "_./$";
  static constexpr std::string_view kSafeInside = "_./$-:=&+@~";
  const auto is_safe = [](char c, std::string_view marks) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           marks.find(c) != std::string_view::npos;
  };
  const std::string lower = Lower(text);
  const bool is_word = lower == "true" || lower == "false" || lower == "null" || lower == "~";
  double number = 0;
  const bool plain =
      !text.empty() && is_safe(text.front(), kSafeFirst) && text.back() != ':' &&
      std::all_of(text.begin(), text.end(), [&](char c) { return is_safe(c, kSafeInside); }) &&
      !is_word && !ParseWhole(text, number);
  if (plain) return std::string(text);
  std::string quoted;
  core::AppendJsonString(quoted, text);
  return quoted;
}

}  // namespace sluice::daemon
