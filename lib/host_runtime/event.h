// SPDX-License-Identifier: BSD-3-Clause
// Holds events: callers wait with them for executions in the background.
#pragma once

#include <functional>
#include <future>

#include "lib/format/nnapi_codes.h"

namespace nnapi_convert::host {

class Event {
 public:
  virtual ~Event() = default;
  // Blocks until the event's work is over. Any thread may call this, any number of times.
  virtual ResultCode wait() const = 0;
  // Returns a copy of the event's sync fence, which the caller has to close; -1 if the event has no fence.
  virtual int fence() const { return -1; }
};

// Runs the work in a thread of its own. The destructor waits for the work.
class BackgroundEvent : public Event {
 public:
  explicit BackgroundEvent(std::function<ResultCode()> work);
  ResultCode wait() const override { return result_.get(); }

 private:
  std::shared_future<ResultCode> result_;
};

// A sync fence: a file descriptor that becomes readable when the fence is signalled.
class FenceEvent : public Event {
 public:
  explicit FenceEvent(int fd);  // copies the descriptor
  ~FenceEvent() override;
  FenceEvent(const FenceEvent&) = delete;
  FenceEvent& operator=(const FenceEvent&) = delete;
  ResultCode wait() const override;
  int fence() const override;

 private:
  int fd_;
};

}  // namespace nnapi_convert::host
