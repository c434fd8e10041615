// SPDX-License-Identifier: BSD-3-Clause
// Runs computations of a compilation, one after the other, on the caller's buffers for its inputs and outputs.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lib/host_runtime/compilation.h"
#include "lib/host_runtime/event.h"
#include "lib/host_runtime/memory.h"
#include "lib/host_runtime/neural_networks.h"

namespace nnapi_convert::host {

// The durations that getDuration returns. A fenced duration starts when all events that the execution waits for are
// over.
enum class DurationCode : int32_t { kOnHardware = 0, kInDriver = 1, kFencedOnHardware = 2, kFencedInDriver = 3 };

// Executes one computation at a time with a compilation of the same model.
class Burst {
 public:
  explicit Burst(std::shared_ptr<const Compilation> compilation);
  const Compilation* compilation() const { return compilation_.get(); }
  std::mutex& busy() { return busy_; }

 private:
  std::shared_ptr<const Compilation> compilation_;
  std::mutex busy_;
};

class Execution : public std::enable_shared_from_this<Execution> {
 public:
  explicit Execution(std::shared_ptr<const Compilation> compilation);

  // The setters below may be called only before the computation starts.
  void set_buffer(Direction direction, int32_t index, const ANeuralNetworksOperandType* type, void* buffer,
                  std::size_t length);
  void set_memory(Direction direction, int32_t index, const ANeuralNetworksOperandType* type,
                  std::shared_ptr<Memory> memory, std::size_t offset, std::size_t length);
  void set_loop_timeout(uint64_t nanoseconds);
  void set_timeout(uint64_t nanoseconds);
  void set_measure_timing(bool measure);
  void set_reusable(bool reusable);
  void enable_padding(bool enable);

  void compute();
  void compute(Burst& burst);
  // Computes in the background, after the events. `nanoseconds` limits the computation, not the wait; 0 means no limit.
  std::unique_ptr<Event> start(std::vector<std::shared_ptr<const Event>> dependencies, uint64_t nanoseconds);
  // Waits until no computation is going on. Returns true if one was.
  bool wait_until_idle() const;

  // These three need a finished computation; it may have failed because an output's buffer was too small.
  const Dims& output_dims(int32_t index) const;
  bool output_fits(int32_t index) const;
  uint64_t duration(int32_t code) const;

 private:
  enum class State { kPreparing, kComputing, kCompleted };
  struct Argument {
    bool set = false;
    Shape shape;
    void* buffer = nullptr;  // null without `device`: the argument is omitted
    std::size_t length = 0;
    std::shared_ptr<const Memory> keeps;
    std::shared_ptr<DeviceMemory> device;
  };
  struct Result {
    Shape shape;
    bool fits = true;
  };

  void require_preparing(const char* what) const;
  void require_one_chosen_device(const char* what) const;
  Argument& argument(Direction direction, int32_t index);
  const Operand& operand(Direction direction, std::size_t index) const;
  Shape merged_shape(Direction direction, int32_t index, const ANeuralNetworksOperandType* type) const;
  void check_length(Direction direction, int32_t index, const Argument& argument) const;
  void check_device_memory(Direction direction, int32_t index, const Argument& argument, std::size_t offset) const;
  void require_all_set() const;
  void begin(const char* what);
  // Computes, and ends the state kComputing that begin() set; fails if the computation fails.
  void finish_computation(uint64_t nanoseconds);
  void run(const RunSettings& settings);
  ResultCode run_after(const std::vector<std::shared_ptr<const Event>>& dependencies, uint64_t nanoseconds);
  void end(ResultCode code);
  std::vector<Value> input_values() const;
  std::vector<Destination> destinations() const;
  void write_outputs(const std::vector<Value>& values);
  void require_completed(const char* what) const;

  std::shared_ptr<const Compilation> compilation_;
  mutable std::mutex mutex_;  // guards `state_` and `code_`
  mutable std::condition_variable idle_;
  State state_ = State::kPreparing;
  ResultCode code_ = ResultCode::NO_ERROR;
  bool any_set_ = false, padding_ = false, reusable_ = false, measure_ = false;
  uint64_t timeout_ = 0;
  std::vector<Argument> inputs_, outputs_;
  std::vector<Result> results_;
  RunSettings settings_;
  std::chrono::nanoseconds on_hardware_{0}, in_driver_{0};
};

}  // namespace nnapi_convert::host
