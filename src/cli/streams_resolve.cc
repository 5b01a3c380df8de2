#include "cli/streams_resolve.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>

#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/streams_config.h"
#include "cli/streams_schemas.h"
#include "streams/settings_reader.h"
#include "streams/stream_check.h"
#include "streams/stream_topics.h"
#include "validate/pattern.h"

namespace sluice::cli {
namespace {

using boost::json::array;
using boost::json::object;
using streams::StreamSettings;
using validate::CompiledSchema;

// What would happen to an event of one stream, put together step by step.
class Resolution {
 public:
  Resolution(const StreamsInput& input, TitleSchemas& schemas, std::string name)
      : input_(input), schemas_(schemas), name_(std::move(name)) {}

  object Make() {
    const StreamSettings* entry = input_.streams->Find(name_);
    result_["stream"] = name_;
    AddEntry(entry);
    const streams::EventIdentity event{{}, {}, name_};
    if (const auto allowed = streams::CheckConfigured(event, entry); !allowed) {
      return Refused(allowed.error().message.substr(
          streams::Describe(event).size() + std::string(" is not allowed in stream; ").size()));
    }
    const std::string& title = *entry->schema_title;
    result_["schema_title"] = title;
    const auto schema = schemas_.Find(title);
    AddTopic(*entry);
    if (!schema) {
      result_["schema"] = object{{"error", schema.error().message}};
      AddKey(*entry, nullptr);
      return Refused("no schema with this title can be used: " + schema.error().message);
    }
    compiled_ = (*schema)->compiled.get();
    result_["schema"] = object{{"uri", (*schema)->uri}, {"location", (*schema)->location}};
    AddKey(*entry, *schema);
    AddTimestamp();
    AddHeaders(*entry);
    AddOwnFields();
    if (compiled_->title() != title) {
      return Refused("the title of " + (*schema)->uri + " is " +
                     compiled_->title().value_or("missing") + ", not " + title);
    }
    result_["accepted"] = true;
    result_["why"] = "events whose schema has the title " + title + " and which fit it";
    return std::move(result_);
  }

 private:
  object Refused(const std::string& why) {
    result_["accepted"] = false;
    result_["why"] = why;
    return std::move(result_);
  }

  void AddEntry(const StreamSettings* entry) {
    result_["accepted"] = nullptr;  // keeps its place
    result_["why"] = nullptr;
    if (entry == nullptr) return;
    result_["entry"] = entry->key;
    result_["match"] = entry->key == name_ ? "its name" : "the first regex that matches";
    if (entry->declared) result_["declared"] = true;
    array others;
    for (std::size_t i = 0; i < input_.streams->size(); ++i) {
      const StreamSettings& other = input_.streams->entry(i);
      if (&other == entry || !other.pattern || !other.key.ends_with('/')) continue;
      if (other.pattern->Search(name_) == validate::MatchResult::kMatch) {
        others.emplace_back(other.key);
      }
    }
    if (!others.empty()) result_["also_matches"] = std::move(others);
  }

  void AddTopic(const StreamSettings& entry) {
    const auto& options = input_.config.streams;
    const std::string topic = streams::TopicOf(name_, &entry, options);
    std::string why = "topic_prefix " + options.topic_prefix + " and the name of the stream";
    if (options.topic_prefix.empty()) {
      why = "the name of the stream, since topic_prefix is empty";
    } else if (topic == name_) {
      why = name_.starts_with("eventlogging_")
                ? "the name of the stream, since it begins with eventlogging_"
                : "the name of the stream, since its topic_prefixes is null";
    }
    result_["topic"] = topic;
    result_["topic_why"] = why;
    array read;
    if (entry.topics.configured) {
      const object settings = SettingsOf(entry);
      if (const auto* topics = settings.if_contains("topics"); topics && topics->is_array()) {
        read = topics->get_array();
      }
    } else {
      for (std::string& one : streams::ComputeTopics(name_, entry.topics)) {
        read.emplace_back(std::move(one));
      }
    }
    bool is_read = false;
    for (const auto& one : read) is_read = is_read || one == boost::json::string_view(topic);
    result_["topics"] = std::move(read);
    result_["topic_is_read"] = is_read;
  }

  void AddKey(const StreamSettings& entry, const streams::TitleSchema* schema) {
    array key;
    for (const auto& [key_path, event_path] : entry.message_key_fields) {
      object field = {{"key", key_path}, {"from", event_path}};
      if (schema != nullptr) {
        field["declared"] = schema->compiled->Declares(event_path) != CompiledSchema::Declared::kNo;
      }
      key.push_back(std::move(field));
    }
    result_["message_key"] = std::move(key);
  }

  void AddTimestamp() {
    const std::string& field = input_.config.streams.dt_field;
    result_["timestamp"] =
        compiled_->Declares(field) != CompiledSchema::Declared::kNo ? field : "time of receipt";
  }

  bool Declares(std::string_view path) const {
    return compiled_->Declares(path) != CompiledSchema::Declared::kNo;
  }

  // As enrichment does: the field, or an object that it would lie in.
  bool TakesHeader(const std::string& path) const {
    if (Declares(path)) return true;
    const std::size_t dot = path.rfind('.');
    return dot != std::string::npos &&
           compiled_->Declares(path.substr(0, dot)) == CompiledSchema::Declared::kObject;
  }

  void AddHeaders(const StreamSettings& entry) {
    const core::StringPairs& fields =
        entry.header_fields ? *entry.header_fields : input_.config.enrichment.request_headers;
    array headers;
    for (const auto& [path, header] : fields) {
      object field = {{"field", path}};
      if (header.empty()) {
        field["set"] = false;
        field["why"] = "switched off";
      } else {
        field["header"] = header;
        field["set"] = TakesHeader(path);
        if (!TakesHeader(path)) field["why"] = "the schema does not declare it";
      }
      headers.push_back(std::move(field));
    }
    result_["headers"] = std::move(headers);
    result_["headers_from"] = entry.header_fields ? "the stream" : "enrichment.request_headers";
  }

