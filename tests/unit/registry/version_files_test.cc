#include "registry/version_files.h"

#include <doctest/doctest.h>

#include "support/temp_folder.h"

namespace sluice::registry {

TEST_CASE("FindVersionFiles: versions only, no links, no current files, no hidden folders") {
  const test::TempFolder folder;
  folder.Write("/a/b/1.0.0.yaml", "{}");
  folder.Write("/a/b/1.0.0", "1.0.0.yaml");
  folder.Link("/a/b/latest", "1.0.0.yaml");
  folder.Link("/a/b/9.9.9.yaml", "1.0.0.yaml");
  folder.Write("/a/b/current.yaml", "{}");
  folder.Write("/a/b/CHANGELOG.md", "x");
  folder.Write("/a/b/1.0.yaml", "{}");
  folder.Write("/a/b/1.0.0.yaml.orig", "{}");
  folder.Write("/a/b/10.20.30.json", "{}");
  folder.Write("/c/2.0.0", "{}");
  folder.Write("/.git/1.0.0.yaml", "{}");
  std::vector<std::string> problems;
  const auto files = FindVersionFiles(folder.path(), problems);
  CHECK(problems.empty());
  std::string text;
  for (const auto& file : files) text += file.uri + "|" + file.extension + " ";
  CHECK(text == "/a/b/1.0.0|.yaml /a/b/10.20.30|.json /c/2.0.0| ");
}

TEST_CASE("FindVersionFiles: a folder that cannot be read is told") {
  std::vector<std::string> problems;
  CHECK(FindVersionFiles("/nonexistent", problems).empty());
  REQUIRE(problems.size() == 1);
  CHECK(problems[0] == "/nonexistent: No such file or directory");
}

}  // namespace sluice::registry
