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

Router::Router(const core::Config& config, StreamConfigRoutes stream_configs) {
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
  if (stream_configs == StreamConfigRoutes::kNone) return;
  routes_.push_back(MakeRoute(RouteKind::kStreamConfigs, "/v1/stream-configs", kRead));
  HttpRoute named = MakeRoute(RouteKind::kNamedStreamConfigs, "/v1/stream-configs", kRead);
  named.parameter = "streams";
  named.label += "/--streams";
  routes_.push_back(std::move(named));
  const std::string& api_path = config.http.stream_config_api_path;
  if (api_path.empty()) return;
  routes_.push_back(MakeRoute(RouteKind::kStreamConfigApi, api_path, "GET,HEAD,POST"));
}

const HttpRoute* Router::Find(std::string_view path) const {
  const std::string_view wanted = WithoutSlash(path);
  const std::size_t slash = wanted.rfind('/');
  for (const HttpRoute& route : routes_) {
    const std::string_view fixed = route.parameter.empty() ? wanted : wanted.substr(0, slash);
    if (EqualsIgnoringCase(route.path, fixed)) return &route;
  }
  return nullptr;
}

std::string_view Router::Parameter(const HttpRoute& route, std::string_view path) {
  const std::string_view wanted = WithoutSlash(path);
  return route.parameter.empty() ? std::string_view() : wanted.substr(route.path.size() + 1);
}

}  // namespace sluice::intake
