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
  kRoot,  // 404 without ?spec or ?doc
};

struct HttpRoute {
  RouteKind kind;
  std::string path;   // lower case, without a slash at the end
  std::string label;  // in metrics
  std::string_view allow;
};

// Which path is what. Paths are compared as the original's framework does: whatever the case, with
// or without one slash at the end. Immutable; any thread.
class Router {
 public:
  explicit Router(const core::Config& config);

  // Null for a path that nothing is at.
  const HttpRoute* Find(std::string_view path) const;

  const std::vector<HttpRoute>& routes() const { return routes_; }

 private:
  std::vector<HttpRoute> routes_;
};

}  // namespace sluice::intake
