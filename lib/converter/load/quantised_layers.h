// SPDX-License-Identifier: BSD-3-Clause
// Turns convolutions and linear layers between dequantize and quantize into those of PyTorch with packed weights.
#pragma once

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

namespace nnapi_convert {

struct QuantisedResult {
  double scale;
  int64_t zero_point;
  bool has_relu;
};

// Appends the quantised form of `layer` at the insert point, with its packed weights as an attribute of `module`, which
// `self` is. Null where the layer has none: its input is no quint8 tensor, or its weights are not constants.
torch::jit::Value* add_quantised_layer(torch::jit::Node* layer, const QuantisedResult& result,
                                       torch::jit::Module& module, torch::jit::Value* self);

// Returns the quantised tensor that `value` is the dequantize of; null if it isn't, or where its dtype is another.
torch::jit::Value* quantised_before(torch::jit::Value* value);

}  // namespace nnapi_convert
