// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-convert/batch/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <utility>

#include "lib/base/error.h"
#include "lib/base/json_text.h"
#include "lib/base/watched_run.h"

namespace nnapi_convert {
namespace {

int file_in_memory(const char* name) {
  const int descriptor = ::memfd_create(name, MFD_CLOEXEC);
  if (descriptor < 0) {
    throw ConvertError(ExitCode::kInternal, fmt::format("can't start a worker: {}", std::strerror(errno)));
  }
  return descriptor;
}

std::string text_of(int descriptor) {
  std::string text;
  const off_t size = ::lseek(descriptor, 0, SEEK_END);
  text.resize(size > 0 ? static_cast<size_t>(size) : 0);
  const ssize_t count = ::pread(descriptor, text.data(), text.size(), 0);
  text.resize(count > 0 ? static_cast<size_t>(count) : 0);
  return text;
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const size_t begin = text.rfind('\n');
  return begin == std::string::npos ? text : text.substr(begin + 1);
}

void write_all(int descriptor, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(descriptor, text.data() + done, text.size() - done);
    if (count <= 0) return;
    done += static_cast<size_t>(count);
  }
}

void become_worker(int log, uint64_t memory, const sigset_t& signals, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(EXIT_FAILURE);  // the parent died before the call of prctl
  ::signal(SIGINT, SIG_IGN);
  ::sigprocmask(SIG_SETMASK, &signals, nullptr);
  if (memory != 0) {
    const rlimit limit = {memory, memory};
    ::setrlimit(RLIMIT_DATA, &limit);
  }
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
}

[[noreturn]] void run_worker(const std::function<Outcome()>& work, int result) noexcept {
  const Outcome outcome = work();
  std::cout.flush();
  write_all(result, json_text(to_json(outcome)));
  ::_exit(EXIT_SUCCESS);  // skips LibTorch's destructors, which take long
}

}  // namespace

uint64_t resident_bytes_of(pid_t process) {
  const std::string path = fmt::format("/proc/{}/statm", process);
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return 0;
  unsigned long long size = 0, resident = 0;
  const int count = std::fscanf(file, "%llu %llu", &size, &resident);
  std::fclose(file);
  return count == 2 ? resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

WorkerProcess::WorkerProcess(const std::function<Outcome()>& work, uint64_t memory, uint64_t step_seconds,
                             const sigset_t& signals)
    : run_(share_watched_run()) {
  if (run_ != nullptr) run_->seconds = step_seconds;
  result_ = file_in_memory("result");
  log_ = file_in_memory("log");
  std::cout.flush();
  const pid_t parent = ::getpid();
  process_ = ::fork();
  if (process_ == 0) {
    become_worker(log_, memory, signals, parent);
    set_watched_run(run_);
    run_worker(work, result_);
  }
  if (process_ < 0) {
    throw ConvertError(ExitCode::kInternal, fmt::format("can't start a worker: {}", std::strerror(errno)));
  }
  patience_ = Patience(process_, run_);
}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : process_(std::exchange(other.process_, -1)),
      run_(std::exchange(other.run_, nullptr)),
      patience_(other.patience_),
      result_(std::exchange(other.result_, -1)),
      log_(std::exchange(other.log_, -1)),
      has_ended_(other.has_ended_),
      status_(other.status_),
      peak_bytes_(other.peak_bytes_) {}

WorkerProcess::~WorkerProcess() {
  if (process_ > 0 && !has_ended_) {
    kill();
    ::waitpid(process_, &status_, 0);
  }
  if (result_ >= 0) ::close(result_);
  if (log_ >= 0) ::close(log_);
  if (run_ != nullptr) ::munmap(run_, sizeof *run_);
}

void WorkerProcess::kill() {
  if (!has_ended_) ::kill(process_, SIGKILL);
}

bool WorkerProcess::has_ended() {
  if (has_ended_) return true;
  rusage usage = {};
  has_ended_ = ::wait4(process_, &status_, WNOHANG, &usage) == process_;
  constexpr uint64_t kKibibyte = 1024;
  if (has_ended_) peak_bytes_ = static_cast<uint64_t>(usage.ru_maxrss) * kKibibyte;
  return has_ended_;
}

Outcome WorkerProcess::outcome() const {
  Outcome outcome;
  outcome.status = Status::kCrashed;
  if (WIFSIGNALED(status_) && run_ != nullptr && run_->is_stack_full) {
    outcome.error = full_stack_text(*run_);
  } else if (WIFSIGNALED(status_)) {
    const int signal = WTERMSIG(status_);
    outcome.error = fmt::format("its worker was ended by signal {}, {}", signal, ::strsignal(signal));
    if (signal == SIGKILL) outcome.error += ", as a system does that has no memory left";
  } else {
    try {
      return outcome_from_json(nlohmann::json::parse(text_of(result_)));
    } catch (const std::exception&) {
      outcome.error = fmt::format("its worker ended with exit code {} and no result", WEXITSTATUS(status_));
    }
  }
  const std::string said = last_line(text_of(log_));
  if (!said.empty()) outcome.error += "; the last it said: " + said;
  return outcome;
}

}  // namespace nnapi_convert
