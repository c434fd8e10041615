// SPDX-License-Identifier: BSD-3-Clause
// Whoever watches a process knows its folders at every instruction at which a signal may end it.
#include "lib/base/watched_run.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "tests/temporary_folder.h"

using namespace nnapi_convert;

namespace {

// The folders that were told when the last folder was made.
std::vector<std::string>& folders_at_mkdir() {
  static std::vector<std::string> folders;
  return folders;
}

}  // namespace

// Takes the place of libc's for the functions under test.
extern "C" int mkdir(const char* path, mode_t mode) {
  if (const WatchedRun* run = watched_run()) folders_at_mkdir() = folders_of(*run);
  return static_cast<int>(::syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}

TEST_CASE("A folder is told before it is made, and forgotten after it is removed", "[watched_run]") {
  const test::TemporaryFolder folder;
  WatchedRun* run = share_watched_run();
  REQUIRE(run != nullptr);
  set_watched_run(run);
  {
    const StagingFolder staging(folder.path() / "out.pt", "out.pt");
    CHECK(std::filesystem::is_directory(staging.path()));
    CHECK(folders_at_mkdir() == std::vector<std::string>{staging.path().string()});
    CHECK(folders_of(*run) == std::vector<std::string>{staging.path().string()});
  }
  CHECK(folders_of(*run).empty());
  CHECK_THROWS_AS(StagingFolder(folder.path() / "missing" / "out.pt", "missing/out.pt"), ConvertError);
  CHECK(folders_of(*run).empty());
  set_watched_run(nullptr);
}
