// SPDX-License-Identifier: BSD-3-Clause
// Folders of files appear whole or not at all.
#include "lib/base/folder.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <map>

#include "lib/base/error.h"
#include "tests/temporary_folder.h"

namespace nnapi_convert {
namespace {

namespace fs = std::filesystem;
using Contents = std::map<std::string, std::string>;

// All files below a folder, hidden ones too.
Contents contents(const fs::path& folder) {
  Contents found;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream stream(entry.path(), std::ios::binary);
    found[fs::relative(entry.path(), folder).string()] = std::string(std::istreambuf_iterator<char>(stream), {});
  }
  return found;
}

const std::vector<FolderFile> kFiles = {{"a", "1"}, {"b/c/d", "2"}, {"b/e", ""}};
const Contents kWritten = {{"a", "1"}, {"b/c/d", "2"}, {"b/e", ""}};

}  // namespace

TEST_CASE("names that stay within a folder") {
  for (const char* name : {"a", "a/b", "...", "a.b/.c"}) CHECK(is_plain_name(name));
  for (const char* name : {"", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a/..", "./a", "a\\b"}) {
    CHECK_FALSE(is_plain_name(name));
  }
  CHECK_FALSE(is_plain_name(std::string("a\0b", 3)));
}

TEST_CASE("a folder is written where there is none, or an empty one") {
  const test::TemporaryFolder place;
  write_folder(place / "new", kFiles, false);
  CHECK(contents(place.path()) == Contents{{"new/a", "1"}, {"new/b/c/d", "2"}, {"new/b/e", ""}});
  fs::create_directory(place / "empty");
  write_folder(place / "empty/", kFiles, false);
  CHECK(contents(place / "empty") == kWritten);
}

TEST_CASE("a folder with something in it is kept") {
  const test::TemporaryFolder place;
  write_folder(place / "x", {{"a", "old"}, {"mine", "mine"}}, false);
  CHECK_THROWS_AS(write_folder(place / "x", kFiles, false), ConvertError);
  CHECK(contents(place.path()) == Contents{{"x/a", "old"}, {"x/mine", "mine"}});
  write_folder(place / "x", kFiles, true);
  CHECK(contents(place.path()) == Contents{{"x/a", "1"}, {"x/mine", "mine"}, {"x/b/c/d", "2"}, {"x/b/e", ""}});
}

TEST_CASE("after a failure a folder is as it was") {
  const test::TemporaryFolder place;
  const Contents before = {{"x/a", "old"}, {"x/b/e/file", "in the way"}};
  write_folder(place / "x", {{"a", "old"}, {"b/e/file", "in the way"}}, false);
  CHECK_THROWS_AS(write_folder(place / "x", kFiles, true), ConvertError);
  CHECK(contents(place.path()) == before);
  CHECK_FALSE(fs::exists(place / "x/b/c"));
  CHECK_THROWS_AS(write_folder(place / "x", {{"a", "new"}, {"a/b", "below a file"}}, true), ConvertError);
  CHECK(contents(place.path()) == before);
  CHECK_THROWS_AS(write_folder(place / "y", {{"a", "new"}, {"../z", "outside"}}, false), ConvertError);
  CHECK_THROWS_AS(write_folder(place / "x/a", kFiles, true), ConvertError);
  CHECK_THROWS_AS(write_folder(place / "none/y", kFiles, true), ConvertError);
  CHECK(contents(place.path()) == before);
}

}  // namespace nnapi_convert
