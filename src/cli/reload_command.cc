#include "cli/reload_command.h"

#include <boost/asio/io_context.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <string>

#include "cli/exit_code.h"
#include "cli/output.h"
#include "daemon/config_reader.h"
#include "fetch/http_fetcher.h"
#include "intake/listen_error.h"

namespace sluice::cli {
namespace {

// The daemon may fetch its stream configuration, and repeat that, before it answers.
constexpr std::chrono::seconds kLongestReload{300};

// Where the admin listener of a daemon with this configuration is reached from here.
std::string AdminUrl(const core::HttpOptions& http) {
  std::string host = http.admin_interface;
  if (host == "0.0.0.0") host = "127.0.0.1";
  if (host == "::") host = "::1";
  return "http://" + intake::AddressAndPort(host, http.admin_port);
}

fetch::HttpReply PostReload(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  boost::asio::io_context io(1);
  fetch::HttpFetcher::Options options;
  options.total_timeout = kLongestReload;
  options.max_tries = 1;
  fetch::HttpFetcher fetcher(io, options);
  fetch::HttpRequest request{url + "/-/reload", {}, "reload"};
  fetch::HttpReply reply;
  fetcher.Post(std::move(request), [&](fetch::HttpReply answer) {
    reply = std::move(answer);
    io.stop();
  });
  io.run();
  return reply;
}

std::string Names(const boost::json::object& report, std::string_view list) {
  std::string names;
  const auto* found = report.if_contains(list);
  if (found == nullptr || !found->is_array()) return names;
  for (const auto& name : found->get_array()) {
    if (!name.is_string()) continue;
    if (!names.empty()) names += ", ";
    names += std::string_view(name.get_string());
  }
  return names;
}

int Tell(const boost::json::object& report) {
  const auto* outcome = report.if_contains("outcome");
  if (outcome == nullptr || *outcome != "applied") {
    if (const auto* problems = report.if_contains("problems"); problems && problems->is_array()) {
      for (const auto& problem : problems->get_array()) {
        if (problem.is_string()) Print(stderr, std::string(problem.get_string()) + '\n');
      }
    }
    Print(stderr, "The new configuration is bad: nothing was changed.\n");
    return kBad;
  }
  const std::string changed = Names(report, "changed");
  Print(stdout, changed.empty() ? "Reloaded; no key changed.\n" : "Reloaded: " + changed + ".\n");
  const std::string needs_restart = Names(report, "needs_restart");
  if (!needs_restart.empty()) Print(stdout, "Needs a restart: " + needs_restart + ".\n");
  return kGood;
}

}  // namespace

const CommandSpec& ReloadSpec() {
  static const CommandSpec spec = {
      "reload",
      "Have a running daemon read its configuration again, and say what came of it.",
      "Asks the admin listener, found by admin.interface and admin.port of the configuration, or "
      "named with --admin.\n"
      "Exit code 0: the new configuration is in force, 1: it is bad and nothing was changed,\n"
      "2: the daemon was not reached.",
      {{"--config", "FILE", "the daemon's configuration file"},
       {"--set", "key.path=value", "override a key, value read as YAML", Repeat::kMany},
       {"--admin", "URL", "the admin listener, such as http://127.0.0.1:9102"}}};
  return spec;
}

int Reload(const Arguments& arguments) {
  std::string url(arguments.Value("--admin"));
  if (url.empty()) {
    // A file that the daemon will refuse says all the same where the daemon is.
    const daemon::ConfigReading reading =
        daemon::ReadConfig({std::string(arguments.Value("--config")), arguments.Values("--set")});
    url = AdminUrl(reading.config.http);
  }
  const fetch::HttpReply reply = PostReload(url);
  boost::system::error_code ec;
  const boost::json::value body = boost::json::parse(reply.body, ec);
  if (!ec && body.is_object() && body.get_object().contains("outcome"))
    return Tell(body.get_object());
  Complain("No daemon answered at " + url + " (" +
           (reply.status == 0 ? reply.error : "status " + std::to_string(reply.status)) +
           "); name its admin listener with --config or --admin.");
  return kUsage;
}

}  // namespace sluice::cli
