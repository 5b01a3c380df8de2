#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/error.h"
#include "intake/admin_route.h"
#include "intake/admin_tokens.h"
#include "streams/declared_check.h"
#include "streams/declared_store.h"
#include "streams/stream_registry.h"

namespace sluice::intake {

// PUT, GET and DELETE /v1/streams/<name> and GET /v1/streams for tools that declare streams at run
// time; who may do what is in the token file. The routes are called by workers of the admin
// listener; all parts outlive it.
class DeclaredRoutes {
 public:
  struct Parts {
    streams::DeclaredStore& store;
    AdminTokens& tokens;
    const core::Clock& clock;
    std::function<std::shared_ptr<const streams::StreamSnapshot>()> snapshot;  // null: none yet
    // Whether there is a schema of that title; may block. Fails as SchemaRegistry::Get does.
    std::function<core::Result<void>(const std::string& title)> check_schema;
    std::string topic_prefix;
    std::size_t max_body_bytes = 65536;
  };

  explicit DeclaredRoutes(Parts parts) : parts_(std::move(parts)) {}

  // The routes, for AdminServer::AddRoute; they refer to this.
  std::vector<AdminRoute> Routes();

 private:
  using Caller = std::shared_ptr<const AdminToken>;

  // Null, and the reply to give, if the request has no token of ours.
  Caller Authenticate(const AdminRequest& request, AdminReply& refusal);
  AdminReply List(const AdminRequest& request);
  AdminReply Get(const AdminRequest& request);
  void Change(const AdminRequest& request, const AdminAnswer& answer);
  // Fill `change` from the request; the refusal, if there is something wrong.
  std::optional<AdminReply> Check(const AdminRequest& request, const AdminToken& caller,
                                  streams::DeclaredChange& change);
  std::optional<AdminReply> CheckBody(const AdminRequest& request, streams::DeclaredChange& change);
  AdminReply ReplyTo(const streams::DeclaredOutcome& outcome);
  void AppendDeclaration(std::string& out, const streams::Declaration& declaration);

  Parts parts_;
};

}  // namespace sluice::intake
