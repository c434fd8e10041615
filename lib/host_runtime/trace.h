// A trace of what executions compute: a line of JSON for each operation, in the file of NNAPI_HOST_TRACE.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "lib/host_runtime/kernel.h"

namespace nnapi_convert::host {

class TraceFile;

// Which run of a model an operation belongs to: the outermost has none.
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
  // Null where the variable is not set. The first execution that finds a path empties the file.
  static std::unique_ptr<Trace> begin();

  void add_operation(const Operation& operation, const Frame* frame, std::chrono::nanoseconds taken,
                     const std::vector<const Operand*>& operands, const std::vector<Value>& outputs);
  // A line for the first one of the execution.
  void add_overflow(const Operation& operation, const Frame* frame, const Overflow& overflow);

 private:
  explicit Trace(std::shared_ptr<TraceFile> file);

  std::shared_ptr<TraceFile> file_;
  int64_t execution_;
  bool overflowed_ = false;
};

}  // namespace nnapi_convert::host
