// SPDX-License-Identifier: BSD-3-Clause
#include "lib/shim/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace nnapi_shim {
namespace {

constexpr int kEntries = 16;            // the most compilations of all processes that are guarded at the same time
constexpr uint32_t kMark = 0x314A4E4E;  // "NNJ1"

std::string text_of(const char* text, size_t bytes) {
  return std::string(text, ::strnlen(text, bytes));
}

}  // namespace

// The content of an entry's file. All of it is written before `running` becomes 1.
struct Journal::Content {
  uint32_t mark;
  uint32_t running;  // the number of threads that are in the step
  char step[40], device[232], version[232];
};

// Writes the file's content once more, so that the disk has room for all of it: a write into a hole of a mapped file
// ends the process if the disk is full.
bool Journal::take_room(int fd) {
  Content content = {};
  constexpr auto kBytes = static_cast<ssize_t>(sizeof content);
  if (::pread(fd, &content, sizeof content, 0) < 0 || ::ftruncate(fd, kBytes) != 0) return false;
  return ::pwrite(fd, &content, sizeof content, 0) == kBytes;
}

std::unique_ptr<Journal> Journal::open(const std::string& path, int number, bool creates) {
  const std::string name = path + std::to_string(number);
  const int fd = ::open(name.c_str(), O_RDWR | O_CLOEXEC | (creates ? O_CREAT : 0), 0600);
  if (fd < 0) return nullptr;
  void* content = MAP_FAILED;
  // The lock ends with the process that holds it.
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0 && take_room(fd)) {
    content = ::mmap(nullptr, sizeof(Content), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  if (content != MAP_FAILED) return std::unique_ptr<Journal>(new Journal(fd, static_cast<Content*>(content)));
  ::close(fd);
  return nullptr;
}

std::unique_ptr<Journal> Journal::take(const std::string& path) {
  for (int number = 0; number < kEntries; ++number) {
    std::unique_ptr<Journal> journal = open(path, number, true);
    // An entry with the note of a dead process stays for another start to read.
    if (journal && (journal->content_->mark != kMark || journal->content_->running == 0)) return journal;
  }
  return nullptr;
}

Journal::~Journal() {
  if (has_begun_) content_->running = 0;  // otherwise the entry may hold the note of a process that ended
  ::munmap(content_, sizeof(Content));
  ::close(fd_);
}

void Journal::begin(const std::string& device, const std::string& version, const char* step, bool syncs) {
  std::snprintf(content_->step, sizeof content_->step, "%s", step);
  std::snprintf(content_->device, sizeof content_->device, "%s", device.c_str());
  std::snprintf(content_->version, sizeof content_->version, "%s", version.c_str());
  content_->mark = kMark;
  has_begun_ = true;
  enter();
  if (syncs) ::msync(content_, sizeof(Content), MS_SYNC);
}

void Journal::enter() {
  __atomic_add_fetch(&content_->running, 1, __ATOMIC_SEQ_CST);
}

void Journal::leave() {
  __atomic_sub_fetch(&content_->running, 1, __ATOMIC_SEQ_CST);
}

std::vector<JournalNote> take_notes(const std::string& path) {
  std::vector<JournalNote> notes;
  for (int number = 0; number < kEntries; ++number) {
    const std::unique_ptr<Journal> journal = Journal::open(path, number, false);
    if (!journal) continue;
    Journal::Content& content = *journal->content_;
    if (content.mark != kMark || content.running == 0) continue;
    notes.push_back({text_of(content.device, sizeof content.device), text_of(content.version, sizeof content.version),
                     text_of(content.step, sizeof content.step)});
    content.running = 0;
  }
  return notes;
}

}  // namespace nnapi_shim
