#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.h"
#include "intake/admin_stream.h"

// What a part of the daemon says to be reached on the admin listener.
namespace sluice::intake {

enum class AdminMethod : std::uint8_t { kGet, kPut, kPost, kDelete };
std::string_view ToString(AdminMethod method);

struct AdminRequest {
  AdminMethod method = AdminMethod::kGet;  // kGet for HEAD too: the body is then left out
  std::string path;                        // as sent, without query
  std::string rest;                        // of a prefix route: what follows it, percent-decoded
  std::string query;                       // as sent, without '?'
  core::StringPairs headers;               // names in lower case
  std::string body;
  std::string peer;  // the address of the other side, without port

  // The value of the first header of that name, empty if there is none.
  std::string_view Header(std::string_view lower_case_name) const;
  // The decoded value of the first query parameter of that name which is not empty.
  std::optional<std::string> Parameter(std::string_view name) const;
};

// Whether a web page of another origin made a browser send it: such a request must change nothing,
// since whoever looks at a page has not asked for it.
bool IsFromOtherSite(const AdminRequest& request);

struct AdminReply {
  int status = 200;
  std::string content_type = "application/json; charset=utf-8";  // empty: none
  core::StringPairs headers;
  std::string body;
  // If set, `body` is not sent, but what is pushed into the stream, until it is closed.
  std::shared_ptr<AdminStream> stream = nullptr;
};

// {"status":…,"title":…,"detail":…} as application/problem+json.
AdminReply ProblemReply(int status, std::string_view detail);

// The right to answer one request, once. Copyable; any thread. If the last copy goes unused, the
// peer gets 500; after the server has gone, an answer goes nowhere.
class AdminAnswer {
 public:
  explicit AdminAnswer(std::function<void(AdminReply)> deliver);
  void operator()(AdminReply reply) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

using AdminHandler = std::function<void(AdminRequest, AdminAnswer)>;

// A handler that answers before it returns.
AdminHandler Answering(std::function<AdminReply(const AdminRequest&)> handler);

struct AdminRoute {
  enum class Match : std::uint8_t { kExact, kPrefix };
  // kWorker: the handler may block (disk, network) and runs on one of a few threads; above a bound
  // of waiting requests the peer gets 503. kIo: it never blocks, whatever state the process is in,
  // and is reachable when all else is busy; for health and metrics.
  enum class Runs : std::uint8_t { kWorker, kIo };

  std::vector<AdminMethod> methods;
  std::string path;  // "/v1/streams"; of a prefix with its trailing slash
  Match match = Match::kExact;
  Runs runs = Runs::kWorker;
  std::size_t max_body_bytes = 4096;  // 413 above
  AdminHandler handler;
};

}  // namespace sluice::intake
