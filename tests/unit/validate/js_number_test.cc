#include "validate/js_number.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

namespace sluice::validate {
namespace {

std::string Print(double value) {
  std::string out = "=";
  AppendJsNumber(out, value);
  return out;
}

TEST_CASE("AppendJsNumber: whole numbers below 10^21 have no exponent") {
  CHECK(Print(0) == "=0");
  CHECK(Print(-0.0) == "=0");
  CHECK(Print(1) == "=1");
  CHECK(Print(-9007199254740991) == "=-9007199254740991");
  CHECK(Print(1e17) == "=100000000000000000");
  CHECK(Print(18446744073709551615.0) == "=18446744073709552000");
  CHECK(Print(999999999999999900000.0) == "=999999999999999900000");
  CHECK(Print(123456789012345680000.0) == "=123456789012345680000");
}

TEST_CASE("AppendJsNumber: from 10^21 on, and below 10^-6, there is an exponent") {
  CHECK(Print(1e21) == "=1e+21");
  CHECK(Print(-1.5e300) == "=-1.5e+300");
  CHECK(Print(1e-7) == "=1e-7");
  CHECK(Print(1.25e-7) == "=1.25e-7");
  CHECK(Print(5e-324) == "=5e-324");
  CHECK(Print(std::numeric_limits<double>::max()) == "=1.7976931348623157e+308");
}

TEST_CASE("AppendJsNumber: fractions have the fewest digits that read back") {
  CHECK(Print(0.1) == "=0.1");
  CHECK(Print(0.000001) == "=0.000001");
  CHECK(Print(0.00000123) == "=0.00000123");
  CHECK(Print(1.0 / 3) == "=0.3333333333333333");
  CHECK(Print(-123.456) == "=-123.456");
  CHECK(Print(0.1 + 0.2) == "=0.30000000000000004");
}

TEST_CASE("AppendJsNumber: what is no number has a name") {
  CHECK(Print(std::numeric_limits<double>::infinity()) == "=Infinity");
  CHECK(Print(-std::numeric_limits<double>::infinity()) == "=-Infinity");
  CHECK(Print(std::nan("")) == "=NaN");
}

}  // namespace
}  // namespace sluice::validate