  void AddOwnFields() {
    array own;
    const auto add = [&](const std::string& field, core::WhenToSet when) {
      if (when == core::WhenToSet::kNever || !Declares(field)) return;
      own.push_back(object{{"field", field},
                           {"when", when == core::WhenToSet::kAlways ? "always" : "missing"}});
    };
    const auto& options = input_.config;
    add(options.streams.dt_field, options.enrichment.meta_dt);
    add(options.streams.id_field, options.enrichment.meta_id);
    if (compiled_->title().value_or("").starts_with("analytics/legacy") &&
        options.enrichment.meta_dt != core::WhenToSet::kNever) {
      add("dt", core::WhenToSet::kMissing);
    }
    if (options.enrichment.client_ip) add("http.client_ip", core::WhenToSet::kMissing);
    result_["fields_set"] = std::move(own);
  }

  const StreamsInput& input_;
  TitleSchemas& schemas_;
  const std::string name_;
  object result_;
  const CompiledSchema* compiled_ = nullptr;
};

std::string Text(const object& from, std::string_view name) {
  const auto* value = from.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::string Join(const array& list, std::string_view separator) {
  std::string out;
  for (const auto& one : list) {
    if (!out.empty()) out += separator;
    out += one.get_string();
  }
  return out;
}

// One row of what people read; nothing if there is no text.
void Row(std::string& out, std::string_view name, const std::string& text) {
  if (!text.empty()) out += "  " + Column(name, 16) + text + '\n';
}

void HeaderRows(std::string& out, const object& result) {
  const auto* headers = result.if_contains("headers");
  if (headers == nullptr) return;
  for (const auto& one : headers->get_array()) {
    const object& field = one.get_object();
    const std::string why = Text(field, "why");
    const std::string header = Text(field, "header");
    Row(out, "header",
        Text(field, "field") + (header.empty() ? "" : " from " + header) +
            (why.empty() ? "" : ": not set, " + why));
  }
}

std::string ForPeople(const object& result) {
  const bool accepted = result.at("accepted") == true;
  std::string out = Text(result, "stream") + '\n';
  Row(out, accepted ? "accepted" : "refused", Text(result, "why"));
  const std::string entry = Text(result, "entry");
  Row(out, "entry", entry.empty() ? "none" : entry + ", by " + Text(result, "match"));
  if (const auto* others = result.if_contains("also_matches")) {
    Row(out, "also matches", Join(others->get_array(), ", ") + ": not what counts");
  }
  Row(out, "schema title", Text(result, "schema_title"));
  if (const auto* schema = result.if_contains("schema")) {
    const std::string uri = Text(schema->get_object(), "uri");
    if (!uri.empty()) {
      Row(out, "newest schema", uri + " in " + Text(schema->get_object(), "location"));
    }
  }
  const std::string topic = Text(result, "topic");
  if (topic.empty()) return out;
  Row(out, "topic", topic + ": " + Text(result, "topic_why"));
  const bool is_read = result.at("topic_is_read") == true;
  Row(out, "consumers read",
      Join(result.at("topics").get_array(), ", ") + (is_read ? "" : ": not this topic"));
  const auto& key = result.at("message_key").get_array();
  if (key.empty()) Row(out, "key", "none");
  for (const auto& one : key) {
    const object& field = one.get_object();
    const auto* declared = field.if_contains("declared");
    Row(out, "key",
        Text(field, "key") + " from " + Text(field, "from") +
            (declared != nullptr && *declared == false ? ", which the schema does not declare"
                                                       : ""));
  }
  Row(out, "timestamp", Text(result, "timestamp"));
  if (const auto* own = result.if_contains("fields_set")) {
    for (const auto& one : own->get_array()) {
      Row(out, "set here",
          Text(one.get_object(), "field") + ' ' +
              (Text(one.get_object(), "when") == "always" ? "always" : "if missing"));
    }
  }
  HeaderRows(out, result);
  return out;
}

}  // namespace

const CommandSpec& StreamsResolveSpec() {
  static const CommandSpec spec = {
      "streams resolve",
      "Tell what would happen here to an event of a stream: entry, schema, topic, key, headers.",
      "Exit code 0: events of all these streams are taken, 1: not all.",
      {kConfigOption, kSetOption, kStreamsJson},
      "NAME",
      Visibility::kShown,
      "NAME..."};
  return spec;
}

int StreamsResolve(const Arguments& arguments) {
  if (arguments.operands().empty()) return Misused("streams resolve needs the name of a stream");
  StreamsInput input;
  if (const auto failed = ReadStreams(arguments, input)) return *failed;
  if (input.config.schemas.base_uris.empty()) {
    return Misused("streams resolve needs schema_base_uris: the folders or URIs where schemas are");
  }
  TitleSchemas schemas(input.config.schemas);
  if (const auto usable = schemas.Check(); !usable) return Misused(usable.error().message);
  bool all_accepted = true;
  for (const std::string& name : arguments.operands()) {
    const object result = Resolution(input, schemas, name).Make();
    all_accepted = all_accepted && result.at("accepted") == true;
    if (arguments.Has("--json")) {
      std::string line;
      streams::AppendJson(line, result);
      Print(stdout, line + '\n');
    } else {
      Print(stdout, ForPeople(result));
    }
  }
  return all_accepted ? kGood : kBad;
}

}  // namespace sluice::cli
