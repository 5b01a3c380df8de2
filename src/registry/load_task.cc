#include "registry/load_task.h"

#include <optional>
#include <utility>

#include "core/yaml_json.h"
#include "validate/schema_compiler.h"
#include "validate/schema_text.h"

namespace sluice::registry {
namespace {

constexpr std::size_t kMaxDocuments = 256;  // of one schema, through $refs
constexpr int kMaxCompilations = 64;

// For the path of a URL: schema URIs have no percent signs, so nothing is encoded twice.
std::string EncodePath(std::string_view path) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@/";
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : path) {
    if (kPlain.find(c) != std::string_view::npos) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out;
}

// The JSON pointer of the first $ref below `schema` that leads into the document `uri`, or nothing.
std::optional<std::string> PointerOfRef(const boost::json::value& schema, std::string_view uri,
                                        const std::string& pointer) {
  if (const auto* list = schema.if_array()) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      auto found = PointerOfRef((*list)[i], uri, pointer + '/' + std::to_string(i));
      if (found) return found;
    }
  }
  const auto* object = schema.if_object();
  if (object == nullptr) return std::nullopt;
  if (const auto* ref = object->if_contains("$ref"); ref != nullptr && ref->is_string()) {
    // As it was resolved, or relative to some base: then its text is the end of the URI.
    const std::string_view text = ref->get_string();
    const std::string_view target = text.substr(0, text.find('#'));
    if (!target.empty() && uri.ends_with(target)) return pointer;
  }
  for (const auto& member : *object) {
    std::string below = pointer;
    validate::AppendPointerStep(below, member.key());
    if (auto found = PointerOfRef(member.value(), uri, below)) return found;
  }
  return std::nullopt;
}

FoundDocument FromReply(fetch::HttpReply reply) {
  FoundDocument found;
  found.location = std::move(reply.url);
  if (!reply.error.empty()) {
    found.status = FindStatus::kUnavailable;
    found.reason = found.location + ": " + reply.error;
  } else if (reply.status == 200) {
    found.status = FindStatus::kFound;
    found.text = std::move(reply.body);
  } else {
    // Refused access and throttling say nothing about whether the document exists; other 4xx do.
    const int status = reply.status;
    const bool definitive = status >= 400 && status < 500 && status != 401 && status != 403 &&
                            status != 407 && status != 408 && status != 425 && status != 429;
    found.status = definitive ? FindStatus::kNotFound : FindStatus::kUnavailable;
    found.reason = found.location + ": answered " + std::to_string(status);
  }
  return found;
}

}  // namespace

void LoadTask::Start(const LoadEnvironment& environment, std::string uri, std::string shown_uri,
                     std::function<void(LoadResult)> done) {
  std::shared_ptr<LoadTask> task(
      new LoadTask(environment, std::move(uri), std::move(shown_uri), std::move(done)));
  task->FindNextDocument();
}

LoadTask::LoadTask(const LoadEnvironment& environment, std::string uri, std::string shown_uri,
                   std::function<void(LoadResult)> done)
    : environment_(environment),
      uri_(std::move(uri)),
      shown_uri_(std::move(shown_uri)),
      done_(std::move(done)),
      wanted_{uri_} {}

void LoadTask::FindNextDocument() {
  if (wanted_.empty()) {
    Compile();
    return;
  }
  auto candidates = CandidatesFor(wanted_.front());
  if (!candidates) {
    Fail(core::ErrorCode::kSchemaUnusable, BrokenRef(candidates.error().message));
    return;
  }
  candidates_ = *std::move(candidates);
  next_candidate_ = 0;
  worst_ = FindStatus::kNotFound;
  reasons_.clear();
  TryNextCandidate();
}

core::Result<std::vector<LoadTask::Candidate>> LoadTask::CandidatesFor(std::string_view uri) const {
  std::vector<Candidate> candidates;
  const auto add = [&](const BaseUri& base, const std::string& path) {
    const std::string with_extension = WithExtension(path, environment_.file_extension);
    if (base.remote) {
      candidates.push_back({true, "", base.prefix + EncodePath(with_extension)});
    } else {
      candidates.push_back({false, base.prefix, with_extension});
    }
  };
  if (!IsAbsolute(uri)) {
    const auto path = NormalizeSchemaUri(uri, AbsoluteUris::kRefused);
    if (!path) return path.error();
    for (const auto& base : environment_.bases) add(base, *path);
    return candidates;
  }
  for (const auto& base : environment_.bases) {
    const std::string prefix = base.remote ? base.prefix : "file://" + base.prefix;
    if (!uri.starts_with(prefix + "/")) continue;
    const auto path = NormalizeSchemaUri(uri.substr(prefix.size()), AbsoluteUris::kRefused);
    if (!path) return path.error();
    add(base, *path);
  }
  if (candidates.empty() && environment_.absolute == AbsoluteUris::kAllowed && IsHttp(uri)) {
    candidates.push_back({true, "", std::string(uri)});
  }
  if (candidates.empty()) {
    return core::Error{core::ErrorCode::kSchemaUnusable, "it lies under none of the base URIs"};
  }
  return candidates;
}

