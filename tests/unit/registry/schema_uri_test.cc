#include "registry/schema_uri.h"

#include <doctest/doctest.h>

namespace sluice::registry {
namespace {

std::string Normal(std::string_view uri, AbsoluteUris absolute = AbsoluteUris::kRefused) {
  const auto normal = NormalizeSchemaUri(uri, absolute);
  REQUIRE_MESSAGE(normal.has_value(), (normal ? "" : normal.error().message));
  return *normal;
}

std::string Refused(std::string_view uri, AbsoluteUris absolute = AbsoluteUris::kRefused) {
  CAPTURE(uri);
  const auto normal = NormalizeSchemaUri(uri, absolute);
  REQUIRE(normal.has_error());
  CHECK(normal.error().code == core::ErrorCode::kSchemaUriNotAllowed);
  return normal.error().message;
}

}  // namespace

TEST_CASE("NormalizeSchemaUri: one form for all that mean the same") {
  CHECK(Normal("/test/event/1.0.0") == "/test/event/1.0.0");
  CHECK(Normal("/test/event/1.0.0#") == "/test/event/1.0.0");
  CHECK(Normal("/test//event/./1.0.0/") == "/test/event/1.0.0");
  CHECK(Normal("/test/event/latest.yaml") == "/test/event/latest.yaml");
  CHECK(Normal("/test/..event/1.0.0..") == "/test/..event/1.0.0..");
}

TEST_CASE("NormalizeSchemaUri: refuses whatever could lead elsewhere, and says why") {
  const auto why = [](std::string_view uri) {
    const std::string message = Refused(uri);
    const std::string prefix = LoadFailure(uri, "") + ": ";
    REQUIRE(message.starts_with(prefix));
    return message.substr(prefix.size());
  };
  CHECK(why("/../../etc/passwd") == "'..' is not allowed");
  CHECK(why("/a/..") == "'..' is not allowed");
  CHECK(why("/a/%2e%2e/b") == "percent-encoding is not allowed");
  CHECK(why("/a/%2E%2E%2fb") == "percent-encoding is not allowed");
  CHECK(why("/a%00") == "percent-encoding is not allowed");
  CHECK(why("/a\\..\\b") == "backslashes are not allowed");
  CHECK(why(std::string_view("/a\0b", 4)) == "control characters are not allowed");
  CHECK(why("/a\nb") == "control characters are not allowed");
  CHECK(why("//host/a") == "a schema URI must not name another host");
  CHECK(why("/a?x=1") == "a query is not allowed");
  CHECK(why("/a/1.0.0#/definitions/x") == "a fragment is not allowed");
  CHECK(why("/a/1.0.0##") == "a fragment is not allowed");
  CHECK(why("test/event/1.0.0") == "a schema URI has to begin with '/'");
  CHECK(why("") == "a schema URI has to begin with '/'");
  CHECK(why("#") == "a schema URI has to begin with '/'");
  CHECK(why("/" + std::string(1000, 'a')) == "longer than 1000 bytes");
}

TEST_CASE("NormalizeSchemaUri: absolute ones have the original's text unless allowed") {
  CHECK(Refused("http://127.0.0.1:1/x") ==
        "Absolute schema URIs are not allowed but event schema_uri is http://127.0.0.1:1/x");
  CHECK(Refused("file:///etc/passwd") ==
        "Absolute schema URIs are not allowed but event schema_uri is file:///etc/passwd");
  CHECK(Refused("javascript:x").starts_with("Absolute schema URIs are not allowed"));

  constexpr auto kAllowed = AbsoluteUris::kAllowed;
  CHECK(Normal("http://host:80/a//b#", kAllowed) == "http://host:80/a/b");
  CHECK(Normal("https://host", kAllowed) == "https://host/");
  CHECK(Normal("/a", kAllowed) == "/a");
  CHECK(Refused("file:///etc/passwd", kAllowed).find("only http and https") != std::string::npos);
  CHECK(Refused("http:///x", kAllowed).find("host") != std::string::npos);
  CHECK(Refused("http://user@host/x", kAllowed).find("host") != std::string::npos);
  CHECK(Refused("http://host/../x", kAllowed).find("'..'") != std::string::npos);
}

TEST_CASE("LoadFailure: shows no control characters and no endless URI") {
  CHECK(LoadFailure("/a/1.0.0", "gone") == "Failed loading schema at /a/1.0.0: gone");
  CHECK(LoadFailure("/a\r\nb", "x") == "Failed loading schema at /a??b: x");
  CHECK(LoadFailure(std::string(100000, 'a'), "x").size() < 1100);
}

TEST_CASE("ParseBaseUri: folders, file:// and http(s)://, without their trailing slash") {
  const auto parse = [](std::string_view uri) { return ParseBaseUri(uri).value(); };
  CHECK(parse("/srv/schemas/").prefix == "/srv/schemas");
  CHECK_FALSE(parse("/srv/schemas/").remote);
  CHECK(parse("file:///srv/schemas/").prefix == "/srv/schemas");
  CHECK(parse("schemas").prefix == "schemas");
  CHECK(parse("./").prefix == ".");
  CHECK(parse("/").prefix == "");
  CHECK(parse("https://host/a//").prefix == "https://host/a");
  CHECK(parse("https://host/a").remote);
  CHECK(ParseBaseUri("").has_error());
  CHECK(ParseBaseUri("ftp://host/").has_error());
}

TEST_CASE("WithExtension: only where the last segment has none but numbers") {
  CHECK(WithExtension("/a/1.0.0", ".yaml") == "/a/1.0.0.yaml");
  CHECK(WithExtension("/a/1.0.0", "yaml") == "/a/1.0.0.yaml");
  CHECK(WithExtension("/a/latest", ".yaml") == "/a/latest.yaml");
  CHECK(WithExtension("/a.b/latest", ".yaml") == "/a.b/latest.yaml");
  CHECK(WithExtension("/a/1.0.0.yaml", ".yaml") == "/a/1.0.0.yaml");
  CHECK(WithExtension("/a/1.0.0.json", ".yaml") == "/a/1.0.0.json");
  CHECK(WithExtension("/a/1.0.0", "") == "/a/1.0.0");
}

TEST_CASE("LinkTarget: the name of a file beside, and nothing else") {
  CHECK(LinkTarget("1.0.0.yaml") == "1.0.0.yaml");
  CHECK(LinkTarget("1.0.0.yaml\n") == "1.0.0.yaml");
  CHECK(LinkTarget("1.0.0.yaml\r\n") == "1.0.0.yaml");
  for (const char* text : {"", "\n", ".", "..", "../1.0.0.yaml", "a/b", "/etc/passwd", "a: 1",
                           "a\nb", "type: object\n", "{}", "a b"}) {
    CAPTURE(text);
    CHECK(LinkTarget(text).empty());
  }
  CHECK(LinkTarget(std::string(256, 'a')).empty());
}

TEST_CASE("SiblingOf: replaces the last segment") {
  CHECK(SiblingOf("/a/latest", "1.0.0.yaml") == "/a/1.0.0.yaml");
  CHECK(SiblingOf("http://h/a/latest", "1.0.0") == "http://h/a/1.0.0");
}

}  // namespace sluice::registry
