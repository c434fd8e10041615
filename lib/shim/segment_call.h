// SPDX-License-Identifier: BSD-3-Clause
// Runs a model of NNAPI on tensors of programs, which are in PyTorch's order.
#pragma once

#include "lib/program/operators.h"
#include "lib/shim/open_model.h"

namespace nnapi_shim {

// Runs `model` on one tensor for each of its arguments. Inputs that NNAPI reads in NHWC are read in place if their
// memory is in that order, else copied. `outputs` become tensors in PyTorch's order; if NNAPI's form is NHWC, their
// memory is in that order, as channels_last is. Integers that stand for floats by a scale are refused, or, with
// `takes_codes`, are plain integers. Null `outputs`: only checks the inputs. Returns an nnapi_shim_status.
int call_segment(OpenModel& model, program::Context& context, const program::Value* const* inputs,
                 program::Value* outputs, bool takes_codes, nnapi_shim_error* error);
// Runs `model` on inputs in NNAPI's own order of axes; the outputs have this order, too, and are row-major. Integers
// that stand for floats are plain integers. Only the sizes of `arguments` are used. Returns an nnapi_shim_status.
int call_raw_segment(OpenModel& model, program::Context& context, const program::Value* const* arguments,
                     const program::Value* const* inputs, uint32_t input_count, program::Value* outputs,
                     nnapi_shim_error* error);

// The tensors that a caller passed to a call by name.
struct NamedTensors {
  const nnapi_shim_named_tensor* tensors;
  uint32_t count;
};
// After NNAPI_SHIM_BAD_ARGUMENT: if one of the inputs that don't fit is the caller's own tensor, says so in `error` by
// the caller's path, and returns true. Else returns false, and leaves `error` as it is.
bool blame_argument(OpenModel& model, const program::Value* const* inputs, bool takes_codes, const NamedTensors& named,
                    nnapi_shim_error* error);

}  // namespace nnapi_shim
