#include "daemon/log_level.h"

#include <boost/json/parse.hpp>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

namespace sluice::daemon {
namespace {

using intake::AdminMethod;
using intake::AdminReply;
using intake::AdminRequest;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr seconds kLongest = std::chrono::hours(24 * 7);

// "90s", "10m", "1h", or seconds.
std::optional<seconds> ReadSeconds(std::string_view text) {
  std::int64_t factor = 1;
  if (text.ends_with('s') || text.ends_with('m') || text.ends_with('h')) {
    factor = text.back() == 's' ? 1 : text.back() == 'm' ? 60 : 3600;
    text.remove_suffix(1);
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  if (!is_number || number <= 0 || number > kLongest.count() / factor) return std::nullopt;
  return seconds(number * factor);
}

std::string MemberOf(const boost::json::object& document, std::string_view name) {
  const auto* value = document.if_contains(boost::json::string_view(name.data(), name.size()));
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

}  // namespace

void LogLevelControl::AddTo(intake::AdminServer& admin) {
  intake::AdminRoute show;
  show.methods = {AdminMethod::kGet};
  show.path = "/-/log-level";
  show.handler = intake::Answering([this](const AdminRequest&) { return Present(); });
  admin.AddRoute(std::move(show));
  intake::AdminRoute change;
  change.methods = {AdminMethod::kPut, AdminMethod::kPost};
  change.path = "/-/log-level";
  change.handler = intake::Answering([this](const AdminRequest& request) { return Set(request); });
  admin.AddRoute(std::move(change));
}

std::optional<LogLevelControl::Change> LogLevelControl::Read(const AdminRequest& request,
                                                             std::string& problem) {
  std::string level = request.Parameter("level").value_or("");
  std::string lasting = request.Parameter("for").value_or("");
  if (!request.body.empty()) {
    boost::system::error_code error;
    const auto document = boost::json::parse(request.body, error);
    if (error || !document.is_object()) {
      problem = R"(The body has to be like {"level":"debug","for":"10m"}.)";
      return std::nullopt;
    }
    level = MemberOf(document.get_object(), "level");
    lasting = MemberOf(document.get_object(), "for");
  }
  const auto known = core::LogLevelOf(level);
  if (!known) {
    problem = "level has to be trace, debug, info, warn, error or fatal.";
    return std::nullopt;
  }
  Change change{*known, std::nullopt};
  if (!lasting.empty()) {
    change.lasting = ReadSeconds(lasting);
    if (!change.lasting) {
      problem = "for has to be a time like 90s, 10m or 1h, of a week at most.";
      return std::nullopt;
    }
  }
  return change;
}

AdminReply LogLevelControl::Set(const AdminRequest& request) {
  if (intake::IsFromOtherSite(request)) {
    return intake::ProblemReply(403, "A page of another site may not change the log's level.");
  }
  std::string problem;
  const auto change = Read(request, problem);
  if (!change) return intake::ProblemReply(400, problem);
  Apply(*change);
  return Present();
}

void LogLevelControl::Apply(const Change& change) {
  {
    const std::lock_guard lock(mutex_);
    const core::LogLevel present = core::CurrentLogLevel();
    const bool was_temporary = temporary_ && temporary_->level == present;
    const core::LogLevel before = was_temporary ? temporary_->before : present;
    temporary_.reset();
    if (change.lasting) {
      temporary_ = Temporary{change.level, before, steady_clock::now() + *change.lasting};
    }
    core::SetLogLevel(change.level);
  }
  // At a level that is written at any but the two highest.
  core::Log(core::LogLevel::kWarn, "log_level", "The level of the log was changed.",
            {{"to", core::ToString(change.level)},
             {"seconds", change.lasting ? std::to_string(change.lasting->count()) : ""}});
}

AdminReply LogLevelControl::Present() {
  AdminReply reply;
  reply.body = "{\"level\":\"" + std::string(core::ToString(core::CurrentLogLevel())) + '"';
  const std::lock_guard lock(mutex_);
  if (temporary_) {
    const auto left =
        std::chrono::duration_cast<seconds>(temporary_->until - steady_clock::now()).count();
    reply.body += ",\"seconds_left\":" + std::to_string(std::max<std::int64_t>(0, left)) +
                  ",\"then\":\"" + std::string(core::ToString(temporary_->before)) + '"';
  }
  reply.body += "}\n";
  return reply;
}

void LogLevelControl::Tick(steady_clock::time_point now) {
  const std::lock_guard lock(mutex_);
  if (!temporary_ || now < temporary_->until) return;
  if (core::CurrentLogLevel() == temporary_->level) core::SetLogLevel(temporary_->before);
  temporary_.reset();
}

}  // namespace sluice::daemon
