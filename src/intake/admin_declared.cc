#include "intake/admin_declared.h"

#include <charconv>
#include <utility>

#include "core/iso_time.h"
#include "core/json_text.h"
#include "core/log.h"
#include "intake/text.h"

namespace sluice::intake {
namespace {

using streams::DeclaredChange;
using streams::DeclaredCondition;
using streams::DeclaredOutcome;

constexpr std::string_view kListPath = "/v1/streams";
constexpr std::string_view kStreamPath = "/v1/streams/";
constexpr std::string_view kEtagStart = "\"v";

std::string EtagOf(const streams::Declaration& declaration) {
  return std::string(kEtagStart) + std::to_string(declaration.version) + '"';
}

// The version of one of our ETags; of anything else, weak ones included, nothing.
std::optional<std::uint64_t> VersionOf(std::string_view etag) {
  if (!etag.starts_with(kEtagStart) || !etag.ends_with('"')) return std::nullopt;
  etag.remove_prefix(kEtagStart.size());
  std::uint64_t version = 0;
  const auto [end, error] = std::from_chars(etag.data(), etag.data() + etag.size(), version);
  if (error != std::errc() || end != etag.data() + etag.size() - 1) return std::nullopt;
  return version;
}

std::vector<std::uint64_t> VersionsOf(std::string_view etags) {
  std::vector<std::uint64_t> versions;
  while (!etags.empty()) {
    if (const auto version = VersionOf(Trim(TakeUntil(etags, ',')))) versions.push_back(*version);
  }
  return versions;
}

// Adds to `reasons` what cannot be held against a declaration.
DeclaredCondition ConditionOf(const AdminRequest& request, std::vector<std::string>& reasons) {
  const std::string_view match = request.Header("if-match");
  const std::string_view none_match = request.Header("if-none-match");
  if (!none_match.empty()) {
    if (none_match != "*" || !match.empty())
      reasons.emplace_back("If-None-Match: may only be *, and not beside If-Match");
    return {DeclaredCondition::Kind::kAbsent, {}};
  }
  if (match.empty()) return {};
  if (match == "*") return {DeclaredCondition::Kind::kPresent, {}};
  return {DeclaredCondition::Kind::kVersion, VersionsOf(match)};
}

AdminReply BadRequest(const std::vector<std::string>& reasons) {
  AdminReply reply = ProblemReply(400, "The declaration has faults; reasons has all of them.");
  reply.body.resize(reply.body.rfind('}'));
  reply.body += ",\"reasons\":[";
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    if (i > 0) reply.body += ',';
    core::AppendJsonString(reply.body, reasons[i]);
  }
  reply.body += "]}\n";
  return reply;
}

AdminReply Later(int status, std::string_view detail) {
  AdminReply reply = ProblemReply(status, detail);
  reply.headers.emplace_back("retry-after", "5");
  return reply;
}

void AppendMember(std::string& out, std::string_view name, std::string_view text) {
  out += ",\"";
  out += name;
  out += "\":";
  core::AppendJsonString(out, text);
}

AdminRoute RouteOf(std::vector<AdminMethod> methods, std::string_view path, AdminRoute::Match match,
                   AdminHandler handler) {
  AdminRoute route;
  route.methods = std::move(methods);
  route.path = path;
  route.match = match;
  route.handler = std::move(handler);
  return route;
}

}  // namespace

std::vector<AdminRoute> DeclaredRoutes::Routes() {
  std::vector<AdminRoute> routes;
  routes.push_back(
      RouteOf({AdminMethod::kGet}, kListPath, AdminRoute::Match::kExact,
              Answering([this](const AdminRequest& request) { return List(request); })));
  routes.push_back(
      RouteOf({AdminMethod::kGet}, kStreamPath, AdminRoute::Match::kPrefix,
              Answering([this](const AdminRequest& request) { return Get(request); })));
  routes.push_back(RouteOf(
      {AdminMethod::kPut, AdminMethod::kDelete}, kStreamPath, AdminRoute::Match::kPrefix,
      [this](const AdminRequest& request, const AdminAnswer& answer) { Change(request, answer); }));
  routes.back().max_body_bytes = parts_.max_body_bytes;
  return routes;
}

DeclaredRoutes::Caller DeclaredRoutes::Authenticate(const AdminRequest& request,
                                                    AdminReply& refusal) {
  const std::string_view header = request.Header("authorization");
  Caller caller = parts_.tokens.Find(header);
  if (caller) return caller;
  core::Log(core::LogLevel::kWarn, "admin_token_refused",
            header.empty() ? "A request about streams came without a token."
                           : "A request about streams came with a token that is not known.",
            {{"peer", request.peer}, {"path", request.path.substr(0, 300)}});
  refusal = ProblemReply(401,
                         "Needs a token of declared_streams.tokens_file, as "
                         "Authorization: Bearer TOKEN.");
  refusal.headers.emplace_back("www-authenticate",
                               header.empty()
                                   ? R"(Bearer realm="sluice streams")"
                                   : R"(Bearer realm="sluice streams", error="invalid_token")");
  return nullptr;
}

AdminReply DeclaredRoutes::List(const AdminRequest& request) {
  AdminReply reply;
  if (!Authenticate(request, reply)) return reply;
  reply.body = "{\"declared\":[";
  bool first = true;
  for (const auto& declaration : parts_.store.List()) {
    if (!std::exchange(first, false)) reply.body += ',';
    AppendDeclaration(reply.body, *declaration);
  }
  reply.body += "],\"static\":[";
  first = true;
  const auto snapshot = parts_.snapshot();
  for (std::size_t i = 0; snapshot && i < snapshot->size(); ++i) {
    const auto& entry = snapshot->entry(i);
    if (entry.declared) continue;
    if (!std::exchange(first, false)) reply.body += ',';
    core::AppendJsonString(reply.body, entry.key);
  }
  reply.body += "]}\n";
  return reply;
}

