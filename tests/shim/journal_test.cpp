// SPDX-License-Identifier: BSD-3-Clause
// The journal's files, where the disk has no room for them.
#include "lib/shim/journal.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <fstream>

#include "tests/shim/temporary_files.h"

using namespace nnapi_shim;

namespace {

class Folder {
 public:
  Folder() : path_(testing::temporary_path("nnapi_journal_XXXXXX")) { REQUIRE(::mkdtemp(path_.data()) != nullptr); }
  ~Folder() {
    for (int i = 0; i < 64; ++i) ::unlink((journal() + std::to_string(i)).c_str());
    ::rmdir(path_.c_str());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string journal() const { return path_ + "/model.journal"; }

 private:
  std::string path_;
};

// A file of the journal's size that has no room on the disk yet.
void leave_hole(const std::string& path) {
  std::ofstream{path + "0"};
  REQUIRE(::truncate((path + "0").c_str(), 512) == 0);
}

// Writes a note in a process of its own. Returns 0 if there was room, 1 if not, and 2 if the process died.
int write_note_apart(const std::string& path, bool (*prepare)(const std::string& path)) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (!prepare(path)) ::_exit(3);
    const std::unique_ptr<Journal> journal = Journal::take(path);
    if (journal) journal->begin("npu", "1.0", "compile", true);
    ::_exit(journal ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

// Files of this process can't grow.
bool forbid_files(const std::string&) {
  const rlimit none = {0, 0};
  ::signal(SIGXFSZ, SIG_IGN);
  return ::setrlimit(RLIMIT_FSIZE, &none) == 0;
}

// Puts a full file system into the folder, which this process alone sees.
bool mount_full_disk(const std::string& path) {
  const std::string folder = path.substr(0, path.rfind('/'));
  if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  if (::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=16k") != 0) return false;
  const std::string filling(1 << 16, 'x');
  std::ofstream(folder + "/filling") << filling << std::flush;
  leave_hole(path);
  return true;
}

}  // namespace

TEST_CASE("a note of a process that ended is found once") {
  const Folder folder;
  CHECK(write_note_apart(folder.journal(), [](const std::string&) { return true; }) == 0);
  std::string step;
  for (int i = 0; i < 2; ++i) {
    for (const JournalNote& note : take_notes(folder.journal())) step += note.step;
  }
  CHECK(step == "compile");
}

TEST_CASE("a note that nobody has read yet is not written over") {
  const Folder folder;
  REQUIRE(write_note_apart(folder.journal(), [](const std::string&) { return true; }) == 0);
  const std::unique_ptr<Journal> journal = Journal::take(folder.journal());
  REQUIRE(journal != nullptr);
  journal->begin("gpu", "1.0", "run", false);
  const std::vector<JournalNote> notes = take_notes(folder.journal());
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].device == "npu");
  CHECK(notes[0].step == "compile");
}

TEST_CASE("a file without room on the disk is no journal") {
  const Folder folder;
  leave_hole(folder.journal());
  CHECK(write_note_apart(folder.journal(), forbid_files) == 1);
}

TEST_CASE("a full disk ends no process") {
  const Folder folder;
  const int found = write_note_apart(folder.journal(), mount_full_disk);
  if (found == 3) {
    WARN("skipped: mounting needs root");
  } else {
    CHECK(found == 1);
  }
}
