#include "intake/open_api.h"

#include "core/json_text.h"
#include "core/version.h"

namespace sluice::intake {
namespace {

constexpr std::string_view kComponents = R"(,"components":{"schemas":{
"Events":{"oneOf":[{"$ref":"#/components/schemas/Event"},{"type":"array","items":{"$ref":"#/components/schemas/Event"}}]},
"Event":{"type":"object","description":"Must fit the schema that its $schema names."},
"EventStatus":{"type":"object","required":["status","event","context"],"properties":{
"status":{"type":"string","enum":["invalid","error"]},
"event":{"description":"As processed, with defaults and completed fields."},
"context":{"type":"object","properties":{"errors":{"type":"array","items":{"type":"object"}},"errorsText":{"type":"string"},"message":{"type":"string"},"code":{"type":"string"}}}}},
"Failures":{"type":"object","properties":{
"invalid":{"type":"array","items":{"$ref":"#/components/schemas/EventStatus"}},
"error":{"type":"array","items":{"$ref":"#/components/schemas/EventStatus"}}}},
"Problem":{"type":"object","required":["status","type","title"],"properties":{"status":{"type":"integer"},"type":{"type":"string"},"title":{"type":"string"},"detail":{"type":"string"},"method":{"type":"string"},"uri":{"type":"string"}}}}})";

constexpr std::string_view kEventAnswers = R"("responses":{
"201":{"description":"All events were accepted; the header Sluice-Durability says on what that rests.","headers":{"Sluice-Durability":{"schema":{"type":"string","enum":["kafka","spool","file","none"]}}}},
"202":{"description":"Hasty: the events were received, nothing else is known of them."},
"207":{"description":"Some events were accepted, the others are listed.","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Failures"}}}},
"400":{"description":"The body was empty or no JSON, or no event was accepted by the client's fault.","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Failures"}}}},
"429":{"description":"Above a limit of this client or of the streams, where such are configured; retry later.","headers":{"Retry-After":{"schema":{"type":"integer"}}},"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Failures"}}}},
"500":{"description":"No event was accepted; retrying will not help.","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Failures"}}}},
"503":{"description":"No event was accepted; retry later.","headers":{"Retry-After":{"schema":{"type":"integer"}}},"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Failures"}}}})";

constexpr std::string_view kBodyAnswers = R"(,
"413":{"description":"The body is larger than max_body_size, before or after decompression.","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Failures"}}}},
"415":{"description":"Media type, charset or content encoding that is not read.","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Failures"}}}})";

constexpr std::string_view kHasty =
    R"({"name":"hasty","in":"query","description":"Not empty and not false, 0 or no: answer before processing.","schema":{"type":"string"}})";

void AppendParameter(std::string& out, const std::optional<std::string>& name,
                     std::string_view description) {
  if (!name) return;
  out += ",{\"name\":";
  core::AppendJsonString(out, *name);
  out += ",\"in\":\"query\",\"description\":\"";
  out += description;
  out += "\",\"schema\":{\"type\":\"string\"}}";
}

void AppendEvents(std::string& out, const core::Config& config) {
  out += R"({"post":{"summary":"Post events","parameters":[)";
  out += kHasty;
  AppendParameter(out, config.http.schema_uri_query_param, "$schema of events that have none");
  AppendParameter(out, config.http.stream_query_param, "stream of events that have none");
  out += R"(],"requestBody":{"required":true,"content":{)";
  for (const std::string_view type :
       {"application/json", "text/plain", "application/reports+json"}) {
    out.append("\"").append(type).append(R"(":{"schema":{"$ref":"#/components/schemas/Events"}},)");
  }
  out +=
      R"("application/x-ndjson":{"schema":{"type":"string","description":"One event a line."}}}},)";
  out.append(kEventAnswers).append(kBodyAnswers).append("}}}");
}

void AppendRead(std::string& out, std::string_view summary, std::string_view type,
                std::string_view samples) {
  out.append(R"({"get":{"summary":")").append(summary).append(R"(",)").append(samples);
  out.append(R"("responses":{"200":{"description":"The document.","content":{")");
  out.append(type).append(R"(":{}}}}}})");
}

