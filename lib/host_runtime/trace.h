// SPDX-License-Identifier: BSD-3-Clause
// Writes a trace of executions: a line of JSON for each operation, to the file that NNAPI_HOST_TRACE names.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "lib/host_runtime/kernel.h"

namespace nnapi_convert::host {

class TraceFile;

// The run of an inner model (of IF or WHILE) to which an operation belongs. Operations of the main model have no frame.
struct Frame {
  const Frame* outer = nullptr;
  const Operation& operation;
  const char* argument = "";
  int64_t iteration = 0;
};

// A number too large for half precision.
struct Overflow {
  std::size_t output = 0;
  int64_t element = 0;
  double value = 0;
};

// The lines of one execution.
class Trace {
 public:
  // Returns null if NNAPI_HOST_TRACE is not set. The first execution that traces to a path empties the file.
  static std::unique_ptr<Trace> begin();

  void add_operation(const Operation& operation, const Frame* frame, std::chrono::nanoseconds taken,
                     const std::vector<const Operand*>& operands, const std::vector<Value>& outputs);
  // Adds a line for the execution's first overflow; ignores later ones.
  void add_overflow(const Operation& operation, const Frame* frame, const Overflow& overflow);

 private:
  explicit Trace(std::shared_ptr<TraceFile> file);

  std::shared_ptr<TraceFile> file_;
  int64_t execution_;
  bool overflowed_ = false;
};

}  // namespace nnapi_convert::host
