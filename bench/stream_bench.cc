// Looking streams up at scale: 10,000 names and 500 regex entries with settings of the size that
// production has. Prints nanoseconds and MiB. With --check, exit 1 if a bound is not kept, with
// room for a machine that is busy.
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "streams/stream_registry.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kNames = 10000;
constexpr int kRegexes = 500;
constexpr int kUnseen = 2000;
constexpr int kRounds = 7;  // of names that were not seen before

std::string Settings(int i) {
  return R"({"schema_title":"analytics/instrument/number)" + std::to_string(i % 97) +
         R"(","destination_event_service":"eventgate-analytics-external","sample":{"unit":)"
         R"("session","rate":0.1},"producers":{"metrics_platform_client":{"provide_values":)"
         R"(["agent_app_install_id","mediawiki_database","page_namespace_id","performer_id"]}}})";
}

sluice::core::StreamOptions Options() {
  sluice::core::StreamOptions options;
  options.default_settings =
      R"({"topic_prefixes":["eqiad.","codfw."],"canary_events_enabled":true,"producers":)"
      R"({"eventgate":{"enrich_fields_from_http_headers":{"meta.request_id":"x-request-id",)"
      R"("http.request_headers.user-agent":false}}},"consumers":{"analytics_hadoop_ingestion":)"
      R"({"job_name":"event_default","enabled":true},"analytics_hive_ingestion":{"enabled":true}}})";
  std::string& text = options.inline_config;
  text = "{";
  for (int i = 0; i < kNames; ++i) {
    text += "\"product.area" + std::to_string(i % 37) + ".instrument_" + std::to_string(i) +
            ".v1\":" + Settings(i) + ",";
  }
  for (int i = 0; i < kRegexes; ++i) {
    text += R"("/^mediawiki\\.job)" + std::to_string(i) + R"(\\.(.+\\.)?[a-z]+$/":)" + Settings(i) +
            (i + 1 < kRegexes ? "," : "}");
  }
  return options;
}

double HeapMiB() {
  malloc_trim(0);
  return static_cast<double>(mallinfo2().uordblks) / (1 << 20);
}

// The least of some rounds: what others do on this machine only ever adds.
template <class Round>
double LeastNanoseconds(int rounds, int per_round, Round round) {
  double least = 1e18;
  for (int i = 0; i < rounds; ++i) {
    const auto begin = Clock::now();
    round(i);
    const std::chrono::duration<double, std::nano> took = Clock::now() - begin;
    least = std::min(least, took.count() / per_round);
  }
  return least;
}

struct Row {
  const char* what;
  const char* unit;
  double value;
  double bound;
};

}  // namespace

int main(int argc, char** argv) {
  const bool check = argc > 1 && std::strcmp(argv[1], "--check") == 0;
  const auto options = Options();
  const double before = HeapMiB();
  const auto begin = Clock::now();
  const auto read = sluice::streams::ReadStreamConfig(options);
  const std::chrono::duration<double, std::milli> reading = Clock::now() - begin;
  if (!read.has_value()) {
    std::fprintf(stderr, "%s\n", read.error().message.c_str());
    return 2;
  }
  const auto& snapshot = **read;
  const double heap = HeapMiB() - before;

  std::vector<std::string> names;
  for (std::size_t i = 0; i < snapshot.size(); ++i) {
    if (!snapshot.entry(i).regex) names.push_back(snapshot.entry(i).key);
  }
  std::size_t found = 0;
  // Rounds of a millisecond: enough of them that one is not disturbed.
  const double literal = LeastNanoseconds(200, kNames, [&](int) {
    for (const std::string& name : names) found += snapshot.Find(name) != nullptr ? 1 : 0;
  });
  const auto unseen_names = [](int round, const char* form) {
    std::vector<std::string> made;
    for (int i = 0; i < kUnseen; ++i) {
      char name[64];
      std::snprintf(name, sizeof name, form, i % kRegexes, round * kUnseen + i);
      made.emplace_back(name);
    }
    return made;
  };
  std::vector<std::vector<std::string>> matching;
  std::vector<std::vector<std::string>> strange;
  for (int round = 0; round < kRounds; ++round) {
    matching.push_back(unseen_names(round, "mediawiki.job%d.x%d.refresh"));
    strange.push_back(unseen_names(round, "mediawiki.none%d.x%d.refresh"));
  }
  const auto all_of = [&](const std::vector<std::string>& wanted) {
    for (const std::string& name : wanted) found += snapshot.Find(name) != nullptr ? 1 : 0;
  };
  const double unseen =
      LeastNanoseconds(kRounds, kUnseen, [&](int round) { all_of(matching[round]); });
  const double unknown =
      LeastNanoseconds(kRounds, kUnseen, [&](int round) { all_of(strange[round]); });
  const double seen = LeastNanoseconds(kRounds, kUnseen, [&](int) { all_of(matching.back()); });

  const Row rows[] = {
      {"literal", "ns", literal, 100},
      {"regex, name not seen before", "ns", unseen, 50000},
      {"no regex matches, not seen before", "ns", unknown, 50000},
      {"regex, name seen before", "ns", seen, 1000},
      {"heap of the snapshot", "MiB", heap, 60},
      {"reading it", "ms", reading.count(), 5000},
  };
  bool kept = true;
  std::printf("%d names, %d regexes (%zu found)\n", kNames, kRegexes, found);
  for (const Row& row : rows) {
    std::printf("%-36s %10.1f %-4s (bound %.0f)\n", row.what, row.value, row.unit, row.bound);
    const double room = std::strcmp(row.unit, "MiB") == 0 ? 1 : 5;
    kept = kept && row.value <= row.bound * room;
  }
  return check && !kept ? 1 : 0;
}
