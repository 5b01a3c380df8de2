#include "core/yaml_json.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <istream>
#include <optional>
#include <streambuf>
#include <unordered_map>
#include <utility>

#include "core/value_builder.h"
#include "core/yaml_scalar.h"

namespace sluice::core {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

std::string_view WithoutByteOrderMark(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return text;
}

std::string AtLine(std::size_t line, std::string_view what) {
  return "line " + std::to_string(line) + ": " + std::string(what);
}

// Lets yaml-cpp, which wants a stream, read the text where it is.
class ViewBuffer final : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // setg's signature; never written to
    setg(begin, begin, begin + text.size());
  }
};

// Follows where in the document the parser is, as a JSON pointer; for LinesOf.
class LineFinder {
 public:
  explicit LineFinder(const std::vector<std::string>& pointers) {
    for (const auto& pointer : pointers) lines_.emplace(pointer, 0);
  }

  // A value begins: a member's line is its key's.
  void OnValue(int line) {
    if (levels_.empty()) {
      Note(line);
      return;
    }
    Level& level = levels_.back();
    if (level.is_object) return;
    path_.resize(level.path_size);
    AppendPointerToken(path_, std::to_string(level.next++));
    Note(line);
  }
  void OnKey(std::string_view key, int line) {
    path_.resize(levels_.back().path_size);
    AppendPointerToken(path_, key);
    Note(line);
  }
  void OnStart(bool is_object) { levels_.push_back({is_object, 0, path_.size()}); }
  void OnEnd() {
    path_.resize(levels_.back().path_size);
    levels_.pop_back();
  }
  std::size_t LineOf(const std::string& pointer) const { return lines_.at(pointer); }

 private:
  struct Level {
    bool is_object;
    std::size_t next;
    std::size_t path_size;
  };
  void Note(int line) {
    const auto found = lines_.find(path_);
    if (found != lines_.end() && found->second == 0) {
      found->second = static_cast<std::size_t>(line) + 1;
    }
  }
  std::unordered_map<std::string, std::size_t> lines_;
  std::vector<Level> levels_;
  std::string path_;
};

class YamlHandler final : public YAML::EventHandler {
 public:
  YamlHandler(const DocumentLimits& limits, LineFinder* lines)
      : builder_(limits, ValueBuilder::Duplicates::kRefused), lines_(lines) {}

