#include "validate/format.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace sluice::validate {
namespace {

struct Case {
  Format format;
  std::vector<std::string> good;
  std::vector<std::string> bad;
};

void CheckAll(FormatMode mode, const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    CAPTURE(ToString(c.format));
    for (const std::string& text : c.good) {
      CAPTURE(text);
      CHECK(MatchesFormat(c.format, mode, text));
    }
    for (const std::string& text : c.bad) {
      CAPTURE(text);
      CHECK_FALSE(MatchesFormat(c.format, mode, text));
    }
  }
}

TEST_CASE("Format: names are those of ajv 6 and four of draft-07") {
  int count = 0;
  for (const char* name : {"date",
                           "time",
                           "date-time",
                           "uri",
                           "uri-reference",
                           "uri-template",
                           "url",
                           "email",
                           "hostname",
                           "ipv4",
                           "ipv6",
                           "regex",
                           "uuid",
                           "json-pointer",
                           "json-pointer-uri-fragment",
                           "relative-json-pointer",
                           "idn-email",
                           "idn-hostname",
                           "iri",
                           "iri-reference"}) {
    const auto format = FormatFromName(name);
    REQUIRE(format);
    CHECK(ToString(*format) == name);
    CHECK(static_cast<int>(*format) == count++);
  }
  for (const char* name : {"", "Date", "duration", "date-time ", "color"})
    CHECK_FALSE(FormatFromName(name));
}

TEST_CASE("Format: fast dates and times check digits, hardly ranges") {
  CheckAll(
      FormatMode::kFast,
      {{Format::kDate,
        {"2020-12-31", "0000-19-39"},
        {"2020-20-01", "2020-01-40", "2020-1-01", "2020-01-01 ", ""}},
       {Format::kTime,
        {"23:59:60", "29:59:59", "12:00:00.1", "12:00:00z", "12:00:00+01", "12:00:00-0100",
         "12:00:00.5+99:99"},
        {"30:00:00", "12:60:00", "22:59:60", "12:00:00.", "12:00:00+1", "12:00:00+01:0",
         "12:00:00 Z"}},
       {Format::kDateTime,
        {"2020-19-39T29:00:00Z", "2020-01-01 00:00:00Z", "2020-01-01t00:00:00.123456789z",
         "2020-01-01\u00a000:00:00+01", "2020-01-01\u300000:00:00-01:00", "2020-01-01\n00:00:00Z"},
        {"2020-01-01T00:00:00", "2020-01-01T00:00:00.Z", "2020-01-01x00:00:00Z",
         "2020-01-01T00:00:00Z\n", "2020-01-01T00:00:00Zz", "2020-01-01",
         "2020-01-01\u00e900:00:00Z", "2020-01-01T00:00:60Z"}}});
}

TEST_CASE("Format: fast URIs are about white space, backslashes and the scheme") {
  CheckAll(FormatMode::kFast,
           {{Format::kUri,
             {"http://a", "x:", "a+b.c-d:\\", "urn:é"},
             {"", "//a", "1a:", ":a", "a:b c", "a:\u00a0", "a:\u3000", "a:\ufeff", "a_b:c"}},
            {Format::kUriReference,
             {"", "a", "/a\\b", "a:/\\b", "#", "a##b", "\u200b"},
             {"\\a", "#\\", "a b", "#a\u2028", "a#b\\"}},
            {Format::kUriTemplate, {"", "{a}", "%41", "{+a,b*}x"}, {"{a*:1}"}},
            {Format::kUrl,
             {"http://example.com/", "HTTPS://u:p@a-b.cd:8080/x", "ftp://223.255.255.254",
              "http://é.êë", "http://172.32.0.1"},
             {"http://a", "http://10.1.1.1", "http://172.16.0.1", "http://192.168.0.1",
              "http://169.254.1.1", "http://127.0.0.1", "http://a.b", "http://a_b.cd", "x://a.bc",
              "http://a.bc:1"}}});
}

TEST_CASE("Format: fast hosts and addresses") {
  CheckAll(
      FormatMode::kFast,
      {{Format::kHostname,
        {"a", "A.b-c.", std::string(63, 'x')},
        {"", ".", "-a", "a-", "a..b", "a_b", std::string(64, 'x'), "a.b..", "é"}},
       {Format::kEmail,
        {"a@b", ".a..b.@c.d", "!#$%&'*+/=?^_`{|}~-@x"},
        {"a", "@b", "a@", "a@b.", "a@-b", "a b@c", "a@b@c", "\"a\"@b"}},
       {Format::kIpv4,
        {"1.2.3.4", "001.02.255.249"},
        {"1.2.3", "1.2.3.256", "1.2.3.4.5", "0001.2.3.4", "a.b.c.d"}},
       {Format::kIpv6,
        {"::", "1::", "::1", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7::", "::1.2.3.4",
         "1:2:3:4:5:6:1.2.3.4", " ::1 ", "::%eth0", "::1%a b\n "},
        {"", ":", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2::3", ":::", "::12345", "::1.2.3.04",
         "::%", "::%\n", "1:2:3:4:5:6:7:1.2.3.4", "::1%a\nb"}},
       {Format::kUuid,
        {"123e4567-e89b-12d3-a456-426614174000", "URN:UUID:123E4567-E89B-12D3-A456-426614174000"},
        {"", "123e4567-e89b-12d3-a456-42661417400", "123e4567_e89b-12d3-a456-426614174000",
         "urn-uuid:123e4567-e89b-12d3-a456-426614174000",
         "g23e4567-e89b-12d3-a456-426614174000"}}});
}

