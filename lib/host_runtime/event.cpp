// SPDX-License-Identifier: BSD-3-Clause
#include "lib/host_runtime/event.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "lib/host_runtime/failure.h"

namespace nnapi_convert::host {

BackgroundEvent::BackgroundEvent(std::function<ResultCode()> work)
    : result_(std::async(std::launch::async, std::move(work)).share()) {}

FenceEvent::FenceEvent(int fd) : fd_(fd > 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1) {
  if (fd_ < 0) bad_data("sync fence: file descriptor {} found, an open one above 0 needed", fd);
}

FenceEvent::~FenceEvent() {
  close(fd_);
}

ResultCode FenceEvent::wait() const {
  pollfd waited = {fd_, POLLIN, 0};
  int count = -1;
  do {
    count = poll(&waited, 1, -1);
  } while (count < 0 && errno == EINTR);
  const bool signalled = count == 1 && (waited.revents & POLLIN) != 0 && (waited.revents & (POLLERR | POLLNVAL)) == 0;
  return signalled ? ResultCode::NO_ERROR : ResultCode::OP_FAILED;
}

int FenceEvent::fence() const {
  return fcntl(fd_, F_DUPFD_CLOEXEC, 0);
}

}  // namespace nnapi_convert::host