void AppendStreamConfigApi(std::string& out) {
  constexpr std::string_view kParameters =
      R"("parameters":[{"name":"action","in":"query","required":true,"schema":{"type":"string","enum":["streamconfigs"]}},)"
      R"({"name":"streams","in":"query","description":"Names with '|' between them; without it, all.","schema":{"type":"string"}},)"
      R"({"name":"constraints","in":"query","description":"Settings that a stream must have: key=value or a[b]=value, with '|' between them.","schema":{"type":"string"}}],)";
  constexpr std::string_view kSamples =
      R"("x-amples":[{"title":"stream configuration","request":{"query":{"action":"streamconfigs","format":"json","streams":""}},"response":{"status":200}}],)";
  AppendRead(out, "Stream configuration as the EventStreamConfig API answers it",
             "application/json", std::string(kParameters).append(kSamples));
}

void AppendRoute(std::string& out, const core::Config& config, const HttpRoute& route) {
  switch (route.kind) {
    case RouteKind::kEvents:
      return AppendEvents(out, config);
    case RouteKind::kTestEvents:
      out.append(
          R"({"get":{"summary":"Post the configured test events","x-monitor":false,"parameters":[)");
      out.append(kHasty).append("],").append(kEventAnswers).append("}}}");
      return;
    case RouteKind::kInfo:
      return AppendRead(out, "Name, version, description and home page", "application/json", {});
    case RouteKind::kInfoName:
      return AppendRead(out, "Name of the service", "application/json", {});
    case RouteKind::kInfoVersion:
      return AppendRead(out, "Version of the service", "application/json", {});
    case RouteKind::kInfoHome:
      out +=
          R"({"get":{"summary":"Home page","x-monitor":false,"responses":{)"
          R"("301":{"description":"To the configured home page."},"404":{"description":"There is none."}}}})";
      return;
    case RouteKind::kRobots:
      return AppendRead(
          out, "Rules for crawlers", "text/plain",
          R"("x-amples":[{"title":"robots.txt check","request":{},"response":{"status":200}}],)");
    case RouteKind::kStreamConfigs:
      return AppendRead(out, "All stream configuration", "application/json", {});
    case RouteKind::kNamedStreamConfigs:
      return AppendRead(
          out, "Configuration of some streams", "application/json",
          R"("x-monitor":false,"parameters":[{"name":"streams","in":"path","required":true,)"
          R"("description":"Names with ',' or '|' between them.","schema":{"type":"string"}}],)");
    case RouteKind::kStreamConfigApi:
      return AppendStreamConfigApi(out);
    case RouteKind::kRoot:
      out +=
          R"({"get":{"summary":"This document, or a page about it","parameters":[)"
          R"({"name":"spec","in":"query","description":"Present: this document.","schema":{"type":"string"}},)"
          R"({"name":"doc","in":"query","description":"Present: a page for people.","schema":{"type":"string"}}],)"
          R"("x-amples":[{"title":"root with no query params","request":{},"response":{"status":404}},)"
          R"({"title":"spec from root","request":{"query":{"spec":true}},"response":{"status":200}},)"
          R"({"title":"doc from root","request":{"query":{"doc":true}},"response":{"status":200}},)"
          R"({"title":"root with wrong query param","request":{"query":{"fooo":true}},"response":{"status":404}}],)"
          R"("responses":{"200":{"description":"The document.","content":{"application/json":{},"text/html":{}}},)"
          R"("404":{"description":"Neither was asked for.","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Problem"}}}}}}})";
      return;
  }
}

}  // namespace

std::string OpenApiDocument(const core::Config& config, const Router& router) {
  std::string out = R"({"openapi":"3.0.0","info":{"title":)";
  core::AppendJsonString(out, config.service_name);
  out += ",\"version\":";
  core::AppendJsonString(out, core::kVersion);
  out += R"(,"description":"Validates and produces events."},"paths":{)";
  bool first = true;
  for (const HttpRoute& route : router.routes()) {
    if (!first) out += ',';
    first = false;
    std::string path = route.path;
    if (!route.parameter.empty()) path.append("/{").append(route.parameter).append("}");
    core::AppendJsonString(out, path);
    out += ':';
    AppendRoute(out, config, route);
  }
  out.append("}").append(kComponents).append("}");
  return out;
}

}  // namespace sluice::intake
