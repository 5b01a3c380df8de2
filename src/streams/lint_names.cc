#include "streams/lint_names.h"

#include <algorithm>
#include <map>

#include "streams/stream_topics.h"
#include "validate/pattern.h"

namespace sluice::streams {
namespace {

constexpr std::size_t kMaxTopicLength = 249;  // Kafka's

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool Matches(const StreamSettings& regex, std::string_view name) {
  return regex.pattern && regex.pattern->Search(name) == validate::MatchResult::kMatch;
}

std::string_view PatternOf(std::string_view key) {
  key.remove_prefix(1);
  return key.substr(0, key.rfind('/'));
}

bool IsIngested(const boost::json::object& settings) {
  const auto* consumers = settings.if_contains("consumers");
  if (consumers == nullptr || !consumers->is_object()) return false;
  const auto* hive = consumers->get_object().if_contains("analytics_hive_ingestion");
  if (hive == nullptr || !hive->is_object()) return false;
  const auto* enabled = hive->get_object().if_contains("enabled");
  return enabled != nullptr && *enabled == true;
}

class Lint {
 public:
  Lint(const StreamSnapshot& snapshot, const std::vector<boost::json::object>& settings,
       const core::StreamOptions& options, std::vector<Finding>& findings)
      : snapshot_(snapshot), settings_(settings), options_(options), findings_(findings) {}

  void Run() {
    for (std::size_t i = 0; i < snapshot_.size(); ++i) {
      const StreamSettings& entry = snapshot_.entry(i);
      if (entry.regex) {
        LintRegex(entry, i);
      } else {
        LintTopicName(entry);
        LintTable(entry, i);
        LintTopics(entry, settings_[i]);
        LintWithin(entry);
      }
    }
  }

 private:
  void Report(Severity severity, std::string_view kind, const StreamSettings& entry,
              std::string text) {
    findings_.push_back({severity, kind, entry.key, std::move(text)});
  }

  std::string TopicHere(const StreamSettings& entry) const {
    return TopicOf(entry.key, &entry, options_);
  }

  void LintTopicName(const StreamSettings& entry) {
    const std::string topic = TopicHere(entry);
    const bool characters = std::all_of(topic.begin(), topic.end(), [](char c) {
      return IsLetter(c) || IsDigit(c) || c == '.' || c == '_' || c == '-';
    });
    if (!characters || topic.size() > kMaxTopicLength) {
      Report(Severity::kError, "bad_topic_name", entry,
             "Kafka takes no topic " + topic + ": at most " + std::to_string(kMaxTopicLength) +
                 " letters, digits, '.', '_' and '-'");
    }
    std::string metric_name = topic;
    std::replace(metric_name.begin(), metric_name.end(), '.', '_');
    const auto [other, added] = topics_.emplace(metric_name, topic);
    if (!added && other->second != topic) {
      Report(Severity::kError, "topic_collision", entry,
             "Kafka does not create topic " + topic + " beside " + other->second +
                 ", which differs from it only in '.' and '_'");
    }
  }

  void LintTable(const StreamSettings& entry, std::size_t index) {
    const auto [other, added] = tables_.emplace(TableOf(entry.key), index);
    if (added) return;
    const bool both = IsIngested(settings_[index]) && IsIngested(settings_[other->second]);
    Report(both ? Severity::kError : Severity::kWarning, "table_collision", entry,
           "has the same table as " + snapshot_.entry(other->second).key + ": " + other->first +
               (both ? ", and both are ingested" : ", though not both are ingested"));
  }

  // What is written here has to be what consumers read.
  void LintTopics(const StreamSettings& entry, const boost::json::object& settings) {
    if (options_.topic_prefix.empty()) return;
    std::vector<std::string> read;
    if (!entry.topics.configured) {
      read = ComputeTopics(entry.key, entry.topics);
    } else if (const auto* topics = settings.if_contains("topics"); topics->is_array()) {
      for (const auto& topic : topics->get_array()) {
        if (topic.is_string()) read.emplace_back(topic.get_string());
      }
    }
    const std::string topic = TopicHere(entry);
    if (std::find(read.begin(), read.end(), topic) != read.end()) return;
    std::string list;
    for (const std::string& one : read) list += (list.empty() ? "" : ", ") + one;
    Report(Severity::kWarning, "topic_differs", entry,
           "its events would go to " + topic + " here, but consumers read " +
               (list.empty() ? "no topic" : list));
  }

