// SPDX-License-Identifier: BSD-3-Clause
// Replaces the products of a quantised model, which are its convolutions and linear layers, by products of the floats
// that their codes stand for, rounded to the result's scale: so they are defined. A library's own kernels may differ:
// QNNPACK's bias overflows where it is beyond int32 in steps of its channel.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <cstddef>

namespace nnapi_convert {

enum class Products {
  kAll,
  kBeyondInt32,  // those with a bias beyond int32, if the scale of their input is known
};

// Replaces a product with constant packed weights. Returns false, and changes nothing, for other nodes.
bool make_float_product(torch::jit::Node* node);

// Replaces the graph's products in `which`, inner blocks included, if their packed weights are constant. Returns how
// many it replaced.
size_t make_float_products(torch::jit::Graph& graph, Products which);

}  // namespace nnapi_convert
