// SPDX-License-Identifier: BSD-3-Clause
// Tests that files which can't be read or written are told before the work begins.
#include "lib/base/files_ready.h"

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
    check_files_ready(files);
  } catch (const ConvertError& error) {
    CHECK(error.exit_code() == ExitCode::kBadFile);
    return error.what();
  }
  return "";
}

void put(const fs::path& path) {
  std::ofstream(path) << "x";
}

size_t entries_in(const fs::path& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

TEST_CASE("check_files_ready: what can be read and written passes, and nothing is left") {
  const test::TemporaryFolder folder;
  put(folder / "model.pt");
  put(folder / "old.pt");
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  const std::vector<NamedFile> read = {{"MODEL", folder / "model.pt"},
                                       {"--labels", ""},
                                       {"--calibrate", folder.path()},
                                       {"--torch-library", "libnone.so", AlsoFits::kLibraryName}};
  const std::vector<NamedFile> written = {{"-o", folder / "new.pt"},
                                          {"--litert", folder / "old.pt"},
                                          {"--report", "-"},
                                          {"--report", folder / "pipe", AlsoFits::kPipe}};
  CHECK(complaint({read, written}).empty());
  CHECK(entries_in(folder.path()) == 3);
}

TEST_CASE("check_files_ready: what is read and missing") {
  const test::TemporaryFolder folder;
  put(folder / "file");
  const auto complaint_of = [&](const std::string& name, AlsoFits also) {
    const std::string path = (folder / name).string();
    const std::string text = complaint({{{"MODEL", path, also}}, {}});
    CHECK_THAT(text, Catch::StartsWith("can't read " + path + ": "));
    return text.substr(text.find(": ") + 2);
  };
  CHECK(complaint_of("none.pt", AlsoFits::kNothing) == "no such file");
  CHECK(complaint_of("none", AlsoFits::kFolder) == "no such file or folder");
  CHECK(complaint_of("none/", AlsoFits::kFolder) == "no such folder");
  CHECK(complaint_of("file/model.pt", AlsoFits::kNothing) == "Not a directory");
}

TEST_CASE("check_files_ready: places where nothing can be written") {
  const test::TemporaryFolder folder;
  const std::string none = (folder / "none").string();
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  fs::create_symlink("gone/out.pt", folder / "link.pt");
  const auto complaint_of = [&](const fs::path& path) { return complaint({{}, {{"--output", path}}}); };
  CHECK(complaint_of(none + "/out.pt") ==
        "can't write " + none + "/out.pt: there is no folder " + none + "; make it first");
  CHECK_THAT(complaint_of(folder / "link.pt"), Catch::Contains("/gone; make it first"));
  CHECK_THAT(complaint_of(none + "/"), Catch::EndsWith("not a file name"));
  CHECK_THAT(complaint_of(folder.path()), Catch::EndsWith("it exists and is not a regular file"));
  CHECK_THAT(complaint_of(folder / "pipe"), Catch::EndsWith("it exists and is not a regular file"));
  CHECK(entries_in(folder.path()) == 2);
}
