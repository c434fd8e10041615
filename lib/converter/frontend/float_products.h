// SPDX-License-Identifier: BSD-3-Clause
// Makes the products of a quantised model, which are its convolutions and linear layers, products of the floats that
// their codes stand for, rounded to the result's scale: what they are defined as. A library's own kernels may differ:
// QNNPACK's bias overflows where it is beyond int32 in steps of its channel.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <cstddef>

namespace nnapi_convert {

enum class Products {
  kAll,
  kBeyondInt32,  // those with a bias beyond int32, as far as the scale of what they read is known
};

// Takes the place of a product with constant packed weights. Returns false, and changes nothing, for other nodes.
bool make_float_product(torch::jit::Node* node);

// The same for all such nodes of the graph, inner blocks included. Returns how many there were.
size_t make_float_products(torch::jit::Graph& graph, Products which);

}  // namespace nnapi_convert
