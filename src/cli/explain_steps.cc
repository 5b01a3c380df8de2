#include "cli/explain_steps.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <charconv>
#include <chrono>
#include <utility>

#include "cli/explain_lookup.h"
#include "cli/explain_text.h"
#include "core/iso_time.h"
#include "core/suggest.h"

namespace sluice::cli {
namespace {

namespace json = boost::json;
using validate::Document;
using validate::Kind;
using validate::Node;

// The steps in their order; what an error code is about.
enum class Stage : std::uint8_t {
  kRead,
  kSchemaName,
  kStreamName,
  kSchema,
  kStream,
  kComplete,
  kCheck,
  kRecord,
  kAnswer
};
constexpr std::array<std::string_view, 9> kNames = {"read",    "schema name", "stream name",
                                                    "schema",  "stream",      "completed",
                                                    "checked", "record",      "answer"};

Stage StageOf(std::string_view code) {
  constexpr std::array<std::pair<std::string_view, Stage>, 13> kStages = {{
      {"malformed_body", Stage::kRead},
      {"body_too_large", Stage::kRead},
      {"missing_schema_uri", Stage::kSchemaName},
      {"schema_uri_not_allowed", Stage::kSchemaName},
      {"stream_missing", Stage::kStreamName},
      {"schema_not_found", Stage::kSchema},
      {"schema_unavailable", Stage::kSchema},
      {"schema_unusable", Stage::kSchema},
      {"stream_not_configured", Stage::kStream},
      {"stream_schema_mismatch", Stage::kStream},
      {"stream_config_unavailable", Stage::kStream},
      {"validation_failed", Stage::kCheck},
      {"message_key_missing", Stage::kRecord},
  }};
  for (const auto& [word, stage] : kStages) {
    if (word == code) return stage;
  }
  return Stage::kAnswer;
}

// A text that stays readable while it is looked at.
struct ReadText {
  explicit ReadText(std::string_view t) : text(t), size(t.size()) {
    text.resize(size + validate::kReadPadding);
  }
  core::Result<void> Read(int max_depth) {
    validate::ReadOptions options;
    options.max_depth = max_depth;
    return reader.Read(std::string_view(text).substr(0, size), options, document);
  }
  const Node* root() const { return document.nodes.data(); }
  // The event: the whole, or the element of an array.
  const Node* event() const {
    return root() + (root()->kind() == Kind::kArray && root()->inside > 0 ? 1 : 0);
  }

