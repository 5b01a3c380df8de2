#include "cli/streams_canary.h"

#include <boost/asio/io_context.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <chrono>
#include <deque>
#include <string>

#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/streams_config.h"
#include "cli/streams_schemas.h"
#include "core/iso_time.h"
#include "fetch/http_fetcher.h"
#include "streams/canary_event.h"
#include "streams/settings_reader.h"

namespace sluice::cli {
namespace {

constexpr int kPostsAtOnce = 8;
constexpr std::size_t kShownAnswerBytes = 300;

enum class Outcome : std::uint8_t { kPosted, kSkipped, kFailed };

// One POST and what came of it.
struct Post {
  std::string where;  // the datacenter, or the URL
  std::string url;
  int status = 0;
  std::string error;  // empty: it was taken
};

// One stream and what came of its canary event.
struct Canary {
  std::string stream;
  std::string schema_uri;
  std::string event;
  std::string problem;          // why nothing was posted
  bool may_be_skipped = false;  // the problem is none to wake somebody up for
  std::deque<Post> posts;       // whose addresses stay

  Outcome outcome() const {
    if (!problem.empty()) return may_be_skipped ? Outcome::kSkipped : Outcome::kFailed;
    for (const Post& post : posts) {
      if (!post.error.empty()) return Outcome::kFailed;
    }
    return Outcome::kPosted;
  }
};

// Finds out which events go where.
class Planner {
 public:
  Planner(const StreamsInput& input, const std::vector<std::string>& urls, std::string now)
      : input_(input), urls_(urls), now_(std::move(now)), schemas_(input.config.schemas) {}

  core::Result<void> Check() const { return schemas_.Check(); }

  Canary ForName(const std::string& name) {
    const auto* entry = input_.streams->Find(name);
    if (entry == nullptr) return Problem(name, "is not configured");
    const auto settings = SettingsOf(*entry);
    if (!IsEnabled(settings)) return Problem(name, "canary_events_enabled is not true");
    return Plan(name, *entry, settings);
  }

  std::deque<Canary> ForAll() {
    std::deque<Canary> canaries;
    for (std::size_t i = 0; i < input_.streams->size(); ++i) {
      const auto& entry = input_.streams->entry(i);
      const auto settings = SettingsOf(entry);
      if (!IsEnabled(settings)) continue;
      if (entry.regex) {
        canaries.push_back(Problem(entry.key, "is a regex: there is no one name to post to"));
        canaries.back().may_be_skipped = true;
      } else {
        canaries.push_back(Plan(entry.key, entry, settings));
      }
    }
    return canaries;
  }

 private:
  static bool IsEnabled(const boost::json::object& settings) {
    const auto* enabled = settings.if_contains("canary_events_enabled");
    return enabled != nullptr && *enabled == true;
  }

  static Canary Problem(const std::string& name, std::string problem) {
    Canary canary;
    canary.stream = name;
    canary.problem = std::move(problem);
    return canary;
  }

  Canary Plan(const std::string& name, const streams::StreamSettings& entry,
              const boost::json::object& settings) {
    Canary canary;
    canary.stream = name;
    const std::string service = TextOf(settings, "destination_event_service");
    if (service.empty() && urls_.empty()) {
      canary.problem = "has no destination_event_service";
      canary.may_be_skipped = true;
      return canary;
    }
    if (!entry.schema_title) return Problem(name, "has no schema_title");
    const auto schema = schemas_.Find(*entry.schema_title);
    if (!schema) return Problem(name, schema.error().message);
    canary.schema_uri = (*schema)->uri;
    auto event = streams::MakeCanaryEvent({(*schema)->document, canary.schema_uri, name, now_});
    if (!event) return Problem(name, (*schema)->uri + ": " + event.error().message);
    canary.event = *std::move(event);
    AddPosts(service, canary);
    return canary;
  }

  void AddPosts(const std::string& service, Canary& canary) const {
    for (const std::string& url : urls_) canary.posts.push_back({url, url, 0, {}});
    if (!urls_.empty()) return;
    const auto& options = input_.config.canary;
    for (const std::string& datacenter : options.datacenters) {
      const std::string key = service + '-' + datacenter;
      Post post{datacenter, {}, 0, "canary.services has no " + key};
      for (const auto& [name, url] : options.services) {
        if (name == key) post = {datacenter, url, 0, {}};
      }
      canary.posts.push_back(std::move(post));
    }
  }