  boost::json::value Take() { return builder_.Take(); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0) throw YAML::ParserException(mark, "only one document is expected");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    OnScalar(mark, "?", anchor, "null");
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    if (builder_.wants_key()) {
      OnKey(mark, tag, anchor, text);
      return;
    }
    if (lines_) lines_->OnValue(mark.line);
    Check(mark, builder_.Scalar(Typed(mark, tag, text)));
    if (anchor) Remember(anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) {
      throw YAML::ParserException(mark, "this alias stands inside of what it names");
    }
    const auto& [value, count] = found->second;
    if (builder_.wants_key()) {
      if (!value.is_string()) throw YAML::ParserException(mark, "a key has to be a scalar");
      OnKey(mark, "!", 0, std::string(value.get_string()));
      return;
    }
    if (lines_) lines_->OnValue(mark.line);
    Check(mark, builder_.Add(boost::json::value(value), count));
  }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    RequireTag(mark, tag, "tag:yaml.org,2002:map");
    OnStart(mark, anchor, true);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    RequireTag(mark, tag, "tag:yaml.org,2002:seq");
    OnStart(mark, anchor, false);
  }
  void OnMapEnd() override { OnEnd(true); }
  void OnSequenceEnd() override { OnEnd(false); }

 private:
  void OnKey(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
             const std::string& text) {
    if (lines_) lines_->OnKey(text, mark.line);
    if (text == "<<" && tag != "!") {
      Check(mark, builder_.MergeKey());
    } else {
      Check(mark, builder_.Key(text));
    }
    if (anchor) anchors_[anchor] = {boost::json::value(boost::json::string(text)), 1};
  }

  void OnStart(const YAML::Mark& mark, YAML::anchor_t anchor, bool is_object) {
    if (builder_.wants_key()) throw YAML::ParserException(mark, "a key has to be a scalar");
    if (lines_) {
      lines_->OnValue(mark.line);
      lines_->OnStart(is_object);
    }
    Check(mark, is_object ? builder_.StartObject() : builder_.StartArray());
    open_.emplace_back(anchor, mark);
  }

  void OnEnd(bool is_object) {
    const auto [anchor, mark] = open_.back();
    open_.pop_back();
    if (lines_) lines_->OnEnd();
    Check(mark, is_object ? builder_.EndObject() : builder_.EndArray());
    if (anchor) Remember(anchor);
  }

  void Remember(YAML::anchor_t anchor) {
    anchors_[anchor] = {builder_.last(), builder_.last_values()};
  }

  static void Check(const YAML::Mark& mark, ValueBuilder::Problem problem) {
    if (problem) throw YAML::ParserException(mark, problem);
  }

  static void RequireTag(const YAML::Mark& mark, const std::string& tag, std::string_view wanted) {
    if (tag != "?" && tag != "!" && tag != wanted) UnknownTag(mark, tag);
  }

  [[noreturn]] static void UnknownTag(const YAML::Mark& mark, const std::string& tag) {
    throw YAML::ParserException(mark, "unknown tag " + tag);
  }

  static boost::json::value Typed(const YAML::Mark& mark, const std::string& tag,
                                  const std::string& text) {
    if (tag == "?" || tag.empty()) return PlainScalar(text);
    if (tag == "!" || tag == "tag:yaml.org,2002:str") return boost::json::string(text);
    std::optional<boost::json::value> value;
    if (tag == "tag:yaml.org,2002:null") {
      if (IsYamlNull(text)) value.emplace(nullptr);
    } else if (tag == "tag:yaml.org,2002:bool") {
      value = YamlBool(text);
    } else if (tag == "tag:yaml.org,2002:int") {
      value = YamlInteger(text);
    } else if (tag == "tag:yaml.org,2002:float") {
      value = YamlFloat(text);
      if (!value) value = YamlInteger(text);
    } else {
      UnknownTag(mark, tag);
    }
    if (!value) throw YAML::ParserException(mark, "'" + text + "' is not of the tagged type");
    return *std::move(value);
  }

  ValueBuilder builder_;
  LineFinder* lines_;
  std::vector<std::pair<YAML::anchor_t, YAML::Mark>> open_;
  std::unordered_map<YAML::anchor_t, std::pair<boost::json::value, std::size_t>> anchors_;
  int documents_ = 0;
};

// The numbers' texts are converted here: Boost's own conversion may be off by one unit in the last
// place.
class JsonHandler {
 public:
  static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);
  using ErrorCodeOut = boost::json::error_code;

  explicit JsonHandler(const DocumentLimits& limits)
      : builder_(limits, ValueBuilder::Duplicates::kLastCounts) {}

  ValueBuilder& builder() { return builder_; }
  const char* problem() const { return problem_; }

  bool on_document_begin(ErrorCodeOut&) { return true; }
  bool on_document_end(ErrorCodeOut&) { return true; }
  bool on_object_begin(ErrorCodeOut& ec) { return Go(builder_.StartObject(), ec); }
  bool on_object_end(std::size_t, ErrorCodeOut& ec) { return Go(builder_.EndObject(), ec); }
  bool on_array_begin(ErrorCodeOut& ec) { return Go(builder_.StartArray(), ec); }
  bool on_array_end(std::size_t, ErrorCodeOut& ec) { return Go(builder_.EndArray(), ec); }
  bool on_key_part(boost::json::string_view part, std::size_t, ErrorCodeOut&) {
    text_.append(part.data(), part.size());
    return true;
  }
  bool on_key(boost::json::string_view part, std::size_t, ErrorCodeOut& ec) {
    text_.append(part.data(), part.size());
    const bool go = Go(builder_.Key(text_), ec);
    text_.clear();
    return go;
  }
  bool on_string_part(boost::json::string_view part, std::size_t, ErrorCodeOut&) {
    text_.append(part.data(), part.size());
    return true;
  }
  bool on_string(boost::json::string_view part, std::size_t, ErrorCodeOut& ec) {
    text_.append(part.data(), part.size());
    const bool go = Go(builder_.Scalar(boost::json::string(text_)), ec);
    text_.clear();
    return go;
  }
  bool on_number_part(boost::json::string_view part, ErrorCodeOut&) {
    text_.append(part.data(), part.size());
    return true;
  }
  bool on_int64(std::int64_t, boost::json::string_view part, ErrorCodeOut& ec) {
    return OnNumber(part, ec);
  }
  bool on_uint64(std::uint64_t, boost::json::string_view part, ErrorCodeOut& ec) {
    return OnNumber(part, ec);
  }
  bool on_double(double, boost::json::string_view part, ErrorCodeOut& ec) {
    return OnNumber(part, ec);
  }
  bool on_bool(bool value, ErrorCodeOut& ec) { return Go(builder_.Scalar(value), ec); }
  bool on_null(ErrorCodeOut& ec) { return Go(builder_.Scalar(nullptr), ec); }
  bool on_comment_part(boost::json::string_view, ErrorCodeOut&) { return true; }
  bool on_comment(boost::json::string_view, ErrorCodeOut&) { return true; }

 private:
  bool OnNumber(boost::json::string_view part, ErrorCodeOut& ec) {
    text_.append(part.data(), part.size());
    const bool go = Go(builder_.Scalar(NumberFromText(text_)), ec);
    text_.clear();
    return go;
  }
  bool Go(ValueBuilder::Problem problem, ErrorCodeOut& ec) {
    if (!problem) return true;
    problem_ = problem;
    ec = boost::json::error::array_too_large;
    return false;
  }

  ValueBuilder builder_;
  std::string text_;
  const char* problem_ = nullptr;
};