  void LintWithin(const StreamSettings& entry) {
    for (const StreamSettings* regex : Regexes()) {
      if (!Matches(*regex, entry.key)) continue;
      Report(Severity::kNote, "name_within_regex", entry,
             "also matches " + regex->key + ", whose settings do not apply to it");
    }
  }

  void LintRegex(const StreamSettings& entry, std::size_t index) {
    if (!entry.key.ends_with('/')) {
      Report(Severity::kError, "regex_modifiers", entry,
             "has something behind its last slash: no event matches such an entry");
      return;
    }
    if (!PatternOf(entry.key).starts_with('^')) {
      Report(Severity::kWarning, "regex_not_anchored", entry,
             "does not begin with '^', so it matches names that merely contain it");
    }
    const std::string name = LikelyMatch(PatternOf(entry.key));
    for (std::size_t i = 0; i < index; ++i) {
      const StreamSettings& before = snapshot_.entry(i);
      if (!before.regex || !before.key.ends_with('/')) continue;
      if (Matches(before, name) && Matches(entry, name)) {
        Report(Severity::kWarning, "regex_shadowed", entry,
               "names such as " + name + " match " + before.key +
                   " too, which stands before it and counts");
      }
    }
  }

  const std::vector<const StreamSettings*>& Regexes() {
    if (regexes_.empty()) {
      for (std::size_t i = 0; i < snapshot_.size(); ++i) {
        const StreamSettings& entry = snapshot_.entry(i);
        if (entry.regex && entry.key.ends_with('/')) regexes_.push_back(&entry);
      }
    }
    return regexes_;
  }

  const StreamSnapshot& snapshot_;
  const std::vector<boost::json::object>& settings_;
  const core::StreamOptions& options_;
  std::vector<Finding>& findings_;
  std::map<std::string, std::string> topics_;
  std::map<std::string, std::size_t> tables_;
  std::vector<const StreamSettings*> regexes_;
};

// Makes the name while it walks over the pattern.
class NameMaker {
 public:
  explicit NameMaker(std::string_view pattern) : rest_(pattern) {}

  std::string Alternatives() {
    std::string first = Sequence();
    while (Take('|')) Sequence();
    return first;
  }

 private:
  bool Take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  char Next() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  std::string Sequence() {
    std::string out;
    while (!rest_.empty() && rest_.front() != '|' && rest_.front() != ')') {
      std::string atom = Atom();
      SkipRepetition();
      out += atom;
    }
    return out;
  }

  std::string Atom() {
    switch (const char c = Next()) {
      case '^':
      case '$':
        return {};
      case '.':
        return "x";
      case '(': {
        if (Take('?')) {
          while (!rest_.empty() && Next() != ':') {
          }
        }
        std::string inner = Alternatives();
        Take(')');
        return inner;
      }
      case '[':
        return Class();
      case '\\':
        return Escape();
      default:
        return std::string(1, c);
    }
  }

  std::string Escape() {
    if (rest_.empty()) return {};
    const char c = Next();
    if (c == 'd') return "1";
    if (c == 'w') return "x";
    if (c == 's') return " ";
    return IsLetter(c) ? std::string() : std::string(1, c);
  }

  std::string Class() {
    const bool negated = Take('^');
    std::string first;
    for (bool begun = false; !rest_.empty() && (rest_.front() != ']' || !begun); begun = true) {
      std::string one = Take('\\') ? Escape() : std::string(1, Next());
      if (first.empty()) first = std::move(one);
    }
    Take(']');
    if (!negated) return first;
    return first == "x" ? "y" : "x";
  }

  void SkipRepetition() {
    if (rest_.starts_with('{')) {
      while (!rest_.empty() && Next() != '}') {
      }
    } else if (!rest_.empty() &&
               (rest_.front() == '*' || rest_.front() == '+' || rest_.front() == '?')) {
      Next();
    }
    Take('?');
  }

  std::string_view rest_;
};

}  // namespace

void LintNames(const StreamSnapshot& snapshot, const std::vector<boost::json::object>& settings,
               const core::StreamOptions& options, std::vector<Finding>& findings) {
  Lint(snapshot, settings, options, findings).Run();
}

std::string TableOf(std::string_view stream) {
  constexpr std::string_view kLegacy = "eventlogging_";
  if (stream.starts_with(kLegacy)) stream.remove_prefix(kLegacy.size());
  std::string table;
  for (char c : stream) {
    if (!IsLetter(c) && (!IsDigit(c) || table.empty())) c = '_';
    table += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  }
  return table;
}

std::string LikelyMatch(std::string_view pattern) { return NameMaker(pattern).Alternatives(); }

}  // namespace sluice::streams