  const StreamsInput& input_;
  const std::vector<std::string>& urls_;
  const std::string now_;
  TitleSchemas schemas_;
};

// Posts everything, some at a time; blocks until all are answered or out of time.
void PostAll(std::deque<Canary>& canaries, const core::Config& config) {
  boost::asio::io_context io{1};
  fetch::HttpFetcher::Options options;
  options.total_timeout = config.canary.timeout;
  options.max_tries = 1;  // an event that was taken twice would be counted twice
  options.user_agent = config.user_agent + " canary";
  fetch::HttpFetcher fetcher(io, options);
  int running = 0;
  const auto run_until = [&](int left) {
    io.restart();
    while (running > left && io.run_one() > 0) {
    }
  };
  for (Canary& canary : canaries) {
    for (Post& post : canary.posts) {
      if (!post.error.empty()) continue;
      run_until(kPostsAtOnce - 1);
      ++running;
      fetch::HttpRequest request{post.url, {{"content-type", "application/json"}}};
      request.body = '[' + canary.event + ']';
      fetcher.Post(std::move(request), [&running, &post](const fetch::HttpReply& reply) {
        --running;
        post.status = reply.status;
        // 207 says that the one event was not taken.
        if (!reply.error.empty()) {
          post.error = reply.error;
        } else if (reply.status != 201 && reply.status != 202) {
          post.error = std::to_string(reply.status) + ' ' + reply.body.substr(0, kShownAnswerBytes);
        }
      });
    }
  }
  run_until(0);
}

std::string_view Word(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPosted:
      return "posted";
    case Outcome::kSkipped:
      return "skipped";
    case Outcome::kFailed:
      return "failed";
  }
  return {};
}

std::string ForPeople(const std::deque<Canary>& canaries) {
  std::string out;
  for (const Canary& canary : canaries) {
    out += Column(Word(canary.outcome()), 9) + canary.stream;
    if (!canary.problem.empty()) out += ": " + canary.problem;
    for (const Post& post : canary.posts) {
      out += "  " + post.where + ' ' +
             (post.error.empty() ? std::to_string(post.status) : "FAILED: " + post.error);
    }
    out += '\n';
  }
  return out;
}

std::string ForPrograms(const std::deque<Canary>& canaries) {
  std::string out;
  for (const Canary& canary : canaries) {
    boost::json::object line = {{"stream", canary.stream}, {"outcome", Word(canary.outcome())}};
    if (!canary.schema_uri.empty()) line["schema"] = canary.schema_uri;
    if (!canary.problem.empty()) line["problem"] = canary.problem;
    boost::json::array posts;
    for (const Post& post : canary.posts) {
      boost::json::object one = {{"where", post.where}, {"url", post.url}, {"status", post.status}};
      if (!post.error.empty()) one["error"] = post.error;
      posts.push_back(std::move(one));
    }
    line["posts"] = std::move(posts);
    streams::AppendJson(out, line);
    out += '\n';
  }
  return out;
}

std::size_t Count(const std::deque<Canary>& canaries, Outcome outcome) {
  std::size_t count = 0;
  for (const Canary& canary : canaries) count += canary.outcome() == outcome ? 1 : 0;
  return count;
}

}  // namespace

const CommandSpec& StreamsCanarySpec() {
  static const CommandSpec spec = {
      "streams canary",
      "Post a canary event to each stream with canary_events_enabled, in every datacenter.",
      "An event is the first example of the newest schema, with meta.domain \"canary\". It goes to "
      "the URLs that\n"
      "canary.services has for the stream's destination_event_service. Streams without one are "
      "skipped.\n"
      "Exit code 0: all were answered 201 or 202, 1: not all.",
      {kConfigOption,
       kSetOption,
       {"--stream", "NAME", "only this stream", Repeat::kMany},
       {"--url", "URL", "post all of them to this URL of an events route instead", Repeat::kMany},
       {"--dry-run", "", "post nothing, print the events, one a line"},
       kStreamsJson}};
  return spec;
}

int StreamsCanary(const Arguments& arguments) {
  StreamsInput input;
  if (const auto failed = ReadStreams(arguments, input)) return *failed;
  const auto& urls = arguments.Values("--url");
  if (urls.empty() && input.config.canary.datacenters.empty() && !arguments.Has("--dry-run")) {
    return Misused(
        "streams canary needs to know where to post: set canary.datacenters and canary.services, "
        "or give --url");
  }
  Planner planner(input, urls, core::FormatIsoTime(std::chrono::system_clock::now()));
  if (const auto usable = planner.Check(); !usable) return Misused(usable.error().message);
  std::deque<Canary> canaries;
  if (arguments.Has("--stream")) {
    for (const auto& name : arguments.Values("--stream")) canaries.push_back(planner.ForName(name));
  } else {
    canaries = planner.ForAll();
  }
  if (arguments.Has("--dry-run")) {
    for (Canary& canary : canaries) {
      canary.posts.clear();
      if (!canary.event.empty()) Print(stdout, canary.event + '\n');
    }
    Print(stderr, ForPeople(canaries));
  } else {
    PostAll(canaries, input.config);
    Print(stdout, arguments.Has("--json") ? ForPrograms(canaries) : ForPeople(canaries));
  }
  const std::size_t failed = Count(canaries, Outcome::kFailed);
  Print(stderr, std::to_string(Count(canaries, Outcome::kPosted)) +
                    (arguments.Has("--dry-run") ? " made, " : " posted, ") +
                    std::to_string(Count(canaries, Outcome::kSkipped)) + " skipped, " +
                    std::to_string(failed) + " failed\n");
  return failed > 0 ? kBad : kGood;
}

}  // namespace sluice::cli
