// SPDX-License-Identifier: BSD-3-Clause
// The tensors that forward returns, with names, for judging results.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

#include "lib/nnapi/model.h"
#include "lib/quantise/sample.h"
#include "lib/serialize/module_interface.h"

namespace nnapi_convert {

// A tensor of forward's result. Its name has the keys and numbers on the way to it, "1.0.boxes"; "result" if forward
// returns one tensor.
struct NamedResult {
  std::string name;
  at::Tensor tensor;  // contiguous; no quantised one
};
using ForwardResult = std::vector<NamedResult>;

ForwardResult named_results(const c10::IValue& value);

// Returns `original`, whose names and sizes it keeps, with the results of NNAPI's whole model in place of its tensors;
// `bytes` are by the model's outputs. Tensors that don't come from NNAPI stay.
ForwardResult with_nnapi_results(const ForwardResult& original, const std::vector<quantise::Bytes>& bytes,
                                 const nnapi::Model& model, const ModuleInterface& interface);

}  // namespace nnapi_convert
