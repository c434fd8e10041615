// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-convert/large_stack.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <exception>

#include "lib/base/watched_run.h"

namespace nnapi_convert {
namespace {

// The size of the guard below the stack; a function whose variables take more could step over it.
constexpr uint64_t kGuardBytes = uint64_t{16} << 20;

struct Stack {
  char* guard = nullptr;
  char* begin = nullptr;
  uint64_t size = 0;
};

Stack& present_stack() {
  static Stack stack;
  return stack;
}

// Returns the most bytes of the stack: an eighth of the process's memory limit if it has one.
uint64_t most_bytes() {
  uint64_t most = kLargeStackBytes;
  for (const auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit = {};
    const bool is_limited = ::getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    if (is_limited) most = std::min<uint64_t>(most, limit.rlim_cur / 8);
  }
  constexpr uint64_t kPage = uint64_t{1} << 16;
  return most / kPage * kPage;
}

bool reserve(uint64_t size, Stack& stack) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK;
  void* memory = ::mmap(nullptr, kGuardBytes + size, PROT_NONE, kFlags, -1, 0);
  if (memory == MAP_FAILED) return false;
  stack = {static_cast<char*>(memory), static_cast<char*>(memory) + kGuardBytes, size};
  if (::mprotect(stack.begin, size, PROT_READ | PROT_WRITE) == 0) return true;
  ::munmap(memory, kGuardBytes + size);
  return false;
}

// Handles SIGSEGV. When it returns, the handler is gone, and the signal that it raises ends the process: another
// process may have sent the first signal, so that no fault would follow.
void note_overflow(int signal, siginfo_t* fault, void* /*context*/) {
  const Stack& stack = present_stack();
  const char* address = static_cast<const char*>(fault->si_addr);
  WatchedRun* run = watched_run();
  if (run != nullptr && address >= stack.guard && address < stack.begin) run->is_stack_full = true;
  ::raise(signal);
}

// Installs note_overflow() with a stack of its own: it can't run on a full stack.
void handle_overflow() {
  static std::array<char, 1 << 16> own_stack;
  stack_t alternative = {};
  alternative.ss_sp = own_stack.data();
  alternative.ss_size = own_stack.size();
  ::sigaltstack(&alternative, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = note_overflow;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGSEGV, &action, nullptr);
}

struct Task {
  const std::function<int()>& work;
  sigset_t signals = {};
  int result = 0;
  std::exception_ptr error;
};

void* run_task(void* given) {
  Task& task = *static_cast<Task*>(given);
  handle_overflow();
  ::pthread_sigmask(SIG_SETMASK, &task.signals, nullptr);
  try {
    task.result = task.work();
  } catch (...) {
    task.error = std::current_exception();
  }
  return nullptr;
}

}  // namespace

int on_large_stack(const std::function<int()>& work) {
  constexpr uint64_t kLeastBytes = uint64_t{1} << 24;
  Stack& stack = present_stack();
  const uint64_t size = most_bytes();
  if (size < kLeastBytes || !reserve(size, stack)) return work();
  Task task{work, {}, 0, nullptr};
  sigset_t all;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &task.signals);
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstack(&attributes, stack.begin, stack.size);
  pthread_t thread = {};
  const bool is_started = ::pthread_create(&thread, &attributes, run_task, &task) == 0;
  ::pthread_attr_destroy(&attributes);
  if (is_started) ::pthread_join(thread, nullptr);
  ::pthread_sigmask(SIG_SETMASK, &task.signals, nullptr);
  ::munmap(stack.guard, kGuardBytes + stack.size);
  if (!is_started) return work();
  if (task.error) std::rethrow_exception(task.error);
  return task.result;
}

}  // namespace nnapi_convert