Result<boost::json::value> ParseJson(std::string_view text, ErrorCode code,
                                     const DocumentLimits& limits) {
  boost::json::parse_options options;
  options.max_depth = limits.depth;
  boost::json::basic_parser<JsonHandler> parser(options, limits);
  boost::json::error_code error;
  std::size_t used = parser.write_some(false, text.data(), text.size(), error);
  if (!error && used < text.size()) {
    const std::size_t rest = text.find_first_not_of(" \t\r\n", used);
    if (rest != std::string_view::npos) {
      used = rest;
      error = boost::json::error::extra_data;
    }
  }
  if (!error) return parser.handler().builder().Take();
  const auto line = std::count(text.begin(), text.begin() + std::min(used, text.size()), '\n') + 1;
  const char* problem = parser.handler().problem();
  return Error{code, AtLine(static_cast<std::size_t>(line), problem ? problem : error.message())};
}

Result<boost::json::value> ParseYaml(std::string_view text, ErrorCode code,
                                     const DocumentLimits& limits, LineFinder* lines) {
  try {
    ViewBuffer buffer(text);
    std::istream stream(&buffer);
    YAML::Parser parser(stream);
    YamlHandler handler(limits, lines);
    while (parser.HandleNextDocument(handler)) {
    }
    return handler.Take();
  } catch (const YAML::Exception& e) {
    return Error{code, AtLine(static_cast<std::size_t>(std::max(e.mark.line, 0)) + 1, e.msg)};
  } catch (const std::exception& e) {
    return Error{code, AtLine(1, e.what())};
  }
}

}  // namespace

Result<boost::json::value> ParseYamlOrJson(std::string_view text, ErrorCode code,
                                           const DocumentLimits& limits) {
  text = WithoutByteOrderMark(text);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool flow = first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
  if (!flow) return ParseYaml(text, code, limits, nullptr);
  auto json = ParseJson(text, code, limits);
  if (json) return json;
  // YAML may begin with a brace as well ({a: 1}); but what nearly is JSON is better explained as
  // JSON.
  auto yaml = ParseYaml(text, code, limits, nullptr);
  return yaml ? std::move(yaml) : std::move(json);
}

std::vector<std::size_t> LinesOf(std::string_view text, const std::vector<std::string>& pointers) {
  std::vector<std::size_t> lines;
  lines.reserve(pointers.size());
  LineFinder finder(pointers);
  const auto document =
      ParseYaml(WithoutByteOrderMark(text), ErrorCode::kInternal, DocumentLimits{}, &finder);
  for (const auto& pointer : pointers) {
    lines.push_back(document ? finder.LineOf(pointer) : 0);
  }
  return lines;
}

void AppendPointerToken(std::string& pointer, std::string_view token) {
  pointer += '/';
  for (const char c : token) {
    if (c == '~') {
      pointer += "~0";
    } else if (c == '/') {
      pointer += "~1";
    } else {
      pointer += c;
    }
  }
}

}  // namespace sluice::core
