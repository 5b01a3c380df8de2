#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "validate/format.h"
#include "validate/pattern.h"

namespace sluice::validate {
namespace {

TEST_CASE("Pattern: many threads search with the same one, and make their own") {
  const std::vector<std::string> sources = {"^[a-z]{2,4}$", "(foo|ba+r)$", "^(a*)b\\1$",
                                            "\\p{Lu}x"};
  const std::vector<std::string> texts = {"abc", "xbaaar", "aabaa", "Ax"};
  std::vector<std::unique_ptr<const Pattern>> shared;
  for (const std::string& source : sources) shared.push_back(*Pattern::Compile(source));
  std::atomic<int> matches = 0;
  std::vector<std::thread> threads;
  constexpr int kThreads = 4;
  constexpr int kRounds = 50;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        for (std::size_t i = 0; i < sources.size(); ++i) {
          matches += shared[i]->Search(texts[i]) == MatchResult::kMatch;
          matches += (*Pattern::Compile(sources[i]))->Search(texts[i]) == MatchResult::kMatch;
        }
        matches += MatchesFormat(Format::kUrl, FormatMode::kFast, "http://example.com/");
        matches += MatchesFormat(Format::kIdnHostname, FormatMode::kFull, "例え.テスト");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(matches == kThreads * kRounds * 10);
}

}  // namespace
}  // namespace sluice::validate
