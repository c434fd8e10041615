// SPDX-License-Identifier: BSD-3-Clause
// What a process that runs a user's model tells the process that watches it: the step that it is in, that it goes on,
// and which folders are to be removed if it dies. LibTorch may end the process at any instruction, so that all of it
// stands in memory that both processes share. A process that nobody watches tells nobody.
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
    std::atomic<bool> is_whole;  // the path is: the process may have died while it wrote it
    char path[kPathBytes];
  };

  std::atomic<uint64_t> signs_of_life;      // grows while the step goes on
  uint64_t seconds;                         // how long a step may go without a sign of life; 0: for ever
  std::atomic<uint64_t> more_milliseconds;  // besides, as the model is large
  std::atomic<bool> is_stack_full;          // the process's stack overflowed
  char step[kStepBytes];
  Folder folders[kFolders];
};

// Makes shared memory for a process that is forked afterwards. It is never freed.
WatchedRun* share_watched_run();

// From now on the functions below write to `run`. Null: to nothing.
void set_watched_run(WatchedRun* run);
WatchedRun* watched_run();

// Begins a step, which is a sign of life, too. The name is for people: "infer".
void tell_step(const std::string& name);
void tell_sign_of_life();
// Each step may take longer, as the model is so large: bytes of its file, or multiply-adds of one run.
void tell_file_size(uint64_t bytes);
void tell_multiply_adds(uint64_t count);

// A folder that whoever watches removes if the process dies. A process may have kFolders of them; more are not watched.
void tell_folder(const std::string& path);
void forget_folder(const std::string& path);

// The folders of a process that died.
std::vector<std::string> folders_of(const WatchedRun& run);

}  // namespace nnapi_convert
