// SPDX-License-Identifier: BSD-3-Clause
// Casts the floating-point tensors in values of any type.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <map>
#include <string>

namespace nnapi_convert {

// Throws ConvertError (kNotConvertible) for a model that can't compute in float32 only. `what` completes "the model
// computes in another dtype than float32, and ...".
[[noreturn]] void refuse_widths(const std::string& what);

// The dtype that floating-point tensors are cast to: one for all but those of some keys in dicts.
struct CastTarget {
  at::ScalarType dtype;
  std::map<std::string, at::ScalarType> by_key = {};
};

// Inserts a cast of the tensors in the value. A cast to float64 makes complex128 of complex numbers. Branches on
// is_floating_point and is_complex let other tensors pass; inference chooses a branch once it knows the dtype. Throws
// ConvertError (kNotConvertible) for named tuples.
torch::jit::Value* insert_cast(torch::jit::Graph& graph, torch::jit::Value* value, const CastTarget& target);

}  // namespace nnapi_convert
