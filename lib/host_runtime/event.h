// What an execution that runs in the background leaves to wait for.
#pragma once

#include <functional>
#include <future>

#include "lib/format/nnapi_codes.h"

namespace nnapi_convert::host {

class Event {
 public:
  virtual ~Event() = default;
  // Blocks until it is over; any number of times, from any thread.
  virtual ResultCode wait() const = 0;
  // A copy of the sync fence behind it, which the caller has to close; -1 if there is none.
  virtual int fence() const { return -1; }
};

// Runs the work in a thread of its own. Its end waits for the work.
class BackgroundEvent : public Event {
 public:
  explicit BackgroundEvent(std::function<ResultCode()> work);
  ResultCode wait() const override { return result_.get(); }

 private:
  std::shared_future<ResultCode> result_;
};

// A sync fence: a descriptor that becomes readable when it is signalled.
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
