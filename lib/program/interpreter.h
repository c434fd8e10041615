// SPDX-License-Identifier: BSD-3-Clause
// Runs methods of a program.
#pragma once

#include <cstdint>

#include "lib/program/program.h"

namespace nnapi_shim::program {

// Runs the NNAPI models of the program's file.
class SegmentRunner {
 public:
  // Runs a segment: `inputs` are as many values as the segment has inputs; `outputs` are None, and become tensors.
  // Returns false after a call of Context::fail().
  virtual bool run_segment(uint32_t segment, Context& context, const Value* const* inputs, Value* outputs) = 0;
  // Runs a segment like run_segment(), with inputs and outputs in NNAPI's own form. Only the sizes of the arguments, as
  // many as run_segment() takes, count. The inputs stand behind them.
  virtual bool run_raw_segment(uint32_t segment, Context& context, const Value* const* arguments_and_inputs,
                               uint32_t arguments, uint32_t inputs, Value* outputs) = 0;

 protected:
  ~SegmentRunner() = default;
};

// Runs the method. `arguments` are one value for each of its arguments, which the call takes over; `state` is the
// context's, from Program::make_state(), or any object if there is none. Returns false for a failure, with its reason
// in `context.failure`: the place in the source, the operator and what is wrong.
bool run_method(const Program& program, const Method& method, Context& context, const Value& state,
                SegmentRunner& segments, Value* arguments, Value* result);

}  // namespace nnapi_shim::program
