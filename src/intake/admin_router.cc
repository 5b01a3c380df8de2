#include "intake/admin_router.h"

#include <algorithm>

#include "intake/query.h"

namespace sluice::intake {
namespace {

bool Fits(const AdminRoute& route, std::string_view path) {
  if (route.match == AdminRoute::Match::kExact) return path == route.path;
  return path.size() > route.path.size() && path.starts_with(route.path);
}

// Of two routes that fit a path: an exact one is as long as the path, so longer than any prefix.
bool ComesBefore(const AdminRoute& a, const AdminRoute* b) {
  return b == nullptr || a.path.size() > b->path.size();
}

void AddWord(std::string& list, std::string_view word) {
  if (!list.empty()) list += ',';
  list += word;
}

}  // namespace

AdminRouter::Found AdminRouter::Find(std::string_view method, std::string_view path) const {
  Found found;
  const AdminRoute* best = nullptr;
  for (const AdminRoute& route : routes_) {
    if (Fits(route, path) && ComesBefore(route, best)) best = &route;
  }
  if (!best) return found;
  for (const AdminRoute& route : routes_) {
    if (route.path != best->path || route.match != best->match) continue;
    for (const AdminMethod allowed : route.methods) {
      AddWord(found.allow, ToString(allowed));
      if (allowed == AdminMethod::kGet) AddWord(found.allow, "HEAD");
      const bool head = allowed == AdminMethod::kGet && method == "HEAD";
      if (found.route || (method != ToString(allowed) && !head)) continue;
      found.route = &route;
      found.method = allowed;
    }
  }
  if (best->match == AdminRoute::Match::kPrefix) {
    found.rest = DecodePathPart(path.substr(best->path.size()));
  }
  return found;
}

std::string AdminRouter::List() const {
  std::vector<std::string> paths;
  for (const AdminRoute& route : routes_) {
    std::string path = route.path;
    if (route.match == AdminRoute::Match::kPrefix) path += "…";
    if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
  }
  std::string list;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (i > 0) list += i + 1 == paths.size() ? " and " : ", ";
    list += paths[i];
  }
  return list;
}

}  // namespace sluice::intake
