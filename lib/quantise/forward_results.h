// SPDX-License-Identifier: BSD-3-Clause
// What forward returns, as tensors with names, for what judges results.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

#include "lib/nnapi/model.h"
#include "lib/quantise/sample.h"
#include "lib/serialize/module_interface.h"

namespace nnapi_convert {

// By the keys and numbers on the way to it, "1.0.boxes"; "result" where forward returns one tensor.
struct NamedResult {
  std::string name;
  at::Tensor tensor;  // contiguous; no quantised one
};
using ForwardResult = std::vector<NamedResult>;

ForwardResult named_results(const c10::IValue& value);

// The same with what NNAPI's whole model gives in place of its tensors: `bytes` are by the model's outputs. `original`
// has the names and sizes. Tensors that don't come from NNAPI are those of `original`.
ForwardResult with_nnapi_results(const ForwardResult& original, const std::vector<quantise::Bytes>& bytes,
                                 const nnapi::Model& model, const ModuleInterface& interface);

}  // namespace nnapi_convert
