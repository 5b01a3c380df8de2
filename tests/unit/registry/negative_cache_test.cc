#include "registry/negative_cache.h"

#include <doctest/doctest.h>

#include <string>

namespace sluice::registry {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const NegativeCache::TimePoint kNow{std::chrono::hours(1)};
const core::Error kError{core::ErrorCode::kSchemaNotFound, "gone"};

}  // namespace

TEST_CASE("NegativeCache: holds for the time given, a quarter more or less") {
  NegativeCache cache(100, 1);
  bool early = false;
  bool late = false;
  for (int i = 0; i < 100; ++i) {
    const std::string uri = "/" + std::to_string(i);
    cache.Put(uri, kError, kNow, milliseconds(1000));
    REQUIRE(cache.Find(uri, kNow + milliseconds(749)));
    CHECK(cache.Find(uri, kNow)->message == "gone");
    (cache.Find(uri, kNow + milliseconds(1000)) ? late : early) = true;
    CHECK_FALSE(cache.Find(uri, kNow + milliseconds(1251)));
  }
  CHECK(early);
  CHECK(late);
  CHECK(cache.size() == 0);
  CHECK_FALSE(cache.Find("/other", kNow));
}

TEST_CASE("NegativeCache: never grows above its bound") {
  NegativeCache cache(10, 1);
  for (int i = 0; i < 1000; ++i) {
    cache.Put("/" + std::to_string(i), kError, kNow, seconds(30));
    CHECK(cache.size() <= 10);
  }
  CHECK(cache.Find("/999", kNow));
}

TEST_CASE("NegativeCache: expired entries make room before others do") {
  NegativeCache cache(3, 1);
  cache.Put("/old1", kError, kNow, seconds(1));
  cache.Put("/old2", kError, kNow, seconds(1));
  cache.Put("/young", kError, kNow, seconds(60));
  cache.Put("/new", kError, kNow + seconds(5), seconds(60));
  CHECK(cache.size() == 2);
  CHECK(cache.Find("/young", kNow + seconds(5)));
}

TEST_CASE("LoadBudget: so many at once, then as many a minute; what is given back does not count") {
  LoadBudget budget(3);
  for (int i = 0; i < 3; ++i) CHECK(budget.Take(kNow));
  CHECK_FALSE(budget.Take(kNow));
  CHECK_FALSE(budget.Take(kNow + seconds(19)));
  CHECK(budget.Take(kNow + seconds(21)));
  CHECK_FALSE(budget.Take(kNow + seconds(21)));
  budget.GiveBack();
  CHECK(budget.Take(kNow + seconds(21)));
  CHECK(budget.Take(kNow + seconds(3600)));
  CHECK(budget.Take(kNow + seconds(3600)));
  CHECK(budget.Take(kNow + seconds(3600)));
  CHECK_FALSE(budget.Take(kNow + seconds(3600)));
}

TEST_CASE("LoadBudget: zero is no bound") {
  LoadBudget budget(0);
  for (int i = 0; i < 10000; ++i) REQUIRE(budget.Take(kNow));
}

}  // namespace sluice::registry
