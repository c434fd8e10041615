// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-probe/doctor/worker.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "lib/shim/monotonic_clock.h"

namespace nnapi_doctor {
namespace {

constexpr char kSign = 'x';

bool send_sign(int fd) {
  ssize_t written = 0;
  do {
    written = ::write(fd, &kSign, 1);
  } while (written < 0 && errno == EINTR);
  return written == 1;
}

bool take_sign(int fd) {
  char sign = 0;
  ssize_t taken = 0;
  do {
    taken = ::read(fd, &sign, 1);
  } while (taken < 0 && errno == EINTR);
  return taken == 1;
}

void close_both(const int fds[2]) {
  ::close(fds[0]);
  ::close(fds[1]);
}

}  // namespace

Worker::Worker(Work work, size_t bytes, uint64_t limit_ns, std::string log)
    : work_(std::move(work)), bytes_(bytes), limit_ns_(limit_ns), log_(std::move(log)) {
  void* mapped = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (mapped != MAP_FAILED) shared_ = static_cast<uint8_t*>(mapped);
  ::signal(SIGPIPE, SIG_IGN);
}

Worker::~Worker() {
  stop();
  if (shared_ != nullptr) ::munmap(shared_, bytes_);
}

// Performs tasks until the parent closes its end. Ends by _exit, as a driver's code at the end of a process doesn't
// matter.
void Worker::serve() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int log = ::open(log_.empty() ? "/dev/null" : log_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log >= 0) {
    ::dup2(log, STDOUT_FILENO);
    ::dup2(log, STDERR_FILENO);
  }
  while (take_sign(to_child_)) {
    work_(shared_);
    if (!send_sign(from_child_)) break;
  }
  ::_exit(0);
}

bool Worker::start() {
  int down[2], up[2];
  if (::pipe2(down, O_CLOEXEC) != 0) return false;
  if (::pipe2(up, O_CLOEXEC) != 0) {
    close_both(down);
    return false;
  }
  child_ = ::fork();
  if (child_ == 0) {
    ::close(down[1]);
    ::close(up[0]);
    to_child_ = down[0];
    from_child_ = up[1];
    serve();
  }
  ::close(down[0]);
  ::close(up[1]);
  to_child_ = down[1];
  from_child_ = up[0];
  tasks_ = 0;
  if (child_ > 0) return true;
  ::close(to_child_);
  ::close(from_child_);
  return false;
}

// Waits for the child, whatever ended it.
void Worker::end_child() {
  int status = 0;
  while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  how_ = WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                             : "exit code " + std::to_string(WEXITSTATUS(status));
  child_ = -1;
  ::close(to_child_);
  ::close(from_child_);
}

void Worker::stop() {
  if (child_ > 0) {
    ::kill(child_, SIGKILL);
    end_child();
  }
}

TaskEnd Worker::run() {
  if (shared_ == nullptr || (child_ < 0 && !start())) return TaskEnd::kNotStarted;
  tasks_before_ = tasks_++;
  // The first task loads the library, too.
  const uint64_t limit = tasks_before_ == 0 ? 2 * limit_ns_ : limit_ns_;
  bool is_answered = send_sign(to_child_);
  const uint64_t begin = nnapi_shim::now_ns();
  bool is_late = false;
  while (is_answered) {
    const uint64_t taken = nnapi_shim::now_ns() - begin;
    pollfd wait = {from_child_, POLLIN, 0};
    const uint64_t left = limit > taken ? limit - taken : 0;
    const int ready = ::poll(&wait, 1, static_cast<int>((left + 999999) / 1000000));
    if (ready < 0 && errno == EINTR) continue;
    is_late = ready == 0;
    is_answered = ready > 0 && take_sign(from_child_);
    break;
  }
  if (is_answered) return TaskEnd::kDone;
  if (is_late) ::kill(child_, SIGKILL);
  end_child();
  return is_late ? TaskEnd::kHung : TaskEnd::kCrashed;
}

}  // namespace nnapi_doctor
