#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.h"

namespace sluice::intake {

enum class RouteKind : std::uint8_t {
  kEvents,
  kTestEvents,
  kInfo,
  kInfoName,
  kInfoVersion,
  kInfoHome,
  kRobots,
  kRoot,           // 404 without ?spec or ?doc
  kStreamConfigs,  // all of them
  kNamedStreamConfigs,
  kStreamConfigApi,
};

// Whether the stream configuration is served: only if there is one.
enum class StreamConfigRoutes : std::uint8_t { kNone, kServed };

struct HttpRoute {
  RouteKind kind;
  std::string path;   // lower case, without a slash at the end
  std::string label;  // in metrics
  std::string_view allow;
  // A name in the OpenAPI document: the route is all paths with one further segment, which is that
  // parameter. Empty: it is `path` alone.
  std::string_view parameter = {};
};

// Which path is what. Paths are compared as the original's framework does: whatever the case, with
// or without one slash at the end. Immutable; any thread.
class Router {
 public:
  explicit Router(const core::Config& config,
                  StreamConfigRoutes stream_configs = StreamConfigRoutes::kNone);

  // Null for a path that nothing is at.
  const HttpRoute* Find(std::string_view path) const;

  // The last segment of a path that `route` was found for, as sent; empty if it has no parameter.
  static std::string_view Parameter(const HttpRoute& route, std::string_view path);

  const std::vector<HttpRoute>& routes() const { return routes_; }

 private:
  std::vector<HttpRoute> routes_;
};

}  // namespace sluice::intake
