// The TorchScript module of a case, and inputs for it.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/jit/api/module.h>

#include <vector>

#include "tests/ops/op_case.h"

namespace nnapi_convert {

// Compiles the source on a module with the case's weights. `torch.NAME` and `ops.NAMESPACE.NAME` are operators.
at::QEngine engine_of(const OpCase& op_case);
// Whether this LibTorch has the engine that packs the case's weights; Debian's has no QNNPACK on arm64.
bool has_engine(const OpCase& op_case);
// Leaves LibTorch's own choice where it lacks the case's engine.
void use_engine_of(const OpCase& op_case);
torch::jit::Module make_case_module(const OpCase& op_case);

// Seeded inputs; with `flexible`, of the sizes given there.
std::vector<at::Tensor> case_inputs(const OpCase& op_case, uint64_t seed, bool flexible);

}  // namespace nnapi_convert
