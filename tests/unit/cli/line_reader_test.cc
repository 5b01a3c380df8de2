#include "cli/line_reader.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <thread>
#include <vector>

namespace sluice::cli {
namespace {

// The lines of `text` that comes through a pipe.
std::vector<std::string> LinesOf(const std::string& text) {
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  std::thread writer([&] {
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t written = write(ends[1], text.data() + at, text.size() - at);
      if (written <= 0) break;
      at += static_cast<std::size_t>(written);
    }
    close(ends[1]);
  });
  std::vector<std::string> lines;
  LineReader reader(ends[0], [] {});
  for (std::string_view line; reader.Next(line);) lines.emplace_back(line);
  CHECK(reader.error() == 0);
  writer.join();
  close(ends[0]);
  return lines;
}

using Lines = std::vector<std::string>;

TEST_CASE("LineReader: lines with and without a feed at the end") {
  CHECK(LinesOf("") == Lines{});
  CHECK(LinesOf("a") == Lines{"a"});
  CHECK(LinesOf("a\n") == Lines{"a"});
  CHECK(LinesOf("a\n\nb") == Lines{"a", "", "b"});
  CHECK(LinesOf("\n") == Lines{""});
  CHECK(LinesOf("a\r\nb\rc\n\r\n") == Lines{"a", "b\rc", ""});
}

TEST_CASE("LineReader: lines longer than its buffer") {
  const std::string longer(3'000'000, 'x');
  const std::string text = "a\n" + longer + "\nb\n" + longer + longer + "\nlast";
  const Lines lines = LinesOf(text);
  REQUIRE(lines.size() == 5);
  CHECK(lines[1].size() == longer.size());
  CHECK(lines[2] == "b");
  CHECK(lines[3].size() == 2 * longer.size());
  CHECK(lines[4] == "last");
}

TEST_CASE("LineReader: tells before it may block, and why it stopped") {
  int told = 0;
  LineReader reader(-1, [&] { ++told; });
  std::string_view line;
  CHECK(!reader.Next(line));
  CHECK(told == 1);
  CHECK(reader.error() == EBADF);
  CHECK(!reader.Next(line));
}

}  // namespace
}  // namespace sluice::cli
