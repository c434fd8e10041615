// SPDX-License-Identifier: BSD-3-Clause
// Tests that no written file replaces a file that is read, or another written file.
#include "lib/base/files_apart.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "lib/base/error.h"
#include "tests/temporary_folder.h"

using namespace nnapi_convert;
namespace fs = std::filesystem;

namespace {

// The message of the ConvertError, empty without one.
std::string complaint(const FilesInUse& files) {
  try {
    check_files_apart(files);
  } catch (const ConvertError& error) {
    CHECK(error.exit_code() == ExitCode::kUsage);
    return error.what();
  }
  return "";
}

void put(const fs::path& path) {
  std::ofstream(path) << "x";
}

}  // namespace

TEST_CASE("check_files_apart: different files pass") {
  const test::TemporaryFolder folder;
  put(folder / "model.pt");
  put(folder / "other.pt");
  const NamedFile model = {"MODEL", folder / "model.pt"};
  CHECK(complaint({{model, model}, {{"-o", folder / "other.pt"}, {"--report", folder / "new/r.json"}}}).empty());
  CHECK(complaint({{model}, {{"-o", ""}, {"--emit-cpu", ""}}}).empty());
}

TEST_CASE("check_files_apart: every spelling of the model") {
  const test::TemporaryFolder folder;
  put(folder / "model.pt");
  fs::create_directory(folder / "a");
  fs::create_symlink("model.pt", folder / "link.pt");
  fs::create_symlink(".", folder / "here");
  fs::create_hard_link(folder / "model.pt", folder / "hard.pt");
  for (const char* spelling : {"model.pt", "./model.pt", "a/../model.pt", "nowhere/../model.pt", "link.pt",
                               "here/model.pt", "here/link.pt", "hard.pt"}) {
    INFO(spelling);
    const std::string message = complaint({{{"MODEL", folder / "model.pt"}}, {{"--output", folder / spelling}}});
    CHECK_THAT(message, Catch::StartsWith("--output " + (folder / spelling).string() + " is the same file as MODEL "));
  }
}

TEST_CASE("check_files_apart: two files to write, neither of which is there") {
  const test::TemporaryFolder folder;
  fs::create_symlink("new.pt", folder / "dangling.pt");
  for (const char* spelling : {"new.pt", "./a/../new.pt", "dangling.pt"}) {
    INFO(spelling);
    const FilesInUse files = {{}, {{"--output", folder / "new.pt"}, {"--report", folder / spelling}}};
    CHECK_THAT(complaint(files), Catch::Contains("is the same file as --output"));
  }
}

TEST_CASE("check_files_apart: devices, pipes and standard output may be named again") {
  const test::TemporaryFolder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  for (const fs::path& path : {fs::path("/dev/null"), fs::path("-"), fs::path("/dev/stdout"), folder / "pipe"}) {
    CHECK(complaint({{{"--inputs", path}}, {{"--report", path}, {"--report", path}}}).empty());
  }
}
