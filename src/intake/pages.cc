#include "intake/pages.h"

#include "core/json_text.h"
#include "core/version.h"
#include "intake/open_api.h"
#include "validate/reader.h"

namespace sluice::intake {
namespace {

constexpr std::string_view kDescription =
    "Event intake service: validates JSON events against their schemas and produces them.";

void AppendMember(std::string& out, std::string_view name, std::string_view value) {
  out += out.empty() ? '{' : ',';
  core::AppendJsonString(out, name);
  out += ':';
  core::AppendJsonString(out, value);
}

void AppendHtml(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c;
    }
  }
}

std::string DocPage(const core::Config& config, const Router& router) {
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>";
  AppendHtml(out, config.service_name);
  out += "</title></head>\n<body>\n<h1>";
  AppendHtml(out, config.service_name);
  out += "</h1>\n<p>";
  AppendHtml(out, kDescription);
  out += "</p>\n<table>\n<tr><th>Methods</th><th>Path</th></tr>\n";
  for (const HttpRoute& route : router.routes()) {
    out += "<tr><td>";
    out += route.allow.empty() ? "any" : route.allow;
    out += "</td><td>";
    AppendHtml(out, route.path);
    if (!route.parameter.empty()) out.append("/{").append(route.parameter).append("}");
    out += "</td></tr>\n";
  }
  out += "</table>\n<p><a href=\"/?spec\">OpenAPI document</a></p>\n</body>\n</html>\n";
  return out;
}

}  // namespace

Pages::Pages(const core::Config& config, const Router& router)
    : robots("User-agent: *\nDisallow: /\n"),
      doc_csp("default-src 'none'; base-uri 'none'; frame-ancestors 'none'") {
  const std::string& home = config.http.home_page;
  AppendMember(info, "name", config.service_name);
  AppendMember(info, "version", core::kVersion);
  AppendMember(info, "description", kDescription);
  if (!home.empty()) AppendMember(info, "home", home);
  info += '}';
  AppendMember(info_name, "name", config.service_name);
  info_name += '}';
  AppendMember(info_version, "version", core::kVersion);
  info_version += '}';
  if (home.starts_with("http")) {
    home_location = "location: " + home + "\r\n";
    home_body = "Moved Permanently. Redirecting to " + home;
  } else {
    home_body = "No home page URL defined for " + config.service_name;
  }
  open_api = OpenApiDocument(config, router);
  doc = DocPage(config, router);
  for (const std::string& event : config.test_events) {
    test_events += test_events.empty() ? '[' : ',';
    test_events += event;
  }
  if (!test_events.empty()) test_events += ']';
  test_events_size = test_events.size();
  test_events.append(validate::kReadPadding, ' ');
}

std::string ProblemDocument(int status, std::string_view type, std::string_view title,
                            std::string_view detail, std::string_view method,
                            std::string_view uri) {
  std::string out = "{\"status\":" + std::to_string(status);
  AppendMember(out, "type", type);
  AppendMember(out, "title", title);
  if (!detail.empty()) AppendMember(out, "detail", detail);
  if (!method.empty()) AppendMember(out, "method", method);
  if (!uri.empty()) AppendMember(out, "uri", uri);
  out += '}';
  return out;
}

}  // namespace sluice::intake
