#include "intake/event_mask.h"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

namespace sluice::intake {
namespace {

core::RefusedOptions Options(std::uint64_t max_event_bytes = 4096) {
  core::RefusedOptions options;
  options.mask = {"http.client_ip", "user.email", "secret"};
  options.max_event_bytes = max_event_bytes;
  return options;
}

TEST_CASE("EventMask: values of masked fields are not shown, all else is") {
  EventMask mask(Options(), 100);
  const ShownText shown = mask.Show(
      R"({"a":1.50, "http": {"client_ip": "192.0.2.7", "method":"GET"}, "user":{"email":7,"id":2}})");
  CHECK(shown.whole);
  CHECK(shown.text ==
        R"({"a":1.50,"http":{"client_ip":"***","method":"GET"},"user":{"email":"***","id":2}})");
  CHECK(shown.bytes == 89);
}

TEST_CASE("EventMask: a masked field cannot hide behind JSON's ways of writing") {
  EventMask mask(Options(), 100);
  for (const char* json : {
           R"({"secret":"M4RK"})",
           R"({"secret":"other","secret":"M4RK"})",         // twice: either could be read
           R"({"secret":"M4RK","secret":"other"})",         //
           R"({"s\u0065cret":"M4RK"})",                     // escaped key
           R"({"secret":{"deep":["M4RK",{"x":"M4RK"}]}})",  // a container
           R"([{"secret":["M4RK"]}])",                      // below an array
           R"({"http":[[{"client_ip":"M4RK"}]]})",          // arrays on the way
           R"({"http.client_ip":"M4RK"})",                  // dots in a key
           R"({"http":{"client_ip":"M4RK"},"http":{"client_ip":"M4RK"}})",
           R"({"http":{"client_ip":{"M4RK":{"client_ip":"M4RK"}}}})",
           "{\"secret\":\"M4RK\xFF\"}",               // ill-formed UTF-8
           "\xEF\xBB\xBF{ \"secret\" :\n\"M4RK\" }",  // byte order mark, blanks
           R"({"secret":-1234567.5e3,"b":[]})",
       }) {
    CAPTURE(json);
    const ShownText shown = mask.Show(json);
    CHECK(shown.whole);
    CHECK(shown.text.find("M4RK") == std::string::npos);
    CHECK(shown.text.find("1234567") == std::string::npos);
    CHECK(shown.text.find("***") != std::string::npos);
  }
}

TEST_CASE("EventMask: wherever the text is cut, nothing masked is in it") {
  const std::string json =
      R"({"a":"é","secret":"M4RK-M4RK","http":[{"x":[1,{"y":2}]},{"client_ip":["M4RK"]}]})";
  for (std::uint64_t bytes = 0; bytes <= json.size(); ++bytes) {
    EventMask mask(Options(bytes), 100);
    const ShownText shown = mask.Show(json);
    CAPTURE(bytes);
    CHECK(shown.text.size() <= bytes);
    CHECK(shown.text.find("M4R") == std::string::npos);
    CHECK((shown.text.empty() || (static_cast<unsigned char>(shown.text.back()) & 0x80) == 0 ||
           shown.text.ends_with("é")));
  }
}

TEST_CASE("EventMask: what is no JSON, or too large to be read, shows its size alone") {
  EventMask mask(Options(), 100);
  const std::string good = R"({"secret":"M4RK"})";
  for (std::size_t size = 1; size < good.size(); ++size) {
    const ShownText shown = mask.Show(good.substr(0, size));
    CHECK(shown.text.empty());
    CHECK(!shown.whole);
    CHECK(shown.bytes == size);
  }
  const std::string large = "[\"" + std::string(EventMask::kMaxReadBytes, 'x') + "\"]";
  CHECK(mask.Show(large).text.empty());
  CHECK(mask.Show(large).bytes == large.size());
}

// Any nesting: the mask's own view of paths, held against a walk that knows where it put the marks.
TEST_CASE("EventMask: random events show no mark that lies under a masked path") {
  std::mt19937 random(7);
  const auto below = [&](unsigned n) {
    return std::uniform_int_distribution<unsigned>(0, n - 1)(random);
  };
  const std::vector<std::string> keys = {"http", "client_ip", "user", "email", "secret", "x"};
  for (int round = 0; round < 2000; ++round) {
    // Appends a value whose strings are marks if `path` lies in a masked field.
    const auto append = [&](auto& self, std::string& out, const std::string& path, bool masked,
                            int depth) -> void {
      const unsigned kind = depth > 4 ? 2 : below(4);
      if (kind == 0) {
        out += '{';
        const unsigned members = below(4);
        for (unsigned i = 0; i < members; ++i) {
          const std::string& key = keys[below(static_cast<unsigned>(keys.size()))];
          const std::string inner = path.empty() ? key : path + '.' + key;
          const bool hides =
              inner == "http.client_ip" || inner == "user.email" || inner == "secret";
          out += (i > 0 ? ",\"" : "\"") + key + "\":";
          self(self, out, inner, masked || hides, depth + 1);
        }
        out += '}';
      } else if (kind == 1) {
        out += '[';
        const unsigned elements = below(3);
        for (unsigned i = 0; i < elements; ++i) {
          if (i > 0) out += ',';
          self(self, out, path, masked, depth + 1);
        }
        out += ']';
      } else {
        out += masked ? "\"M4RK\"" : "\"shown\"";
      }
    };
    std::string json;
    append(append, json, "", false, 0);
    EventMask mask(Options(100000), 100);
    const ShownText shown = mask.Show(json);
    CAPTURE(json);
    REQUIRE(shown.whole);
    REQUIRE(shown.text.find("M4RK") == std::string::npos);
  }
}

TEST_CASE("EventMask: messages lose what the event's masked fields hold") {
  EventMask mask(Options(), 100);
  static_cast<void>(mask.Show(R"({"secret":"M\u0034RK-1","user":{"email":"a@b.example"}})"));
  CHECK(mask.Redacted("got M4RK-1, or M\\u0034RK-1 of a@b.example, twice M4RK-1") ==
        "got ***, or *** of ***, twice ***");
  static_cast<void>(mask.Show(R"({"secret":{"M4RK":1}})"));
  CHECK(mask.Redacted("'.secret.M4RK' should be string").find("M4RK") == std::string::npos);
  static_cast<void>(mask.Show(R"({"a":1})"));
  CHECK(mask.Redacted("'.a' should be string") == "'.a' should be string");
}

}  // namespace
}  // namespace sluice::intake
