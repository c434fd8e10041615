// SPDX-License-Identifier: BSD-3-Clause
// Prepares a model for running, and runs it: the main model of an execution, and the models that IF and WHILE refer to.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "lib/host_runtime/kernel.h"
#include "lib/host_runtime/model.h"
#include "lib/host_runtime/trace.h"

namespace nnapi_convert::host {

// NNAPI's default limit for a WHILE operation, and the longest limit that an execution may set.
constexpr std::chrono::nanoseconds kDefaultLoopTimeout = std::chrono::seconds(2);
constexpr std::chrono::nanoseconds kMaximumLoopTimeout = std::chrono::seconds(15);

// A model prepared for running; the model has to outlive it. Several runs may use it at the same time.
class Program {
 public:
  explicit Program(const Model& model);

  const Model& model() const { return model_; }
  // For each operation, the operands that nothing reads after it.
  const std::vector<std::vector<uint32_t>>& last_uses() const { return last_uses_; }
  ConstantCache& cache() const { return cache_; }
  const Program& inner(const Model& model) const { return *inner_.at(&model); }

 private:
  const Model& model_;
  std::vector<std::vector<uint32_t>> last_uses_;
  mutable ConstantCache cache_;
  std::map<const Model*, std::unique_ptr<const Program>> inner_;
};

// The settings of a whole execution.
struct RunSettings {
  using Clock = std::chrono::steady_clock;

  std::chrono::nanoseconds loop_timeout = kDefaultLoopTimeout;
  Clock::time_point deadline = Clock::time_point::max();
  bool half_results = false;  // float32 results are rounded to half precision
  Trace* trace = nullptr;     // null: no trace
  bool logs_operations = false;

  // Returns whether the run needs the time at each operation.
  bool timed() const { return trace || logs_operations || deadline != Clock::time_point::max(); }
};

// The caller's buffer for an output of the model.
struct Destination {
  void* buffer = nullptr;  // null: nowhere yet
  std::size_t length = 0;
};

class Run final : public RunServices {
 public:
  Run(const Program& program, const RunSettings& settings, const Frame* frame = nullptr);

  // Computes the outputs from one value for each model input. `declared` are the output shapes that the caller knows.
  // An output is copied to its destination, if there is one that holds it, as soon as it is computed, and the value
  // returned is a view of it: outputs of many tensors would be in memory twice otherwise.
  std::vector<Value> compute(const std::vector<Value>& inputs, const std::vector<Shape>& declared,
                             const std::vector<Destination>& destinations = {});

  ConstantCache& cache() const override { return program_.cache(); }
  std::chrono::nanoseconds loop_timeout() const override { return settings_.loop_timeout; }
  std::vector<Value> run_inner(const Operation& operation, const char* argument, const Model& model,
                               const std::vector<Value>& inputs, int64_t iteration) const override;

 private:
  void take_inputs(const std::vector<Value>& inputs);
  void compute(const Operation& operation);
  void compute_timed(const Operation& operation);
  void round_results(const Operation& operation);
  void deliver_results(const Operation& operation);
  void trace(const Operation& operation, std::chrono::nanoseconds taken) const;

  const Program& program_;
  const RunSettings& settings_;
  const Frame* frame_;
  std::vector<Shape> shapes_;
  std::vector<at::Tensor> values_;
  std::vector<Destination> destinations_;  // by operand; empty: none has one
};

}  // namespace nnapi_convert::host
