// Takes fused operations of PyTorch apart into operations that have rules.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

namespace nnapi_convert {

// Replaces the fused operations that PyTorch 1.13 traces in evaluation mode (aten::_native_multi_head_attention and
// aten::_transformer_encoder_layer_fwd), aten::bilinear, aten::embedding_bag of bags of equal lengths, aten::einsum of
// three operands and more, and aten::repeat_interleave whose numbers of repeats are a known tensor. A node with
// unsupported arguments stays, and is refused later as an operation without a rule.
void decompose(const std::shared_ptr<torch::jit::Graph>& graph);

// Replaces and destroys one node; false if the node stays. A node whose arguments are still unknown may be tried again.
bool decompose(torch::jit::Node* node);

}  // namespace nnapi_convert