TEST_CASE("Format: fast pointers, templates and expressions") {
  CheckAll(
      FormatMode::kFast,
      {{Format::kJsonPointer, {"", "/", "/a~0~1/é"}, {"a", "/~", "/~2", "/a~"}},
       {Format::kRelativeJsonPointer,
        {"0", "10/a", "1#"},
        {"", "01", "-1", "/a", "1##", "1#/a", "1a", "0/~2"}},
       {Format::kJsonPointerUriFragment,
        {"#", "#/a/%20~1@:"},
        {"", "/a", "#a", "#/%2", "#/~", "#/é", "#/a b"}},
       {Format::kUriTemplate,
        {"a{b}", "{%41}", "{@a}", "é"},
        {"{", "}", "{}", "{a.b}", "{a,}", "{a:0}", "{a:12345}", "'", " ", "%4", "{a*b}", "{+}"}},
       {Format::kRegex,
        {"", "a{", "\\a", "\\Z", "\\\\Z", "(?<a>b)\\k<a>"},
        {"[", "a\\Z", "(?<a", "*", "[🐲-🐵]"}}});
}

TEST_CASE("Format: fast mode accepts all texts for what ajv 6 does not know") {
  for (const Format format :
       {Format::kIdnEmail, Format::kIdnHostname, Format::kIri, Format::kIriReference}) {
    CHECK(MatchesFormat(format, FormatMode::kFast, " \\ "));
    CHECK_FALSE(MatchesFormat(format, FormatMode::kFull, " \\ "));
  }
}

TEST_CASE("Format: full dates and times are RFC 3339's") {
  CheckAll(FormatMode::kFull,
           {{Format::kDate,
             {"2020-02-29", "2000-02-29", "1999-12-31"},
             {"2019-02-29", "1900-02-29", "2020-13-01", "2020-00-01", "2020-04-31", "2020-01-00"}},
            {Format::kTime,
             {"23:59:60Z", "01:29:60+01:30", "15:59:60-08:00", "00:00:00.5z"},
             {"24:00:00Z", "23:59:60+01:00", "22:59:60Z", "12:00:00", "12:00:00+0100",
              "12:00:00+24:00", "12:00:00+01"}},
            {Format::kDateTime,
             {"2020-12-31T23:59:60Z", "2020-01-01t00:00:00z"},
             {"2020-12-31 23:59:59Z", "2020-02-30T00:00:00Z", "2020-01-01T00:00:00",
              "2020-01-01T00:00:00\u0661Z"}}});
}

TEST_CASE("Format: full URIs are RFC 3986's, IRIs RFC 3987's") {
  CheckAll(
      FormatMode::kFull,
      {{Format::kUri,
        {"http://a", "urn:x", "http://u:p@[::1]:80/?a#b", "http://[v1.a:b]", "x:", "file:///a"},
        {"//a", "a", "http://é", "http://[::1", "http://a:b", "http://a@b@c", "http:/[a]", "a:%4",
         "a:#b#c"}},
       {Format::kUriReference,
        {"", "//", "./a:b", "?a", "a/b:c"},
        {"1:b", "\\a", "é", "a b", "//a:x"}},
       {Format::kIri,
        {"http://é.ü/ö?\uE000#ä"},
        {"é", "http://é/\uE000", "http://a\u0080", "a:\xED\xA0\x80"}},
       {Format::kIriReference, {"é", "//ä/🐲"}, {"\\", "#\\"}},
       {Format::kUriTemplate, {"{a.b}", "'", "é{?a}"}, {"{a..b}", "{.}", "\x7F", "a\u0080"}}});
}

TEST_CASE("Format: full names and mailboxes") {
  CheckAll(FormatMode::kFull,
           {{Format::kHostname,
             {"a-b.c", "a--b", "xn--9n2bp8q.xn--9t4b11yi5a"},
             {"a.", "", "xn--x", "xn--a-", "a_b", std::string(64, 'a'), "XN--aa---o47jg78q"}},
            {Format::kIdnHostname,
             {"例え.テスト", "a。b", "l\u00b7l", "straße", "\u0628\u064a\u200c\u0628\u064a"},
             {"", "。", "a..b", "a\u00b7l", "Bücher", "-é", "\u0301a", "ﬁ", "a\u05d0", "\u302eab",
              "é.", "①"}},
            {Format::kEmail,
             {"a.b@c.d", "\"a b\\\"\"@c", "a@[1.2.3.4]", "a@[IPv6:::1]"},
             {".a@b", "a.@b", "a..b@c", "a@b.", "a@[1.2.3]", "é@b", "\"a@b",
              std::string(65, 'a') + "@b"}},
            {Format::kIdnEmail, {"é@ü.de", "\"é\"@a"}, {"é", "a@\u0301b", "a b@c"}},
            {Format::kIpv4, {"1.2.3.4"}, {"01.2.3.4", "1.2.3.256"}},
            {Format::kIpv6, {"::ffff:1.2.3.4", "1::"}, {"::1%eth0", " ::1", "1::2::3"}},
            {Format::kRegex, {"^a$", "\\p{L}"}, {"\\a", "{", "["}}});
}

}  // namespace
}  // namespace sluice::validate
