#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "intake/admin_route.h"

namespace sluice::intake {

// Which route of the admin listener a request is for. Filled before serving, then only read.
class AdminRouter {
 public:
  // Routes of one path may differ in their methods; of two for the same method the first counts.
  void Add(AdminRoute route) { routes_.push_back(std::move(route)); }

  struct Found {
    const AdminRoute* route = nullptr;  // null: 404, or 405 if `allow` is not empty
    AdminMethod method = AdminMethod::kGet;
    std::string rest;
    std::string allow;
  };
  // An exact path comes before prefixes, a longer prefix before a shorter one; a prefix needs
  // something behind it. `method` as in the request line, HEAD as GET.
  Found Find(std::string_view method, std::string_view path) const;

  // "/healthz, /metrics and …": all paths, in the order of their adding.
  std::string List() const;

 private:
  std::vector<AdminRoute> routes_;
};

}  // namespace sluice::intake
