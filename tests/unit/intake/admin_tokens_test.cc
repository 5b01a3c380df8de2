#include "intake/admin_tokens.h"
#include "support/temp_folder.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace sluice::intake {
namespace {

constexpr std::string_view kGood = R"(
- name: instruments
  token: "0123456789abcdef-instruments"
  streams: ["product.*", "test.?"]
- name: other
  # of the text "another token, 0123456789"
  token_sha256: 7ff205637aa11b9af6694fc6eb6c3480ac14fe7d9bfbe8d77c01ed5449f25df7
  streams: ["*"]
)";

std::string ProblemsOf(std::string_view text) {
  const auto read = ReadAdminTokens(text);
  REQUIRE(!read.has_value());
  return read.error().message;
}

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

struct TokenFile {
  void Write(std::string_view text) { std::filesystem::rename(folder.Write("fresh", text), path); }
  test::TempFolder folder;
  std::string path = folder.path() + "/tokens";
};

TEST_CASE("AnyPatternTakes: the whole name, * over dots, ? one character") {
  CHECK(AnyPatternTakes({"a.*"}, "a.b.c"));
  CHECK(AnyPatternTakes({"a.*"}, "a."));
  CHECK(!AnyPatternTakes({"a.*"}, "xa.b"));
  CHECK(!AnyPatternTakes({"a"}, "ab"));
  CHECK(!AnyPatternTakes({"ab"}, "a"));
  CHECK(AnyPatternTakes({"x", "a?c"}, "a.c"));
  CHECK(!AnyPatternTakes({"a?c"}, "ac"));
  CHECK(AnyPatternTakes({"*.b.*.d"}, "a.b.b.c.d"));
  CHECK(!AnyPatternTakes({"*.b.*.d"}, "a.b.d"));
  CHECK(AnyPatternTakes({"*"}, ""));
  CHECK(!AnyPatternTakes({}, "a"));
  // In time that does not explode.
  CHECK(!AnyPatternTakes({"*a*a*a*a*a*a*a*a*a*a*b"}, std::string(2000, 'a')));
}

TEST_CASE("ReadAdminTokens: all problems at once, none with a token in it") {
  const auto good = ReadAdminTokens(kGood);
  REQUIRE(good.has_value());
  CHECK(good->size() == 2);
  CHECK((*good)[0].name == "instruments");
  CHECK((*good)[0].patterns == std::vector<std::string>{"product.*", "test.?"});
  const std::string problems = ProblemsOf(R"(
- {name: a, token: short-secret, streams: [x]}
- {name: a, token: 0123456789abcdef, streams: []}
- {token: 0123456789abcdef, token_sha256: 00, tokn: 1}
- 7
)");
  CHECK(Has(problems, "entry 1: token has to be a text of 16 characters or more"));
  CHECK(Has(problems, "entry 2: streams has to be a list"));
  CHECK(Has(problems, "entry 2: its name is there twice"));
  CHECK(Has(problems, "entry 3: token_sha256 has to be 64 hex digits"));
  CHECK(Has(problems, "entry 3: unknown key 'tokn'"));
  CHECK(Has(problems, "entry 3: needs a name"));
  CHECK(Has(problems, "entry 3: needs streams"));
  CHECK(Has(problems, "entry 4: has to be a map"));
  CHECK(!Has(problems, "short-secret"));
  CHECK(!Has(problems, "0123456789abcdef"));
  CHECK(Has(ProblemsOf("- {name: a, streams: [x]}"), "needs one of token and token_sha256"));
  CHECK(Has(ProblemsOf("- {name: a, token: 0123456789abcdef, streams: [x]}\n"
                       "- {name: b, token: 0123456789abcdef, streams: [x]}"),
            "its token is there twice"));
  CHECK(Has(ProblemsOf("[]"), "list"));
  CHECK(Has(ProblemsOf("a: b"), "list"));
}

TEST_CASE("AdminTokens: finds the bearer of a token, plain or hashed, and nobody else") {
  TokenFile file;
  file.Write(kGood);
  AdminTokens tokens(file.path);
  REQUIRE(tokens.Load().has_value());
  const auto found = tokens.Find("Bearer 0123456789abcdef-instruments");
  REQUIRE(found);
  CHECK(found->name == "instruments");
  CHECK(tokens.Find("bearer   0123456789abcdef-instruments "));
  const auto hashed = tokens.Find("Bearer another token, 0123456789");
  REQUIRE(hashed);
  CHECK(hashed->name == "other");
  CHECK(!tokens.Find(""));
  CHECK(!tokens.Find("Bearer"));
  CHECK(!tokens.Find("Bearer "));
  CHECK(!tokens.Find("Basic 0123456789abcdef-instruments"));
  CHECK(!tokens.Find("Bearer 0123456789abcdef-instrument"));
  CHECK(!tokens.Find("Bearer 0123456789abcdef-instrumentss"));
}

TEST_CASE("AdminTokens: a file that changed is read again, a broken one is not taken") {
  TokenFile file;
  file.Write(kGood);
  AdminTokens tokens(file.path);
  REQUIRE(tokens.Load().has_value());
  file.Write("- {name: new, token: fedcba9876543210, streams: [x]}");
  CHECK(tokens.Find("Bearer fedcba9876543210"));
  CHECK(!tokens.Find("Bearer 0123456789abcdef-instruments"));
  file.Write("- broken");
  CHECK(tokens.Find("Bearer fedcba9876543210"));
  std::filesystem::remove(file.path);
  CHECK(tokens.Find("Bearer fedcba9876543210"));
  file.Write(kGood);
  CHECK(tokens.Find("Bearer 0123456789abcdef-instruments"));
}

TEST_CASE("AdminTokens: systemd's folder of credentials") {
  TokenFile file;
  file.Write(kGood);
  ::unsetenv("CREDENTIALS_DIRECTORY");
  AdminTokens without("${CREDENTIALS_DIRECTORY}/tokens");
  const auto failed = without.Load();
  REQUIRE(!failed.has_value());
  CHECK(Has(failed.error().message, "LoadCredential"));
  ::setenv("CREDENTIALS_DIRECTORY", file.folder.path().c_str(), 1);
  AdminTokens with("${CREDENTIALS_DIRECTORY}/tokens");
  CHECK(with.Load().has_value());
  AdminTokens missing("${CREDENTIALS_DIRECTORY}/none");
  const auto no_file = missing.Load();
  REQUIRE(!no_file.has_value());
  CHECK(Has(no_file.error().message, "declared_streams.tokens_file"));
}

}  // namespace
}  // namespace sluice::intake
