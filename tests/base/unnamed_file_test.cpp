// SPDX-License-Identifier: BSD-3-Clause
// Files without names.
#include "lib/base/unnamed_file.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <filesystem>
#include <string>

#include "tests/temporary_folder.h"

using namespace nnapi_convert;

TEST_CASE("unnamed file: is written and read back, and leaves nothing") {
  const test::TemporaryFolder folder;
  const int file = open_unnamed(folder.path());
  REQUIRE(file >= 0);
  CHECK(std::filesystem::is_empty(folder.path()));
  CHECK(::write(file, "text", 4) == 4);
  char read[4];
  CHECK(::pread(file, read, sizeof read, 0) == 4);
  CHECK(std::string(read, sizeof read) == "text");
  ::close(file);
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("unnamed file: a folder that is not there is told") {
  CHECK(open_unnamed("/nowhere") == -1);
  CHECK(errno == ENOENT);
}
