#include "streams/declared_journal.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace sluice::streams {
namespace {

Declaration Make(const std::string& name, std::uint64_t version) {
  Declaration declaration;
  declaration.name = name;
  declaration.settings_json =
      R"({"schema_title":"library/loan","note":"a \"b\" ü \n","rate":0.1,"n":12})";
  declaration.declared_by = "tool";
  declaration.declared_at = WallTime(std::chrono::milliseconds(1'700'000'000'123));
  if (version % 2 == 0)
    declaration.expires_at = WallTime(std::chrono::milliseconds(1'900'000'000'000));
  declaration.version = version;
  return declaration;
}

void CheckSame(const Declaration& a, const Declaration& b) {
  CHECK(a.name == b.name);
  CHECK(a.settings_json == b.settings_json);
  CHECK(a.declared_by == b.declared_by);
  CHECK(a.declared_at == b.declared_at);
  CHECK(a.expires_at == b.expires_at);
  CHECK(a.version == b.version);
}

// The names that are there after the first `lines` of the journal below.
const std::vector<std::vector<std::string>> kNamesAfter = {
    {}, {"a.b"}, {"a.b", "c-d"}, {"c-d"}, {"c-d"}};

std::vector<std::string> Lines() {
  return {JournalPut(Make("a.b", 1)), JournalPut(Make("c-d", 2)), JournalDelete("a.b", 3),
          JournalPut(Make("c-d", 4))};
}

std::string Join(const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) all += line;
  return all;
}

std::vector<std::string> NamesOf(const DeclaredState& state) {
  std::vector<std::string> names;
  for (const auto& [name, declaration] : state.streams) names.push_back(name);
  return names;
}

TEST_CASE("ReadJournal: gives back what was written") {
  const JournalReading reading = ReadJournal(Join(Lines()));
  CHECK(reading.lines == 4);
  CHECK(reading.damaged == 0);
  CHECK(reading.torn_bytes == 0);
  CHECK(reading.state.last_version == 4);
  REQUIRE(NamesOf(reading.state) == std::vector<std::string>{"c-d"});
  CheckSame(*reading.state.streams.at("c-d"), Make("c-d", 4));
  CHECK(ReadJournal("").state.last_version == 0);
}

TEST_CASE("JournalOf: a rewrite means the same, and versions go on behind it") {
  DeclaredState state = ReadJournal(Join(Lines())).state;
  state.last_version = 9;  // as if the last ones had been deletions
  const std::string rewritten = JournalOf(state);
  const JournalReading reading = ReadJournal(rewritten);
  CHECK(reading.torn_bytes == 0);
  CHECK(reading.state.last_version == 9);
  CheckSame(*reading.state.streams.at("c-d"), Make("c-d", 4));
  CHECK(ReadJournal(rewritten + JournalPut(Make("x", 10))).state.streams.size() == 2);
  CHECK(ReadJournal(JournalOf({})).torn_bytes == 0);
}

TEST_CASE("ReadJournal: cut off at any byte, whole lines count and the rest is torn") {
  const std::vector<std::string> lines = Lines();
  const std::string all = Join(lines);
  for (std::size_t size = 0; size <= all.size(); ++size) {
    std::size_t whole = 0;
    std::size_t bytes = 0;
    while (whole < lines.size() && bytes + lines[whole].size() <= size)
      bytes += lines[whole++].size();
    const JournalReading reading = ReadJournal(std::string_view(all).substr(0, size));
    CHECK(reading.lines == whole);
    CHECK(reading.damaged == 0);
    CHECK(reading.torn_bytes == size - bytes);
    CHECK(NamesOf(reading.state) == kNamesAfter[whole]);
  }
}

TEST_CASE("ReadJournal: any flipped bit is seen, and costs no other line but a neighbour's") {
  const std::vector<std::string> lines = Lines();
  const std::string all = Join(lines);
  for (std::size_t at = 0; at < all.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = all;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      const JournalReading reading = ReadJournal(flipped);
      CHECK(reading.damaged + reading.torn_bytes > 0);
      CHECK(reading.lines >= lines.size() - 2);
      // What does count is as it was written.
      for (const auto& [name, declaration] : reading.state.streams) {
        CheckSame(*declaration, Make(name, declaration->version));
      }
    }
  }
}

TEST_CASE("ReadJournal: a damaged line in the middle is told from a torn end") {
  std::vector<std::string> lines = Lines();
  lines[1][3] ^= 1;
  JournalReading reading = ReadJournal(Join(lines));
  CHECK(reading.damaged == 1);
  CHECK(reading.torn_bytes == 0);
  CHECK(NamesOf(reading.state) == std::vector<std::string>{"c-d"});
  lines = Lines();
  lines[3][3] ^= 1;
  reading = ReadJournal(Join(lines));
  CHECK(reading.damaged == 0);
  CHECK(reading.torn_bytes == lines[3].size());
}

TEST_CASE("ReadJournal: a line that was copied, or is older, does not count") {
  const std::vector<std::string> lines = Lines();
  const JournalReading reading = ReadJournal(lines[0] + lines[0] + lines[2] + lines[1] + lines[3]);
  CHECK(reading.damaged == 2);
  CHECK(NamesOf(reading.state) == std::vector<std::string>{"c-d"});
}

}  // namespace
}  // namespace sluice::streams
