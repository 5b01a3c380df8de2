#include "intake/router.h"

#include "intake/text.h"

namespace sluice::intake {
namespace {

std::string_view WithoutSlash(std::string_view path) {
  if (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return path;
}

HttpRoute MakeRoute(RouteKind kind, std::string_view path, std::string_view allow) {
  HttpRoute route{kind, {}, {}, allow};
  for (const char c : WithoutSlash(path)) route.path.push_back(ToLower(c));
  route.label = route.path == "/" ? "root" : route.path.substr(1);
  return route;
}

}  // namespace

Router::Router(const core::Config& config) {
  constexpr std::string_view kRead = "GET,HEAD";
  for (const std::string& path : config.http.event_paths) {
    routes_.push_back(MakeRoute(RouteKind::kEvents, path, "POST"));
  }
  if (!config.test_events.empty()) {
    routes_.push_back(MakeRoute(RouteKind::kTestEvents, "/v1/_test/events", kRead));
  }
  routes_.push_back(MakeRoute(RouteKind::kInfo, "/_info", kRead));
  routes_.push_back(MakeRoute(RouteKind::kInfoName, "/_info/name", kRead));
  routes_.push_back(MakeRoute(RouteKind::kInfoVersion, "/_info/version", kRead));
  routes_.push_back(MakeRoute(RouteKind::kInfoHome, "/_info/home", {}));
  routes_.push_back(MakeRoute(RouteKind::kRobots, "/robots.txt", kRead));
  routes_.push_back(MakeRoute(RouteKind::kRoot, "/", kRead));
}

const HttpRoute* Router::Find(std::string_view path) const {
  const std::string_view wanted = WithoutSlash(path);
  for (const HttpRoute& route : routes_) {
    if (EqualsIgnoringCase(route.path, wanted)) return &route;
  }
  return nullptr;
}

}  // namespace sluice::intake
