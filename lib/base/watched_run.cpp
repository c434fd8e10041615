// SPDX-License-Identifier: BSD-3-Clause
#include "lib/base/watched_run.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace nnapi_convert {
namespace {

WatchedRun*& present_run() {
  static WatchedRun* run = nullptr;
  return run;
}

void copy_text(const std::string& text, char* to, size_t size) {
  const size_t count = std::min(text.size(), size - 1);
  std::memcpy(to, text.data(), count);
  to[count] = '\0';
}

}  // namespace

WatchedRun* share_watched_run() {
  void* memory =
      ::mmap(nullptr, sizeof(WatchedRun), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<WatchedRun*>(memory);
}

void set_watched_run(WatchedRun* run) {
  present_run() = run;
}

WatchedRun* watched_run() {
  return present_run();
}

void tell_step(const std::string& name) {
  WatchedRun* run = present_run();
  if (run == nullptr) return;
  copy_text(name, run->step, sizeof run->step);
  ++run->signs_of_life;
}

void tell_sign_of_life() {
  if (WatchedRun* run = present_run()) ++run->signs_of_life;
}

void tell_file_size(uint64_t bytes) {
  constexpr uint64_t kBytesPerMillisecond = 5'000;  // a file of 100 MB may take 20 s more
  if (WatchedRun* run = present_run()) run->more_milliseconds += bytes / kBytesPerMillisecond;
}

void tell_multiply_adds(uint64_t count) {
  constexpr uint64_t kCountPerMillisecond = 200'000;  // one slow core with a slow kernel
  if (WatchedRun* run = present_run()) run->more_milliseconds += count / kCountPerMillisecond;
}

void tell_folder(const std::string& path) {
  WatchedRun* run = present_run();
  if (run == nullptr || path.size() >= WatchedRun::kPathBytes) return;
  for (WatchedRun::Folder& folder : run->folders) {
    if (folder.is_taken.exchange(true)) continue;
    copy_text(path, folder.path, sizeof folder.path);
    folder.is_whole = true;
    return;
  }
}

void forget_folder(const std::string& path) {
  WatchedRun* run = present_run();
  if (run == nullptr) return;
  for (WatchedRun::Folder& folder : run->folders) {
    if (!folder.is_whole || path != folder.path) continue;
    folder.is_whole = false;
    folder.is_taken = false;
    return;
  }
}

std::vector<std::string> folders_of(const WatchedRun& run) {
  std::vector<std::string> folders;
  for (const WatchedRun::Folder& folder : run.folders) {
    if (folder.is_whole) folders.emplace_back(folder.path);
  }
  return folders;
}

}  // namespace nnapi_convert
