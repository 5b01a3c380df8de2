#include "streams/declared_file.h"
#include "support/temp_folder.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace sluice::streams {
namespace {

std::string ContentOf(const std::string& path) {
  std::string content;
  CHECK(MakeDurableFile(path)->Load(&content) == 0);
  return content;
}

TEST_CASE("DurableFile: what was appended or put in place is there, in a folder it made") {
  const test::TempFolder folder;
  const std::string path = folder.path() + "/new/deep/file";
  {
    const auto file = MakeDurableFile(path);
    std::string content = "before";
    CHECK(file->Load(&content) == 0);
    CHECK(content.empty());
    CHECK(file->Append("one\n") == 0);
    CHECK(file->Append("two\n") == 0);
  }
  CHECK(ContentOf(path) == "one\ntwo\n");
  {
    const auto file = MakeDurableFile(path);
    CHECK(file->KeepCopy(".old") == 0);
    CHECK(file->Replace("three\n") == 0);
    CHECK(file->Append("four\n") == 0);
  }
  CHECK(ContentOf(path) == "three\nfour\n");
  CHECK(ContentOf(path + ".old") == "one\ntwo\n");
  CHECK(!std::filesystem::exists(path + ".new"));
}

TEST_CASE("DurableFile: a second process is kept away until the first has gone") {
  const test::TempFolder folder;
  const std::string path = folder.path() + "/file";
  auto first = MakeDurableFile(path);
  std::string content;
  CHECK(first->Load(&content) == 0);
  CHECK(MakeDurableFile(path)->Load(&content) == EWOULDBLOCK);
  first.reset();
  CHECK(MakeDurableFile(path)->Load(&content) == 0);
}

TEST_CASE("DurableFile: failures are told") {
  const test::TempFolder folder;
  CHECK(MakeDurableFile("/dev/full")->Append("x") == ENOSPC);
  const std::string path = folder.path() + "/file";
  CHECK(MakeDurableFile(path)->Append("x") == 0);
  CHECK(MakeDurableFile(path + "/below")->Append("x") != 0);
  CHECK(MakeDurableFile(path + "/below")->Replace("x") != 0);
  std::string content;
  CHECK(MakeDurableFile(folder.path())->Load(&content) == EISDIR);
}

TEST_CASE("DurableFile: a file that was rotated away is begun anew") {
  const test::TempFolder folder;
  const std::string path = folder.path() + "/file";
  const auto file = MakeDurableFile(path);
  CHECK(file->Append("one\n") == 0);
  std::filesystem::rename(path, path + ".1");
  CHECK(file->Append("two\n") == 0);
  CHECK(ContentOf(path) == "two\n");
}

}  // namespace
}  // namespace sluice::streams
