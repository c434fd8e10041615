// SPDX-License-Identifier: BSD-3-Clause
// Programs have no quantised tensors. Where a module quantises NNAPI's inputs and dequantises its outputs itself, or
// makes codes of a camera's bytes, a program does so with plain integers.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <vector>

#include "lib/types/tensor_type.h"

namespace nnapi_convert {

// Replaces quantisation and dequantisation in the inlined forward. `outputs` has an entry for each of NNAPI's outputs
// in a model that NNAPI runs whole, and none in another. Leaves what gives the caller a quantised tensor.
void use_integers(torch::jit::Graph& graph, const std::vector<Quantization>& outputs);

}  // namespace nnapi_convert
