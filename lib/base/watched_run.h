// SPDX-License-Identifier: BSD-3-Clause
// Reports from a process that runs a user's model to the process that watches it: the current step, signs of life, and
// the folders to remove if it dies. They are kept in memory that both processes share, as LibTorch may end the process
// at any instruction. In a process that nobody watches the functions do nothing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nnapi_convert {

// The shared memory. Its bytes are 0 at first.
struct WatchedRun {
  static constexpr size_t kFolders = 16, kPathBytes = 4096, kStepBytes = 64;

  struct Folder {
    std::atomic<bool> is_taken;
    std::atomic<bool> is_whole;  // `path` is complete: the process may die while it writes it
    char path[kPathBytes];
  };

  std::atomic<uint64_t> signs_of_life;      // grows while the step goes on
  uint64_t seconds;                         // how long a step may go without a sign of life; 0: for ever
  std::atomic<uint64_t> more_milliseconds;  // added to `seconds` for a large model
  std::atomic<bool> is_stack_full;          // the process's stack overflowed
  char step[kStepBytes];
  Folder folders[kFolders];
};

// Makes shared memory for a process that is forked afterwards. It is never freed.
WatchedRun* share_watched_run();

// Makes the functions below write to `run` from now on; with null they do nothing.
void set_watched_run(WatchedRun* run);
WatchedRun* watched_run();

// Begins a step; this is a sign of life, too. The name is for people: "infer".
void tell_step(const std::string& name);
void tell_sign_of_life();
// Allow each step more time for a large model: by the bytes of its file, and by the multiply-adds of one run.
void tell_file_size(uint64_t bytes);
void tell_multiply_adds(uint64_t count);

// Names a folder that the watching process removes if this process dies. Folders beyond kFolders are not watched.
void tell_folder(const std::string& path);
void forget_folder(const std::string& path);

// Returns the folders that the process named and did not forget.
std::vector<std::string> folders_of(const WatchedRun& run);

}  // namespace nnapi_convert
