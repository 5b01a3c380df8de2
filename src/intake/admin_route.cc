#include "intake/admin_route.h"

#include <atomic>
#include <utility>

#include "core/json_text.h"
#include "intake/http_reply.h"
#include "intake/query.h"

namespace sluice::intake {

std::string_view ToString(AdminMethod method) {
  switch (method) {
    case AdminMethod::kGet:
      return "GET";
    case AdminMethod::kPut:
      return "PUT";
    case AdminMethod::kPost:
      return "POST";
    case AdminMethod::kDelete:
      return "DELETE";
  }
  return {};
}

std::string_view AdminRequest::Header(std::string_view lower_case_name) const {
  for (const auto& [name, value] : headers) {
    if (name == lower_case_name) return value;
  }
  return {};
}

std::optional<std::string> AdminRequest::Parameter(std::string_view name) const {
  return FindParameter(query, name);
}

bool IsFromOtherSite(const AdminRequest& request) {
  const std::string_view site = request.Header("sec-fetch-site");
  if (!site.empty() && site != "same-origin" && site != "none") return true;
  std::string_view origin = request.Header("origin");
  if (origin.empty()) return false;
  const std::size_t scheme_end = origin.find("://");
  if (scheme_end == std::string_view::npos) return true;  // "null"
  origin.remove_prefix(scheme_end + 3);
  return origin != request.Header("host");
}

AdminReply ProblemReply(int status, std::string_view detail) {
  AdminReply reply;
  reply.status = status;
  reply.content_type = "application/problem+json";
  reply.body = "{\"status\":" + std::to_string(status) + ",\"title\":";
  core::AppendJsonString(reply.body, ReasonPhrase(status));
  reply.body += ",\"detail\":";
  core::AppendJsonString(reply.body, detail);
  reply.body += "}\n";
  return reply;
}

struct AdminAnswer::State {
  explicit State(std::function<void(AdminReply)> d) : deliver(std::move(d)) {}
  ~State() {
    if (!done) deliver(ProblemReply(500, "The request was given up without an answer."));
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  std::function<void(AdminReply)> deliver;
  std::atomic<bool> done{false};
};

AdminAnswer::AdminAnswer(std::function<void(AdminReply)> deliver)
    : state_(std::make_shared<State>(std::move(deliver))) {}

void AdminAnswer::operator()(AdminReply reply) const {
  if (!state_->done.exchange(true)) state_->deliver(std::move(reply));
}

AdminHandler Answering(std::function<AdminReply(const AdminRequest&)> handler) {
  return [handler = std::move(handler)](const AdminRequest& request, const AdminAnswer& answer) {
    answer(handler(request));
  };
}

}  // namespace sluice::intake