  std::string text;
  std::size_t size;
  validate::Reader reader;
  Document document;
};

// What the answer says about the event that was not accepted.
struct Failure {
  std::string code;
  std::string message;
  std::string event;  // with what was put in
  json::value errors;
};

Failure FailureIn(const std::string& body) {
  Failure failure;
  ReadText reply(body);
  if (!reply.Read(100'000)) return failure;
  const Document& document = reply.document;
  for (const char* list : {"invalid", "error"}) {
    const Node* events = document.Find(reply.root(), list);
    if (events == nullptr || events->inside == 0) continue;
    const Node* first = events + 1;
    if (const Node* event = document.Find(first, "event")) failure.event = document.Text(*event);
    const Node* context = document.Find(first, "context");
    if (context == nullptr) continue;
    const auto text = [&](const char* name) {
      const Node* found = document.Find(context, name);
      return found == nullptr ? std::string() : std::string(document.String(*found));
    };
    failure.code = text("code");
    failure.message = text("message");
    if (const Node* errors = document.Find(context, "errors")) {
      failure.errors = ParseLoosely(document.Text(*errors));
    }
  }
  return failure;
}

// Makes the explanation of one event, step by step.
class Explainer {
 public:
  Explainer(DryDaemon& daemon, std::string_view text, const DryDaemon::Headers& headers)
      : daemon_(daemon), config_(daemon.config()), sent_(text) {
    DryRun run = daemon.Process(text, headers);
    result_.status = run.reply.status;
    reason_ = std::move(run.reply.reason);
    result_.record = std::move(run.record);
    if (run.reply.status >= 300) {
      failure_ = FailureIn(run.reply.body);
      result_.code = failure_.code.empty() ? "malformed_body" : failure_.code;
      bad_ = StageOf(result_.code);
    }
  }

  Explanation Explain() {
    const bool readable = sent_.Read(config_.limits.max_depth).has_value();
    if (readable) {
      const intake::EventAddress address = daemon_.AddressOf(sent_.document, sent_.event());
      schema_uri_ = address.schema_uri;
      stream_ = address.stream;
    }
    schema_ = daemon_.Schema(schema_uri_);
    if (bad_ == Stage::kSchema && schema_ != nullptr) bad_ = Stage::kCheck;  // a pattern gave up
    TellRead();
    TellNames();
    TellSchema();
    TellStream();
    TellCompleted();
    TellChecked();
    TellRecord();
    TellAnswer();
    return std::move(result_);
  }

 private:
  // The next step; null if it was not reached.
  Step* Add(Stage stage) {
    Step& step = result_.steps.emplace_back();
    step.name = kNames[static_cast<std::size_t>(stage)];
    if (bad_ && stage > *bad_ && stage != Stage::kAnswer) {
      step.state = StepState::kSkipped;
      step.text = "not reached";
      return nullptr;
    }
    if (bad_ == stage) {
      step.state = StepState::kBad;
      step.text = failure_.message;
    }
    return &step;
  }

  void TellRead();
  void TellNames();
  void TellSchema();
  void TellStream();
  void TellCompleted();
  void TellChecked();
  void TellRecord();
  void TellAnswer();
  void TellMissingKey(Step& step) const;
  void HintAtField(std::string_view wanted, std::string_view example, Step& step) const;
  std::string SourceOf(const Change& change) const;

  DryDaemon& daemon_;
  const core::Config& config_;
  ReadText sent_;
  Explanation result_;
  std::string reason_;
  Failure failure_;
  std::optional<Stage> bad_;
  std::string schema_uri_;
  std::string stream_;
  registry::SchemaPtr schema_;
};

// The words around the byte that a message names.
std::string Around(std::string_view text, std::string_view message) {
  constexpr std::string_view kByte = "at byte ";
  const std::size_t at = message.find(kByte);
  if (at == std::string_view::npos) return {};
  std::size_t byte = 0;
  const std::string_view digits = message.substr(at + kByte.size());
  std::from_chars(digits.data(), digits.data() + digits.size(), byte);
  byte = std::min(byte, text.size());
  const auto lines =
      std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(byte), '\n');
  const std::size_t begin = byte < 30 ? 0 : byte - 30;
  std::string around(text.substr(begin, byte - begin));
  around += ">>>";
  around += text.substr(byte, 30);
  std::replace_if(
      around.begin(), around.end(), [](unsigned char c) { return c < ' '; }, ' ');
  return "line " + std::to_string(lines + 1) + ", where the arrows are: " + around;
}

void Explainer::TellRead() {
  Step& step = *Add(Stage::kRead);
  const std::string_view text = std::string_view(sent_.text).substr(0, sent_.size);
  if (step.state == StepState::kBad) {
    if (step.text.empty()) step.text = "there is no event in it";
    if (const std::string around = Around(text, step.text); !around.empty()) {
      step.hints.push_back(around);
    }
    return;
  }
  const std::string_view event = sent_.document.Text(*sent_.event());
  step.text = std::to_string(event.size()) + " bytes of JSON";
  if (sent_.event()->kind() == Kind::kObject) {
    step.text += ", an object with " + std::to_string(Document::Count(sent_.event())) + " fields";
  }
  if (sent_.reader.replaced() > 0) {
    step.hints.push_back(std::to_string(sent_.reader.replaced()) +
                         " places were not UTF-8 and became U+FFFD");
  }
}

// Where a field was asked for and is not there: a name near to it that is, or what to add.
void Explainer::HintAtField(std::string_view wanted, std::string_view example, Step& step) const {
  const std::size_t dot = wanted.rfind('.');
  const Node* parent = sent_.event();
  if (dot != std::string_view::npos) {
    parent = validate::FieldPath(wanted.substr(0, dot)).Find(sent_.document, parent);
  }
  const std::string_view name = wanted.substr(dot == std::string_view::npos ? 0 : dot + 1);
  std::vector<std::string_view> names;
  if (parent != nullptr && parent->kind() == Kind::kObject) {
    const Node* const end = parent + parent->nodes();
    for (const Node* key = parent + 1; key < end; key += 1 + key[1].nodes()) {
      names.push_back(sent_.document.String(*key));
    }
  }
  const std::string_view near = core::Nearest(name, names);
  if (!near.empty() && near != name) {
    step.hints.push_back("there is a field \"" + std::string(near) + "\": is \"" +
                         std::string(name) + "\" its right name?");
  } else {
    step.hints.push_back("add " + std::string(wanted) + " to the event, for example " +
                         std::string(example));
  }
}

void Explainer::TellNames() {
  if (Step* step = Add(Stage::kSchemaName)) {
    const std::string& field = config_.schemas.uri_fields.front();
    if (step->state == StepState::kGood) {
      step->text = "the event says that its schema is " + schema_uri_;
    } else if (result_.code == "missing_schema_uri") {
      step->text = "the event does not say which schema it follows: there is no field " + field;
      if (sent_.event()->kind() == Kind::kObject) {
        HintAtField(field, "\"" + field + "\": \"/test/event/1.0.0\"", *step);
      } else {
        step->hints.emplace_back("an event is an object {...}");
      }
    } else {
      step->hints.emplace_back("it is a path such as /test/event/1.0.0: a title, then a version");
    }
  }
  if (Step* step = Add(Stage::kStreamName)) {
    const std::string& field = config_.streams.stream_field;
    if (step->state == StepState::kBad) {
      step->text = "the event does not say which stream it belongs to: there is no field " + field;
      HintAtField(field, "\"my.stream\"", *step);
    } else if (field.empty()) {
      step->text = "made of the schema's name: " + stream_;
    } else {
      step->text = "the field " + field + " says " + (stream_.empty() ? "nothing" : stream_);
    }
  }
}

void Explainer::TellSchema() {
  Step* step = Add(Stage::kSchema);
  if (step == nullptr) return;
  const std::string message = step->text;
  TellSchemaPlaces(config_.schemas, schema_uri_, schema_ ? Loaded::kYes : Loaded::kNo, *step);
  if (step->state == StepState::kGood) {
    if (schema_ == nullptr) {
      step->state = StepState::kBad;
    } else if (schema_->title()) {
      step->hints.push_back("its title is " + *schema_->title());
    }
    return;
  }
  if (result_.code != "schema_not_found") {
    if (!step->text.empty()) step->hints.push_back(step->text);
    step->text = message;
    step->hints.emplace_back(
        result_.code == "schema_unavailable"
            ? "this may pass: the client is told to try again"
            : "this is for the owner of the schema to mend, not for the sender");
  }
}

void Explainer::TellStream() {
  Step* step = Add(Stage::kStream);
  if (step == nullptr) return;
  const std::string message = step->text;
  const auto snapshot = daemon_.streams().Current();
  TellStreamEntry(config_.streams, snapshot.get(), stream_, *step);
  if (result_.code == "stream_schema_mismatch") {
    const std::string title =
        schema_ != nullptr && schema_->title() ? *schema_->title() : std::string("none");
    step->text = "the stream " + stream_ + " does not take events of the schema " + schema_uri_;
    step->hints.push_back("the title of the event's schema is " + title);
    step->hints.emplace_back("send the event to a stream of that title, or use another schema");
  } else if (step->state == StepState::kBad && snapshot != nullptr &&
             snapshot->Find(stream_) != nullptr) {
    step->hints.push_back(message);
  }
}

// What put a field there.
std::string Explainer::SourceOf(const Change& change) const {
  const std::string& field = change.field;
  if (field == config_.streams.dt_field) return "the time of receipt (enrichment.meta_dt)";
  if (field == config_.streams.id_field) return "a new one (enrichment.meta_id)";
  if (field == "http.client_ip") return "the address of the client (enrichment.client_ip)";
  const auto snapshot = daemon_.streams().Current();
  const streams::StreamSettings* settings = snapshot ? snapshot->Find(stream_) : nullptr;
  const core::StringPairs& headers = settings != nullptr && settings->header_fields
                                         ? *settings->header_fields
                                         : config_.enrichment.request_headers;
  for (const auto& [path, header] : headers) {
    if (path == field && header == "x-request-id") return "the request's header, or a new one";
    if (path == field) return "the request's header " + header;
  }
  return "the schema's default";
}

void Explainer::TellCompleted() {
  Step* step = Add(Stage::kComplete);
  if (step == nullptr) return;
  const std::string_view before = sent_.document.Text(*sent_.event());
  step->changes = ChangesBetween(
      before, result_.record ? std::string_view(result_.record->value) : failure_.event);
  for (Change& change : step->changes) change.source = SourceOf(change);
  step->text = step->changes.empty() ? "nothing had to be put in"
                                     : std::to_string(step->changes.size()) + " fields were put in";
}

void Explainer::TellChecked() {
  Step* step = Add(Stage::kCheck);
  if (step == nullptr) return;
  if (step->state == StepState::kGood) {
    step->text = "the event fits its schema";
    return;
  }
  if (!failure_.errors.is_array()) return;  // the message says it
  const json::value event = ParseLoosely(failure_.event);
  const ViolationTeller teller(daemon_.book(), schema_uri_, event);
  for (const json::value& error : failure_.errors.get_array()) {
    if (error.is_object()) step->violations.push_back(teller.Tell(error.get_object()));
  }
  const std::size_t count = step->violations.size();
  step->text = count == 1 ? "one thing does not fit the schema"
                          : std::to_string(count) + " things do not fit the schema";
}

void Explainer::TellRecord() {
  Step* step = Add(Stage::kRecord);
  if (step == nullptr) return;
  if (step->state == StepState::kBad) {
    TellMissingKey(*step);
    return;
  }
  if (!result_.record) return;
  const ProducedRecord& record = *result_.record;
  step->text = "topic " + record.topic;
  step->hints.push_back(record.key.empty() ? "no key: the stream has no message_key_fields"
                                           : "key " + record.key);
  const std::chrono::system_clock::time_point time{std::chrono::milliseconds(record.timestamp_ms)};
  step->hints.push_back(
      record.timestamp_ms == 0
          ? "timestamp: the broker's own, since " + config_.streams.dt_field + " is no time"
          : "timestamp " + core::FormatIsoTime(time) + ", from " + config_.streams.dt_field);
  step->hints.push_back(std::to_string(record.value.size()) + " bytes");
}

// Which of the fields that the record's key is made of are not there.
void Explainer::TellMissingKey(Step& step) const {
  step.text = "the key of the record cannot be made";
  const auto snapshot = daemon_.streams().Current();
  const streams::StreamSettings* settings = snapshot ? snapshot->Find(stream_) : nullptr;
  if (settings == nullptr) return;
  for (const auto& [key, field] : settings->message_key_fields) {
    if (validate::FieldPath(field).Find(sent_.document, sent_.event()) == nullptr) {
      step.hints.push_back("the field " + field +
                           " is missing, which the stream's message_key_fields name: add it");
    }
  }
}

void Explainer::TellAnswer() {
  Step& step = *Add(Stage::kAnswer);
  step.text = std::to_string(result_.status);
  if (!failure_.message.empty() && failure_.errors.is_null()) {
    step.text += ", code " + result_.code + ": " + failure_.message;
  } else if (!reason_.empty()) {
    step.text += " " + reason_;
  } else if (result_.status == 201) {
    step.text += " once the record is safe";
  }
  step.state = bad_ ? StepState::kBad : StepState::kGood;
  if (result_.code == "validation_failed" && !daemon_.error_stream().empty()) {
    step.hints.push_back("an error event about it goes to the stream " + daemon_.error_stream());
  }
}

}  // namespace

std::string_view ToString(StepState state) {
  switch (state) {
    case StepState::kGood:
      return "good";
    case StepState::kBad:
      return "bad";
    case StepState::kSkipped:
      return "skipped";
  }
  return {};
}

Explanation ExplainEvent(DryDaemon& daemon, std::string_view text,
                         const DryDaemon::Headers& headers) {
  return Explainer(daemon, text, headers).Explain();
}

}  // namespace sluice::cli
