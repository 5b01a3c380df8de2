#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "unit/validate/engine_check.h"

namespace sluice {
namespace {

TEST_CASE("Engine: schemas are compiled and shared by several threads at once") {
  const boost::json::value schema = test::ParseJson(
      R"({"type":"object","properties":{"a":{"type":"string","pattern":"^(a|b)+$","maxLength":9},)"
      R"("b":{"uniqueItems":true,"maxItems":99},"c":{"$ref":"#"}}})");
  std::string problem;
  const auto shared = test::Compile("", schema, {}, nullptr, problem);
  REQUIRE_MESSAGE(shared != nullptr, problem);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      test::EngineRunner runner;
      std::string trouble;
      for (int i = 0; i < 20; ++i) {
        const auto own = test::Compile("", schema, {}, nullptr, trouble);
        for (const auto& compiled : {shared, own}) {
          if (!compiled) {
            ++wrong;
            continue;
          }
          const auto valid = runner.Run(*compiled, R"({"a":"abba","b":[1,2],"c":{"a":"a"}})");
          const auto invalid = runner.Run(*compiled, R"({"a":"abc","c":{"b":[1,1]}})");
          wrong += valid.status != test::Outcome::Status::kValid;
          wrong += invalid.errors_text !=
                   "'.a' should match pattern \"^(a|b)+$\", "
                   "'.c.b' should NOT have duplicate items (items ## 0 and 1 are identical)";
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

}  // namespace
}  // namespace sluice
