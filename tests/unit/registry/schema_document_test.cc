#include "registry/schema_document.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "support/temp_folder.h"

namespace sluice::registry {

TEST_CASE("ReadUnderFolder: follows links, symbolic or written as text, to the real file") {
  const test::TempFolder folder;
  folder.Write("/a/1.0.0.yaml", "title: a\n");
  folder.Write("/a/1.0.0", "1.0.0.yaml");
  folder.Write("/a/latest", "latest.yaml\n");
  folder.Link("/a/latest.yaml", "1.0.0.yaml");
  for (const char* path : {"/a/1.0.0.yaml", "/a/1.0.0", "/a/latest", "/a/latest.yaml"}) {
    CAPTURE(path);
    const auto found = ReadUnderFolder(folder.path(), path);
    CHECK(found.status == FindStatus::kFound);
    CHECK(found.text == "title: a\n");
    CHECK(found.location == std::filesystem::canonical(folder.path() + "/a/1.0.0.yaml").string());
  }
}

TEST_CASE("ReadUnderFolder: what is not there is not found") {
  const test::TempFolder folder;
  folder.Write("/a/1.0.0.yaml", "title: a\n");
  for (const char* path : {"/b/1.0.0", "/a", "/", "/a/1.0.0.yaml/x"}) {
    CAPTURE(path);
    CHECK(ReadUnderFolder(folder.path(), path).status == FindStatus::kNotFound);
  }
  const std::string long_name = "/" + std::string(300, 'a');
  CHECK(ReadUnderFolder(folder.path(), long_name).status == FindStatus::kNotFound);
}

TEST_CASE("ReadUnderFolder: nothing outside of the folder is read") {
  const test::TempFolder outside;
  outside.Write("/secret", "title: secret\n");
  const test::TempFolder folder;
  folder.Link("/a", outside.path() + "/secret");
  folder.Link("/b", outside.path());
  folder.Write("/c", "..");
  std::filesystem::create_directory(folder.path() + "-private");
  folder.Link("/d", folder.path() + "-private");
  for (const char* path : {"/a", "/b/secret", "/d"}) {
    CAPTURE(path);
    const auto found = ReadUnderFolder(folder.path(), path);
    CHECK(found.status == FindStatus::kUnusable);
    CHECK(found.text.empty());
    CHECK(found.reason.ends_with(": leads outside of its base folder"));
  }
  std::filesystem::remove(folder.path() + "-private");
}

TEST_CASE(
    "ReadUnderFolder: circles, pipes and broken links are unusable, a lost folder may come back") {
  const test::TempFolder folder;
  folder.Link("/loop", "loop");
  folder.Write("/x", "y");
  folder.Write("/y", "x");
  folder.Write("/broken", "nowhere.yaml");
  REQUIRE(mkfifo((folder.path() + "/pipe").c_str(), 0600) == 0);
  for (const char* path : {"/loop", "/x", "/broken", "/pipe"}) {
    CAPTURE(path);
    const auto found = ReadUnderFolder(folder.path(), path);
    CHECK(found.status == FindStatus::kUnusable);
    CHECK_FALSE(found.reason.empty());
  }
  const auto lost = ReadUnderFolder(folder.path() + "/gone", "/a");
  CHECK(lost.status == FindStatus::kUnavailable);
  CHECK(lost.reason == folder.path() + "/gone: No such file or directory");
}

TEST_CASE("ReadUnderFolder: a document above the bound is unusable") {
  const test::TempFolder folder;
  folder.Write("/big", "");
  std::filesystem::resize_file(folder.path() + "/big", kMaxSchemaBytes + 1);
  const auto found = ReadUnderFolder(folder.path(), "/big");
  CHECK(found.status == FindStatus::kUnusable);
  CHECK(found.reason.ends_with("File too large"));
}

}  // namespace sluice::registry
