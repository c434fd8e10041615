// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-convert/batch/pool.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <ctime>
#include <list>
#include <set>

#include "tools/nnapi-convert/batch/worker_process.h"

namespace nnapi_convert {
namespace {

using Clock = std::chrono::steady_clock;

std::string megabytes(uint64_t bytes) {
  return fmt::format("{} MB", bytes / 1'000'000);
}

class Pool {
 public:
  explicit Pool(const PoolRequest& request) : request_(request), waiting_(request.order.begin(), request.order.end()) {
    sigemptyset(&signals_);
    ::signal(SIGCHLD, SIG_DFL);  // if SIGCHLD is ignored, the pool can't wait for workers
    sigaddset(&signals_, SIGCHLD);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
      // Skips ignored signals, as under nohup: a blocked signal is received even if it is ignored.
      struct sigaction action = {};
      if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) sigaddset(&signals_, signal);
    }
    sigprocmask(SIG_BLOCK, &signals_, &earlier_signals_);
  }
  ~Pool() { sigprocmask(SIG_SETMASK, &earlier_signals_, nullptr); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  PoolResult run() {
    while (!running_.empty() || (!waiting_.empty() && !is_stopping_)) {
      if (!is_stopping_) start_what_fits();
      wait_for_signal();
      watch();
      collect();
      request_.on_tick();
    }
    return result_;
  }

 private:
  struct Worker {
    size_t task = 0;
    WorkerProcess process;
    uint64_t estimate = 0;
    uint64_t resident = 0;
    Clock::time_point start;
    Status stopped_as = Status::kConverted;  // why the pool stopped the worker; kConverted: it did not
    std::string why_stuck;                   // why it showed no sign of life, if it was stopped for that
    bool is_repeated = false;                // the task runs again, alone, with the whole budget
  };

  uint64_t estimate_of(size_t task) const {
    return alone_.count(task) != 0 ? request_.memory : request_.estimate(task);
  }

  uint64_t committed() const {
    uint64_t sum = own_resident_bytes();
    for (const Worker& worker : running_) sum += std::max(worker.estimate, worker.resident);
    return sum;
  }

  bool fits(size_t task) const {
    return request_.memory == 0 || running_.empty() || committed() + estimate_of(task) <= request_.memory;
  }

  void start_what_fits() {
    for (auto task = waiting_.begin();
         task != waiting_.end() && running_.size() < static_cast<size_t>(request_.jobs);) {
      if (!fits(*task)) {
        ++task;
        continue;
      }
      const size_t number = *task;
      task = waiting_.erase(task);
      const uint64_t estimate = estimate_of(number);
      const uint64_t memory = request_.memory == 0 ? 0 : request_.memory + request_.reserved;
      WorkerProcess process([this, number] { return request_.work(number); }, memory, request_.step_seconds,
                            earlier_signals_);
      running_.push_back({number, std::move(process), estimate, 0, Clock::now(), Status::kConverted, "", false});
    }
  }

  void wait_for_signal() {
    constexpr long kWatchNanoseconds = 10'000'000, kTickNanoseconds = 100'000'000;
    timespec limit = {0, request_.memory != 0 ? kWatchNanoseconds : kTickNanoseconds};
    const int signal = sigtimedwait(&signals_, nullptr, &limit);
    if (signal <= 0 || signal == SIGCHLD) return;
    result_.signal = signal;
    is_stopping_ = true;
    for (Worker& worker : running_) stop(worker, Status::kNotRun);
  }

  static void stop(Worker& worker, Status reason) {
    if (worker.stopped_as != Status::kConverted) return;
    worker.stopped_as = reason;
    worker.process.kill();
  }

  // Stops workers that take too long or too much memory.
  void watch() {
    uint64_t sum = own_resident_bytes();
    for (Worker& worker : running_) {
      worker.resident = worker.process.resident_bytes();
      sum += worker.resident;
      const double seconds = std::chrono::duration<double>(Clock::now() - worker.start).count();
      if (request_.timeout > 0 && seconds > request_.timeout) stop(worker, Status::kTimedOut);
      if (worker.stopped_as != Status::kConverted) continue;
      worker.why_stuck = worker.process.why_stuck();
      if (!worker.why_stuck.empty()) stop(worker, Status::kTimedOut);
    }
    result_.peak_bytes = std::max(result_.peak_bytes, sum);
    // Keeps a sixteenth of the budget free for the workers' growth between two checks.
    if (request_.memory == 0 || running_.empty() || sum <= request_.memory - request_.memory / 16) return;
    const auto excess = [](const Worker& worker) {
      return static_cast<int64_t>(worker.resident) - static_cast<int64_t>(worker.estimate);
    };
    const auto worst = std::max_element(running_.begin(), running_.end(),
                                        [&](const Worker& a, const Worker& b) { return excess(a) < excess(b); });
    if (worst->stopped_as != Status::kConverted) return;  // the worker is already ending
    stop(*worst, Status::kOutOfMemory);
    worst->is_repeated = running_.size() > 1;  // other workers may be the cause
  }

  void collect() {
    for (auto worker = running_.begin(); worker != running_.end();) {
      if (!worker->process.has_ended()) {
        ++worker;
        continue;
      }
      Worker ended = std::move(*worker);
      worker = running_.erase(worker);
      if (ended.is_repeated && !is_stopping_) {
        alone_.insert(ended.task);
        waiting_.push_back(ended.task);
      } else {
        if (ended.is_repeated) ended.stopped_as = Status::kNotRun;
        finish(ended);
      }
    }
  }

  void finish(Worker& worker) {
    Outcome outcome = outcome_of(worker);
    if (outcome.seconds == 0 && !outcome.is_up_to_date) {
      outcome.seconds = std::chrono::duration<double>(Clock::now() - worker.start).count();
    }
    if (!outcome.is_up_to_date) outcome.peak_bytes = worker.process.peak_bytes();
    request_.on_done(worker.task, outcome);
    if (outcome.status != Status::kConverted && !request_.keep_going) is_stopping_ = true;
  }

  Outcome outcome_of(const Worker& worker) const {
    Outcome outcome;
    outcome.status = worker.stopped_as;
    if (!worker.why_stuck.empty()) {
      outcome.error = worker.why_stuck;
    } else if (worker.stopped_as == Status::kTimedOut) {
      outcome.error = fmt::format("stopped after {:g} seconds; give it longer with --timeout", request_.timeout);
    } else if (worker.stopped_as == Status::kOutOfMemory) {
      outcome.error = fmt::format("needs more than --memory, {}: stopped at {}, with nothing else at work",
                                  megabytes(request_.memory), megabytes(worker.process.peak_bytes()));
    } else if (worker.stopped_as == Status::kNotRun) {
      outcome.error =
          result_.signal != 0 ? fmt::format("stopped by signal {}", result_.signal) : "stopped after a failure";
    } else {
      outcome = worker.process.outcome();
    }
    return outcome;
  }

  const PoolRequest& request_;
  std::list<size_t> waiting_;
  std::list<Worker> running_;
  std::set<size_t> alone_;  // tasks that were stopped for memory once, and wait for all other tasks to end
  sigset_t signals_, earlier_signals_;
  bool is_stopping_ = false;
  PoolResult result_;
};

}  // namespace

uint64_t own_resident_bytes() {
  return resident_bytes_of(::getpid());
}

PoolResult run_pool(const PoolRequest& request) {
  return Pool(request).run();
}

}  // namespace nnapi_convert
