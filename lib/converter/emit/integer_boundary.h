// SPDX-License-Identifier: BSD-3-Clause
// Programs have no quantised tensors. Where a module quantises NNAPI's inputs and dequantises its outputs itself, a
// program does so with plain integers.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <vector>

#include "lib/types/tensor_type.h"

namespace nnapi_convert {

// Replaces quantisation and dequantisation in the inlined forward of a model that NNAPI runs whole. `outputs` has an
// entry for each of NNAPI's outputs. Leaves what gives the caller a quantised tensor.
void use_integers(torch::jit::Graph& graph, const std::vector<Quantization>& outputs);

}  // namespace nnapi_convert
