// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-convert/supervisor.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "lib/base/error.h"
#include "lib/base/patience.h"
#include "lib/base/watched_run.h"
#include "tools/nnapi-convert/large_stack.h"
#include "tools/nnapi-convert/memory_limit.h"

namespace nnapi_convert {
namespace {

// Returns the signals that end a command, without those that are ignored, as under nohup.
sigset_t signals_passed_on() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    struct sigaction action = {};
    if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) sigaddset(&signals, signal);
  }
  return signals;
}

// The end of the process that runs the command.
struct End {
  int status = 0;           // the status of waitpid()
  std::string why_stopped;  // empty: it was not stopped
};

End wait_for_end(pid_t process, const WatchedRun& run, const sigset_t& awaited) {
  constexpr long kNanosecondsBetweenLooks = 250'000'000;
  End end;
  Patience patience(process, &run);
  while (::waitpid(process, &end.status, WNOHANG) != process) {
    const timespec limit = {0, kNanosecondsBetweenLooks};
    siginfo_t received = {};
    const int signal = ::sigtimedwait(&awaited, &received, &limit);
    // A terminal sends its signals to both processes.
    if (signal > 0 && signal != SIGCHLD && received.si_code != SI_KERNEL) ::kill(process, signal);
    if (signal > 0 || !end.why_stopped.empty() || !patience.is_over()) continue;
    end.why_stopped = patience.reason();
    ::kill(process, SIGKILL);
  }
  return end;
}

int report(ExitCode code, const std::string& message) {
  if (::isatty(STDERR_FILENO) != 0) std::fputs("\r\033[K", stderr);  // the progress that the process showed
  spdlog::error("{}", message);
  return static_cast<int>(code);
}

int report_end(const End& end, const WatchedRun& run) {
  if (!end.why_stopped.empty()) return report(ExitCode::kLimit, end.why_stopped);
  if (run.is_stack_full) return report(ExitCode::kLimit, full_stack_text(run));
  const int signal = WTERMSIG(end.status);
  const std::string step = step_of(run);
  if (signal == SIGKILL) {
    return report(ExitCode::kLimit, fmt::format("killed at {}, as a system does whose memory is full", step));
  }
  if (signal == SIGFPE) {
    return report(ExitCode::kNotConvertible,
                  fmt::format("the model divides an integer by 0, or the least integer by -1, "
                              "which ended LibTorch at {}",
                              step));
  }
  return report(ExitCode::kInternal, fmt::format("{} crashed by signal {}, {}; please report it with the model", step,
                                                 signal, ::strsignal(signal)));
}

// Returns true for signals by which LibTorch or a system ends a process. Other signals end it as its user wants, such
// as SIGPIPE when nobody reads the output any more.
bool is_of_crash(int signal) {
  constexpr std::array<int, 7> kSignals = {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL, SIGSYS, SIGKILL};
  return std::find(kSignals.begin(), kSignals.end(), signal) != kSignals.end();
}

[[noreturn]] void die_by(int signal) {
  ::signal(signal, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  ::raise(signal);
  ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
  std::_Exit(128 + signal);
}

}  // namespace

void exit_quickly(int code) {
  spdlog::default_logger()->flush();
  std::fflush(nullptr);
  std::quick_exit(code);
}

int run_supervised(const std::function<int()>& command) {
  WatchedRun* run = share_watched_run();
  if (run == nullptr) return report(ExitCode::kLimit, "out of memory");
  run->seconds = kSecondsOfStep;
  const sigset_t passed_on = signals_passed_on();
  sigset_t awaited = passed_on, earlier;
  ::signal(SIGCHLD, SIG_DFL);  // if SIGCHLD is ignored, nobody can wait for the process
  sigaddset(&awaited, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &awaited, &earlier);
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process < 0) return report(ExitCode::kLimit, fmt::format("can't start a process: {}", std::strerror(errno)));
  if (process == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) std::_Exit(EXIT_FAILURE);  // the parent died before the call of prctl
    ::sigprocmask(SIG_SETMASK, &earlier, nullptr);
    set_watched_run(run);
    limit_memory(kLargeStackBytes);
    exit_quickly(on_large_stack(command));
  }
  const End end = wait_for_end(process, *run, awaited);
  for (const std::string& folder : folders_of(*run)) {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  if (WIFEXITED(end.status)) return WEXITSTATUS(end.status);
  if (!is_of_crash(WTERMSIG(end.status))) die_by(WTERMSIG(end.status));
  return report_end(end, *run);
}

}  // namespace nnapi_convert