void LoadTask::TryNextCandidate() {
  if (next_candidate_ == candidates_.size()) {
    FailDocument();
    return;
  }
  const Candidate& candidate = candidates_[next_candidate_++];
  if (candidate.remote) {
    TryRemote(candidate.path, 0);
  } else {
    OnDocument(ReadUnderFolder(candidate.folder, candidate.path));
  }
}

void LoadTask::TryRemote(const std::string& url, int links) {
  environment_.fetch(url, [self = shared_from_this(), links](fetch::HttpReply reply) {
    FoundDocument found = FromReply(std::move(reply));
    const std::string_view target =
        found.status == FindStatus::kFound ? LinkTarget(found.text) : std::string_view();
    if (!target.empty() && links < kMaxLinks) {
      self->TryRemote(SiblingOf(found.location, target), links + 1);
    } else {
      self->OnDocument(std::move(found));
    }
  });
}

void LoadTask::OnDocument(FoundDocument found) {
  if (found.status == FindStatus::kFound) {
    const bool is_main = documents_.empty();
    if (is_main && environment_.compiled_from) {
      if (auto schema = environment_.compiled_from(found.location)) {
        documents_[uri_].location = std::move(found.location);
        Finish(std::move(schema));
        return;
      }
    }
    auto value = core::ParseYamlOrJson(found.text, core::ErrorCode::kSchemaUnusable);
    if (value && (value->is_object() || value->is_bool())) {
      documents_[wanted_.front()] = {*std::move(value), std::move(found.location)};
      wanted_.pop_front();
      FindNextDocument();
      return;
    }
    found.status = FindStatus::kUnusable;
    found.reason = found.location + ": " +
                   (value ? "a schema has to be an object or a boolean" : value.error().message);
  }
  // What may pass outweighs what will not: the answer must not be final while a base has not
  // spoken.
  if (found.status == FindStatus::kUnavailable ||
      (found.status == FindStatus::kUnusable && worst_ == FindStatus::kNotFound)) {
    worst_ = found.status;
  }
  if (found.status != FindStatus::kNotFound) {
    if (!reasons_.empty()) reasons_ += "; ";
    reasons_ += found.reason;
  }
  TryNextCandidate();
}

// What is wrong with the document that is wanted, and which $ref wants it.
std::string LoadTask::BrokenRef(std::string_view why) const {
  std::string text;
  for (const auto& [uri, document] : documents_) {
    if (const auto pointer = PointerOfRef(document.value, wanted_.front(), "")) {
      text = document.location + "#" + *pointer + ": ";
      break;
    }
  }
  return text.append("$ref to ").append(wanted_.front()).append(": ").append(why);
}

void LoadTask::FailDocument() {
  std::string why = reasons_.empty() ? "not found in any of the schema base URIs" : reasons_;
  const bool is_main = documents_.empty();
  if (!is_main) why = BrokenRef(why);
  switch (worst_) {
    case FindStatus::kUnavailable:
      return Fail(core::ErrorCode::kSchemaUnavailable, why);
    case FindStatus::kNotFound:
      // The original's words, nothing behind them: the code says the rest.
      if (is_main)
        return Finish(core::Error{core::ErrorCode::kSchemaNotFound, LoadFailure(shown_uri_, {})});
      break;
    case FindStatus::kFound:
    case FindStatus::kUnusable:
      break;
  }
  Fail(core::ErrorCode::kSchemaUnusable, why);
}

void LoadTask::Compile() {
  const Document& main = documents_.at(uri_);
  auto outcome = environment_.compile(
      uri_, main.value, [this](std::string_view uri) -> const boost::json::value* {
        const auto found = documents_.find(std::string(uri));
        return found == documents_.end() ? nullptr : &found->second.value;
      });
  if (outcome.schema) {
    Finish(std::move(outcome.schema));
    return;
  }
  for (auto& uri : outcome.needed) {
    if (!documents_.contains(uri)) wanted_.push_back(std::move(uri));
  }
  if (wanted_.empty()) {
    const std::string why =
        outcome.needed.empty() ? outcome.error.message : "$ref that leads nowhere";
    Fail(core::ErrorCode::kSchemaUnusable, main.location + ": " + why);
  } else if (documents_.size() + wanted_.size() > kMaxDocuments ||
             ++compilations_ > kMaxCompilations) {
    Fail(core::ErrorCode::kSchemaUnusable, main.location + ": too many documents through $ref");
  } else {
    FindNextDocument();
  }
}

void LoadTask::Fail(core::ErrorCode code, std::string_view why) {
  Finish(core::Error{code, LoadFailure(shown_uri_, why)});
}

void LoadTask::Finish(core::Result<SchemaPtr> result) {
  LoadResult loaded;
  loaded.schema = std::move(result);
  const auto main = documents_.find(uri_);
  if (main != documents_.end()) loaded.location = std::move(main->second.location);
  documents_.clear();
  std::exchange(done_, nullptr)(std::move(loaded));
}

}  // namespace sluice::registry
