#include <doctest/doctest.h>

#include "intake/address_set.h"
#include "intake/media_type.h"
#include "intake/query.h"

namespace sluice::intake {
namespace {

TEST_CASE("ReadContentType: the four types are read whatever the case and parameters") {
  for (const char* type : {"application/json", "Application/JSON", "text/plain;charset=UTF-8",
                           "text/plain; charset=\"utf-8\"", "application/reports+json",
                           " application/json ; charset=utf8; x=\"a;charset=latin1\""}) {
    CAPTURE(type);
    const auto kind = ReadContentType(type);
    REQUIRE(kind.has_value());
    CHECK(*kind == BodyKind::kJson);
  }
  const auto ndjson = ReadContentType("application/x-ndjson");
  REQUIRE(ndjson.has_value());
  CHECK(*ndjson == BodyKind::kNdjson);
}

TEST_CASE("ReadContentType: other types and charsets are refused by name") {
  for (const char* type : {"", "application/csp-report", "application/json2", "text/html",
                           "application/json; charset=iso-8859-1", "text/plain;charset=utf-16"}) {
    CAPTURE(type);
    const auto kind = ReadContentType(type);
    REQUIRE(!kind);
    CHECK(kind.error().code == core::ErrorCode::kUnsupportedMediaType);
  }
  CHECK(ReadContentType("text/html").error().message.find("'text/html'") != std::string::npos);
  CHECK(ReadContentType("text/html").error().message.find("application/x-ndjson") !=
        std::string::npos);
  CHECK(ReadContentType("text/plain;charset=utf-16").error().message.find("'utf-16'") !=
        std::string::npos);
}

TEST_CASE("ReadContentEncoding: known codings whatever the case, one at a time") {
  CHECK(*ReadContentEncoding("") == ContentCoding::kIdentity);
  CHECK(*ReadContentEncoding("Identity") == ContentCoding::kIdentity);
  CHECK(*ReadContentEncoding("GZIP") == ContentCoding::kGzip);
  CHECK(*ReadContentEncoding("deflate") == ContentCoding::kDeflate);
  CHECK(*ReadContentEncoding("Br") == ContentCoding::kBrotli);
  CHECK(*ReadContentEncoding("zstd") == ContentCoding::kZstd);
  CHECK(!ReadContentEncoding("gzip, br"));
  CHECK(!ReadContentEncoding("compress"));
}

TEST_CASE("ChooseAnswerCoding: the heavier one, gzip if alike, nothing that is refused") {
  CHECK(ChooseAnswerCoding("") == ContentCoding::kIdentity);
  CHECK(ChooseAnswerCoding("gzip, deflate, br") == ContentCoding::kGzip);
  CHECK(ChooseAnswerCoding("gzip;q=0.4, deflate;q=0.5") == ContentCoding::kDeflate);
  CHECK(ChooseAnswerCoding("gzip;q=0") == ContentCoding::kIdentity);
  CHECK(ChooseAnswerCoding("br, *;q=0.1") == ContentCoding::kGzip);
  CHECK(ChooseAnswerCoding("gzip;q=0, *") == ContentCoding::kDeflate);
  CHECK(ChooseAnswerCoding("identity") == ContentCoding::kIdentity);
}

TEST_CASE("IsHasty: any value but empty, false, 0 and no") {
  for (const char* query :
       {"hasty=true", "hasty=1", "a=b&hasty=x", "hasty=%31", "h%61sty=1",
        "hasty=true&hasty=", "hasty=false&hasty=false", "hasty[]=", "hasty[a]=0"}) {
    CAPTURE(query);
    CHECK(IsHasty(query));
  }
  for (const char* query : {"", "hasty", "hasty=", "hasty=false", "hasty=False", "hasty=0",
                            "hasty=no", "hastyx=1", "xhasty=1", "hasty[=1", "&&"}) {
    CAPTURE(query);
    CHECK(!IsHasty(query));
  }
}

TEST_CASE("Query: values are decoded, broken escapes stay") {
  CHECK(*FindParameter("stream=a%2Fb+c&x", "stream") == "a/b c");
  CHECK(*FindParameter("stream=/plain/1.0.0", "stream") == "/plain/1.0.0");
  CHECK(*FindParameter("stream=&stream=second", "stream") == "second");
  CHECK(!FindParameter("stream=", "stream"));
  CHECK(!FindParameter("", "stream"));
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  CHECK(AllParameters("a=1%2B+x&&b&a=%3D=") == Pairs{{"a", "1+ x"}, {"b", ""}, {"a", "=="}});
  CHECK(AllParameters("").empty());
  CHECK(DecodeQueryPart("%zz%4") == "%zz%4");
  CHECK(DecodeQueryPart("%41%") == "A%");
  CHECK(HasParameter("spec", "spec"));
  CHECK(HasParameter("a&spec=True", "spec"));
  CHECK(!HasParameter("specs", "spec"));
}

TEST_CASE("AddressSet: networks of both families") {
  const auto set = AddressSet::Parse({"10.0.0.0/9", "192.0.2.7", "2001:db8::/33"});
  REQUIRE(set.has_value());
  CHECK(set->Contains("10.127.255.255"));
  CHECK(!set->Contains("10.128.0.0"));
  CHECK(set->Contains("192.0.2.7"));
  CHECK(!set->Contains("192.0.2.8"));
  CHECK(set->Contains("::ffff:10.1.2.3"));
  CHECK(set->Contains("2001:db8:7fff::1"));
  CHECK(!set->Contains("2001:db8:8000::1"));
  CHECK(!set->Contains("nonsense"));
  const auto all = AddressSet::Parse({"0.0.0.0/0"});
  REQUIRE(all.has_value());
  CHECK(all->Contains("1.2.3.4"));
  CHECK(!all->Contains("::1"));
}

TEST_CASE("AddressSet: a broken entry is named") {
  for (const char* entry : {"10.0.0.0/33", "10.0.0/8", "x", "10.0.0.0/", "::1/129", "1.2.3.4/-1"}) {
    CAPTURE(entry);
    const auto set = AddressSet::Parse({entry});
    REQUIRE(!set);
    CHECK(set.error().message.find(entry) != std::string::npos);
  }
}

}  // namespace
}  // namespace sluice::intake
