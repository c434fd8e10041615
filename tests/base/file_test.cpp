// SPDX-License-Identifier: BSD-3-Clause
// Files appear whole or not at all.
#include "lib/base/file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "lib/base/error.h"
#include "tests/temporary_folder.h"

using namespace nnapi_convert;
namespace fs = std::filesystem;

namespace {

// Names of everything in a folder, hidden files too.
std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

void put(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string get(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// The message of the ConvertError that `action` throws, which has to be of kind kBadFile.
template <typename Action>
std::string bad_file_message(Action action) {
  try {
    action();
  } catch (const ConvertError& error) {
    CHECK(error.exit_code() == ExitCode::kBadFile);
    return error.what();
  }
  FAIL("no ConvertError");
  return "";
}

// How many pages of a file are in the system's cache.
size_t cached_pages(const fs::path& path) {
  const size_t bytes = fs::file_size(path);
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  void* const memory = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, descriptor, 0);
  REQUIRE(memory != MAP_FAILED);
  const auto page_bytes = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((bytes + page_bytes - 1) / page_bytes);
  REQUIRE(::mincore(memory, bytes, pages.data()) == 0);
  ::munmap(memory, bytes);
  ::close(descriptor);
  return static_cast<size_t>(std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return page & 1; }));
}

}  // namespace

TEST_CASE("write_file: the whole text, and nothing else in the folder") {
  const test::TemporaryFolder folder;
  const std::string text("a\0b\r\n", 5);
  write_file(folder / "out.pt", text);
  CHECK(get(folder / "out.pt") == text);
  CHECK(names_in(folder.path()) == std::vector<std::string>{"out.pt"});
  write_file(folder / "out.pt", "");
  CHECK(get(folder / "out.pt").empty());
}

TEST_CASE("PendingFile: the destination is untouched until commit") {
  const test::TemporaryFolder folder;
  put(folder / "out.pt", "old");
  {
    PendingFile pending(folder / "out.pt");
    put(pending.path(), "new");
    CHECK(pending.path().filename() == "out.pt");
    CHECK(pending.path().parent_path().parent_path() == fs::canonical(folder.path()));
    CHECK(get(folder / "out.pt") == "old");
    pending.commit();
    CHECK(get(folder / "out.pt") == "new");
  }
  CHECK(names_in(folder.path()) == std::vector<std::string>{"out.pt"});
}

TEST_CASE("PendingFile: the cached pages of the file to replace are free for the new one") {
  const test::TemporaryFolder folder;
  struct statfs system {};
  REQUIRE(::statfs(folder.path().c_str(), &system) == 0);
  if (system.f_type == TMPFS_MAGIC) {
    WARN("not tried: the temporary folder lies in memory");
    return;
  }
  write_file(folder / "out.pt", std::string(1 << 20, 'a'));
  REQUIRE(cached_pages(folder / "out.pt") > 0);
  const PendingFile pending(folder / "out.pt");
  CHECK(cached_pages(folder / "out.pt") == 0);
  CHECK(get(folder / "out.pt") == std::string(1 << 20, 'a'));
}

TEST_CASE("PendingFile: without commit nothing is left") {
  const test::TemporaryFolder folder;
  put(folder / "old.pt", "old");
  for (const char* name : {"old.pt", "new.pt"}) {
    PendingFile pending(folder / name);
    put(pending.path(), "half of it");
  }
  CHECK(names_in(folder.path()) == std::vector<std::string>{"old.pt"});
  CHECK(get(folder / "old.pt") == "old");
}

TEST_CASE("PendingFile: commit of what was never written fails and leaves the destination") {
  const test::TemporaryFolder folder;
  put(folder / "out.pt", "old");
  {
    PendingFile pending(folder / "out.pt");
    CHECK_THAT(bad_file_message([&] { pending.commit(); }), Catch::StartsWith("can't write "));
  }
  CHECK(get(folder / "out.pt") == "old");
  CHECK(names_in(folder.path()) == std::vector<std::string>{"out.pt"});
}

