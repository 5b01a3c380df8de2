#include "core/suggest.h"

#include <doctest/doctest.h>

#include <array>

namespace sluice::core {
namespace {

constexpr std::array<std::string_view, 5> kWords = {"schema_base_uris", "schema_uri_field",
                                                    "limits.max_depth", "port", "admin.port"};

TEST_CASE("EditDistance: counts changes, gaps and swaps") {
  CHECK(EditDistance("", "abc") == 3);
  CHECK(EditDistance("same", "same") == 0);
  CHECK(EditDistance("uris", "urls") == 1);
  CHECK(EditDistance("form", "from") == 1);
  CHECK(EditDistance("kitten", "sitting") == 3);
}

TEST_CASE("Nearest: finds a slip of the pen, whole or in the last part") {
  CHECK(Nearest("schema_base_urls", kWords) == "schema_base_uris");
  CHECK(Nearest("limits.max_dept", kWords) == "limits.max_depth");
  CHECK(Nearest("max_depth", kWords) == "limits.max_depth");
  CHECK(Nearest("prot", kWords) == "port");
}

TEST_CASE("Nearest: says nothing where nothing is near") {
  CHECK(Nearest("colour", kWords).empty());
  CHECK(Nearest("", kWords).empty());
}

}  // namespace
}  // namespace sluice::core
