// SPDX-License-Identifier: BSD-3-Clause
// Notes in a file which device is at work, so that the next start of the app knows which device killed or blocked the
// process. An entry is a small file that is mapped: what was written stays there when the process dies.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace nnapi_shim {

// The content of an entry that a process left when it ended.
struct JournalNote {
  std::string device, version, step;
};

// One entry. It belongs to this process until the object is destroyed; the lock of its file tells other processes so.
// Several threads may call enter() and leave() at the same time.
class Journal {
 public:
  // Takes a free entry among the files that start with `path`. Returns null if there is none, if the folder can't be
  // written, or if the disk is full: the device is used all the same.
  static std::unique_ptr<Journal> take(const std::string& path);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // Notes that the device begins the step. With `syncs`, waits until the storage has it, as drivers can bring down the
  // whole phone.
  void begin(const std::string& device, const std::string& version, const char* step, bool syncs);
  void enter();
  void leave();

 private:
  struct Content;
  Journal(int fd, Content* content) : fd_(fd), content_(content) {}
  friend std::vector<JournalNote> take_notes(const std::string& path);
  static std::unique_ptr<Journal> open(const std::string& path, int number, bool creates);
  static bool take_room(int fd);

  const int fd_;
  Content* const content_;
  bool has_begun_ = false;
};

// Returns the notes that ended processes left at work, and clears them.
std::vector<JournalNote> take_notes(const std::string& path);

}  // namespace nnapi_shim
