#include "core/iso_time.h"

#include <doctest/doctest.h>

namespace sluice::core {
namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

TEST_CASE("FormatIsoTime: as Date.toISOString") {
  CHECK(FormatIsoTime(system_clock::time_point(milliseconds(0))) == "1970-01-01T00:00:00.000Z");
  CHECK(FormatIsoTime(system_clock::time_point(milliseconds(1593561600007))) ==
        "2020-07-01T00:00:00.007Z");
  CHECK(FormatIsoTime(system_clock::time_point(milliseconds(951827696789))) ==
        "2000-02-29T12:34:56.789Z");
}

TEST_CASE("ParseIsoTimeMs: what schemas admit and names a moment") {
  CHECK(ParseIsoTimeMs("2020-07-01T00:00:00Z") == 1593561600000);
  CHECK(ParseIsoTimeMs("2020-07-01T00:00:00.007Z") == 1593561600007);
  CHECK(ParseIsoTimeMs("2020-07-01 00:00:00.0079999z") == 1593561600007);
  CHECK(ParseIsoTimeMs("2020-07-01T02:00:00+02:00") == 1593561600000);
  CHECK(ParseIsoTimeMs("2020-06-30t22:30:00-0130") == 1593561600000);
  CHECK(ParseIsoTimeMs("2020-07-01T01:00:00+01") == 1593561600000);
  CHECK(ParseIsoTimeMs("1969-12-31T23:59:59.999Z") == -1);
  for (const char* text : {"", "2020-07-01", "2020-07-01T00:00:00", "2020-19-39T29:00:00Z",
                           "2020-02-30T00:00:00Z", "2020-07-01T00:00Z", "x2020-07-01T00:00:00Z",
                           "2020-07-01T00:00:00Zx", "2020-07-01T00:00:00+1"}) {
    CAPTURE(text);
    CHECK_FALSE(ParseIsoTimeMs(text).has_value());
  }
}

TEST_CASE("ParseIsoTimeMs: reads what FormatIsoTime writes") {
  for (std::int64_t ms = 0; ms < 4102444800000; ms += 86399999 * 7) {
    CHECK(ParseIsoTimeMs(FormatIsoTime(system_clock::time_point(milliseconds(ms)))) == ms);
  }
}

}  // namespace
}  // namespace sluice::core