AdminReply DeclaredRoutes::Get(const AdminRequest& request) {
  AdminReply reply;
  if (!Authenticate(request, reply)) return reply;
  if (const auto declaration = parts_.store.Find(request.rest)) {
    const std::string etag = EtagOf(*declaration);
    reply.headers.emplace_back("etag", etag);
    if (request.Header("if-none-match") == etag) {
      reply.status = 304;
      return reply;
    }
    AppendDeclaration(reply.body, *declaration);
    reply.body += '\n';
    return reply;
  }
  const auto snapshot = parts_.snapshot();
  const streams::StreamSettings* entry = snapshot ? snapshot->FindKey(request.rest) : nullptr;
  if (!entry || entry->declared) return ProblemReply(404, "There is no stream of this name.");
  reply.body = "{\"stream\":";
  core::AppendJsonString(reply.body, entry->key);
  reply.body += ",\"declared\":false,\"settings\":" + entry->settings_json + "}\n";
  return reply;
}

void DeclaredRoutes::Change(const AdminRequest& request, const AdminAnswer& answer) {
  AdminReply refusal;
  const Caller caller = Authenticate(request, refusal);
  if (!caller) return answer(std::move(refusal));
  DeclaredChange change;
  change.action = request.method == AdminMethod::kPut ? DeclaredChange::Action::kPut
                                                      : DeclaredChange::Action::kDelete;
  change.name = request.rest;
  change.by = caller->name;
  change.peer = request.peer;
  if (auto refused = Check(request, *caller, change)) return answer(*std::move(refused));
  parts_.store.Submit(std::move(change),
                      [this, answer](const DeclaredOutcome& outcome) { answer(ReplyTo(outcome)); });
}

std::optional<AdminReply> DeclaredRoutes::Check(const AdminRequest& request,
                                                const AdminToken& caller, DeclaredChange& change) {
  if (!AnyPatternTakes(caller.patterns, change.name)) {
    parts_.store.AuditRefusal(change, "forbidden");
    return ProblemReply(403,
                        "The token " + caller.name + " may not declare a stream of this name.");
  }
  if (change.action == DeclaredChange::Action::kPut) return CheckBody(request, change);
  std::vector<std::string> reasons;
  change.condition = ConditionOf(request, reasons);
  if (!reasons.empty()) return BadRequest(reasons);
  return std::nullopt;
}

std::optional<AdminReply> DeclaredRoutes::CheckBody(const AdminRequest& request,
                                                    DeclaredChange& change) {
  std::vector<std::string> reasons;
  streams::CheckStreamName(change.name, parts_.topic_prefix, reasons);
  change.condition = ConditionOf(request, reasons);
  streams::DeclarationBody body =
      streams::ReadDeclarationBody(change.name, request.body, parts_.clock.Now(), reasons);
  if (!body.schema_title.empty()) {
    const auto checked = parts_.check_schema(body.schema_title);
    if (!checked.has_value()) {
      if (reasons.empty() && core::RemedyOf(checked.error().code) == core::Remedy::kRetryLater) {
        return Later(503, checked.error().message);
      }
      reasons.push_back(
          "/settings/schema_title: there is no usable schema of this title under "
          "schema_base_uris: " +
          checked.error().message);
    }
  }
  if (!reasons.empty()) {
    parts_.store.AuditRefusal(change, "bad_declaration");
    return BadRequest(reasons);
  }
  change.settings_json = std::move(body.settings_json);
  change.expires_at = body.expires_at;
  return std::nullopt;
}

AdminReply DeclaredRoutes::ReplyTo(const DeclaredOutcome& outcome) {
  using Kind = DeclaredOutcome::Kind;
  AdminReply reply;
  switch (outcome.kind) {
    case Kind::kCreated:
    case Kind::kReplaced:
      reply.status = outcome.kind == Kind::kCreated ? 201 : 200;
      AppendDeclaration(reply.body, *outcome.declaration);
      reply.body += '\n';
      break;
    case Kind::kDeleted:
      reply.status = 204;
      reply.content_type.clear();
      return reply;
    case Kind::kAbsent:
      return ProblemReply(404, outcome.detail);
    case Kind::kStaticEntry:
      return ProblemReply(409, outcome.detail);
    case Kind::kCondition:
      reply = ProblemReply(412, outcome.detail);
      break;
    case Kind::kTooMany:
      return ProblemReply(507, outcome.detail);
    case Kind::kNoSpace:
      return Later(507, outcome.detail);
    case Kind::kStorageFailed:
    case Kind::kStopping:
      return Later(503, outcome.detail);
  }
  if (outcome.declaration) reply.headers.emplace_back("etag", EtagOf(*outcome.declaration));
  return reply;
}

void DeclaredRoutes::AppendDeclaration(std::string& out, const streams::Declaration& declaration) {
  const auto snapshot = parts_.snapshot();
  const auto* entry = snapshot ? snapshot->FindKey(declaration.name) : nullptr;
  out += "{\"stream\":";
  core::AppendJsonString(out, declaration.name);
  out += ",\"declared\":true,\"in_effect\":";
  out += entry && entry->declared ? "true" : "false";
  out += ",\"settings\":" + declaration.settings_json;
  AppendMember(out, "declared_by", declaration.declared_by);
  AppendMember(out, "declared_at", core::FormatIsoTime(declaration.declared_at));
  if (declaration.expires_at) {
    AppendMember(out, "expires", core::FormatIsoTime(*declaration.expires_at));
  } else {
    out += ",\"expires\":null";
  }
  out += '}';
}

}  // namespace sluice::intake
