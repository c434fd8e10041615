// SPDX-License-Identifier: BSD-3-Clause
// Makes the TorchScript module of a case, and inputs for it.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/jit/api/module.h>

#include <vector>

#include "tests/ops/op_case.h"

namespace nnapi_convert {

at::QEngine engine_of(const OpCase& op_case);
// Returns whether this LibTorch has the engine that packs the case's weights; Debian's has no QNNPACK on arm64.
bool has_engine(const OpCase& op_case);
// Sets the case's engine; keeps LibTorch's own choice if LibTorch lacks that engine.
void use_engine_of(const OpCase& op_case);
// Compiles the source on a module with the case's weights. `torch.NAME` and `ops.NAMESPACE.NAME` are operators.
torch::jit::Module make_case_module(const OpCase& op_case);

// Returns seeded inputs; with `flexible`, of the case's flexible sizes.
std::vector<at::Tensor> case_inputs(const OpCase& op_case, uint64_t seed, bool flexible);

}  // namespace nnapi_convert
