#include "cli/reload_command.h"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <string>

#include "cli/config_options.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "daemon/config_reader.h"
#include "fetch/admin_client.h"
#include "intake/listen_error.h"

namespace sluice::cli {
namespace {

// The daemon may fetch its stream configuration, and repeat that, before it answers.
constexpr std::chrono::seconds kLongestReload{300};

// Where the admin listener of a daemon with this configuration is reached from here.
std::string AdminAddress(const core::HttpOptions& http) {
  if (!http.admin_unix_socket.empty()) return "unix:" + http.admin_unix_socket;
  std::string host = http.admin_interface;
  if (host == "0.0.0.0") host = "127.0.0.1";
  if (host == "::") host = "::1";
  return (http.admin_tls.enabled() ? "https://" : "http://") +
         intake::AddressAndPort(host, http.admin_port);
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
       kSetOption,
       {"--admin", "URL", "the admin listener: http://HOST:PORT, https://…, or unix:PATH"}}};
  return spec;
}

int Reload(const Arguments& arguments) {
  std::string address(arguments.Value("--admin"));
  if (address.empty()) {
    // A file that the daemon will refuse says all the same where the daemon is.
    const daemon::ConfigReading reading =
        daemon::ReadConfig({std::string(arguments.Value("--config")), arguments.Values("--set")});
    address = AdminAddress(reading.config.http);
  }
  while (address.ends_with('/')) address.pop_back();
  const auto answer = fetch::AdminClient(address, kLongestReload).Ask("POST", "/-/reload");
  if (answer.has_value()) {
    boost::system::error_code ec;
    const boost::json::value body = boost::json::parse(answer->body, ec);
    if (!ec && body.is_object() && body.get_object().contains("outcome"))
      return Tell(body.get_object());
  }
  Complain(
      "No daemon answered at " + address + " (" +
      (answer.has_value() ? "status " + std::to_string(answer->status) : answer.error().message) +
      "); name its admin listener with --config or --admin.");
  return kUsage;
}

}  // namespace sluice::cli