TEST_CASE("PendingFile: a destination that became a folder meanwhile fails at commit") {
  const test::TemporaryFolder folder;
  {
    PendingFile pending(folder / "out.pt");
    put(pending.path(), "new");
    fs::create_directory(folder / "out.pt");
    CHECK_THAT(bad_file_message([&] { pending.commit(); }), Catch::Contains("out.pt: "));
  }
  CHECK(fs::is_directory(folder / "out.pt"));
  CHECK(names_in(folder.path()) == std::vector<std::string>{"out.pt"});
}

TEST_CASE("write_file: a symbolic link stays, the file it names is replaced") {
  const test::TemporaryFolder folder;
  fs::create_directory(folder / "real");
  put(folder / "real/model.pt", "old");
  fs::create_symlink("real/model.pt", folder / "link.pt");
  write_file(folder / "link.pt", "new");
  CHECK(fs::is_symlink(folder / "link.pt"));
  CHECK(get(folder / "real/model.pt") == "new");
  CHECK(PendingFile(folder / "link.pt").path().filename() == "model.pt");
}

TEST_CASE("write_file: permissions of an existing file are kept") {
  const test::TemporaryFolder folder;
  put(folder / "out.pt", "old");
  fs::permissions(folder / "out.pt", fs::perms::owner_read | fs::perms::owner_write);
  write_file(folder / "out.pt", "new");
  CHECK(get(folder / "out.pt") == "new");
  CHECK(fs::status(folder / "out.pt").permissions() == (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("write_file: a new file has the permissions that the process gives to new files") {
  const test::TemporaryFolder folder;
  const mode_t mask = ::umask(027);
  write_file(folder / "out.pt", "new");
  ::umask(mask);
  CHECK(static_cast<int>(fs::status(folder / "out.pt").permissions()) == 0640);
}

TEST_CASE("write_file: what is not a regular file is refused") {
  const test::TemporaryFolder folder;
  fs::create_directory(folder / "folder.pt");
  REQUIRE(::mkfifo((folder / "pipe.pt").c_str(), 0600) == 0);
  fs::create_symlink("folder.pt", folder / "link.pt");
  for (const char* name : {"folder.pt", "pipe.pt", "link.pt"}) {
    const std::string message = bad_file_message([&] { write_file(folder / name, "x"); });
    CHECK(message == "can't write " + (folder / name).string() + ": it exists and is not a regular file");
  }
  CHECK(names_in(folder.path()) == std::vector<std::string>{"folder.pt", "link.pt", "pipe.pt"});
}

TEST_CASE("write_file: a missing folder, a file as folder, no file name") {
  const test::TemporaryFolder folder;
  put(folder / "file", "x");
  const fs::path missing = folder / "missing/out.pt";
  CHECK(bad_file_message([&] { write_file(missing, "x"); }) == "can't write " + missing.string() +
                                                                   ": there is no folder " +
                                                                   missing.parent_path().string() + "; make it first");
  CHECK_THAT(bad_file_message([&] { write_file(folder / "file/out.pt", "x"); }), Catch::EndsWith(": Not a directory"));
  CHECK_THAT(bad_file_message([&] { write_file("", "x"); }), Catch::EndsWith("not a file name"));
  CHECK_THAT(bad_file_message([&] { write_file(folder / "new/", "x"); }), Catch::EndsWith("not a file name"));
  CHECK(names_in(folder.path()) == std::vector<std::string>{"file"});
}

TEST_CASE("write_file: a folder that may not be written") {
  if (::geteuid() == 0) return;  // root may write everywhere
  const test::TemporaryFolder folder;
  put(folder / "out.pt", "old");
  fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
  CHECK_THAT(bad_file_message([&] { write_file(folder / "out.pt", "x"); }), Catch::EndsWith(": Permission denied"));
  CHECK(get(folder / "out.pt") == "old");
}
