#include "intake/admin_observe.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "core/json_text.h"

namespace sluice::intake {
namespace {

constexpr std::size_t kUsualLimit = 20;
constexpr std::size_t kMaxLimit = 1000;

// The parameter `limit`; nullopt if it is no number from 1 up.
std::optional<std::size_t> LimitOf(const AdminRequest& request) {
  const auto text = request.Parameter("limit");
  if (!text) return kUsualLimit;
  std::size_t limit = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), limit);
  if (error != std::errc() || end != text->data() + text->size() || limit == 0) return std::nullopt;
  return std::min(limit, kMaxLimit);
}

bool IsSet(const AdminRequest& request, std::string_view parameter) {
  const auto value = request.Parameter(parameter);
  return value && *value != "0" && *value != "false";
}

AdminReply RefusedList(const RefusedEvents& refused, const AdminRequest& request) {
  const auto limit = LimitOf(request);
  if (!limit) return ProblemReply(400, "limit has to be a number from 1 up.");
  const auto stream = request.Parameter("stream");
  const bool without_stream = IsSet(request, "without_stream");
  AdminReply reply;
  std::string& out = reply.body;
  out = "{";
  if (stream) {
    out += "\"stream\":";
    core::AppendJsonString(out, *stream);
    out += ',';
  } else if (!without_stream) {
    out += "\"streams\":[";
    for (const auto& [name, kept] : refused.Streams()) {
      out += out.back() == '[' ? "{\"stream\":" : ",{\"stream\":";
      if (name.empty()) {
        out += "null";
      } else {
        core::AppendJsonString(out, name);
      }
      out += ",\"kept\":" + std::to_string(kept) + '}';
    }
    out += "],";
  }
  out += "\"events\":[";
  const auto events = without_stream ? refused.LastWithoutStream(*limit)
                                     : refused.Last(stream.value_or(std::string()), *limit);
  for (const auto& event : events) {
    out += out.back() == '[' ? "\n" : ",\n";
    AppendSeenEvent(*event, out);
  }
  out += "\n]}\n";
  return reply;
}

AdminReply Tap(EventTap& tap, const AdminRequest& request) {
  const auto stream = request.Parameter("stream");
  if (!stream) return ProblemReply(400, "Say which stream: /-/tap?stream=NAME");
  const auto wants = IsSet(request, "refused") ? EventTap::Wants::kRefused : EventTap::Wants::kAll;
  AdminReply reply;
  reply.stream = tap.Open(*stream, wants, EventTap::Clock::now());
  if (!reply.stream) {
    reply = ProblemReply(503, "As many watch as may (tap.max_clients).");
    reply.headers.emplace_back("retry-after", "10");
    return reply;
  }
  reply.content_type = "text/event-stream";
  reply.headers.emplace_back("x-accel-buffering", "no");
  return reply;
}

AdminRoute Route(std::string path, std::function<AdminReply(const AdminRequest&)> handler) {
  AdminRoute route;
  route.methods = {AdminMethod::kGet};
  route.path = std::move(path);
  route.handler = Answering(std::move(handler));
  return route;
}

AdminReply SwitchedOff(std::string_view how_on) { return ProblemReply(404, how_on); }

}  // namespace

std::vector<AdminRoute> ObserveRoutes(const EventObservers& observers) {
  std::vector<AdminRoute> routes;
  routes.push_back(Route("/-/refused", [refused = observers.refused](const AdminRequest& request) {
    return refused != nullptr
               ? RefusedList(*refused, request)
               : SwitchedOff("Events that are not accepted are not kept: set refused.keep.");
  }));
  routes.push_back(Route("/-/tap", [tap = observers.tap](const AdminRequest& request) {
    return tap != nullptr ? Tap(*tap, request)
                          : SwitchedOff("Nobody may watch events: set tap.max_clients.");
  }));
  return routes;
}

}  // namespace sluice::intake
