// Takes fused operations of PyTorch apart into plain ones that have rules.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

namespace nnapi_convert {

// Replaces, where it can, the fused operations that PyTorch 1.13 traces in evaluation mode,
// aten::_native_multi_head_attention and aten::_transformer_encoder_layer_fwd, and aten::bilinear and
// aten::embedding_bag of bags of equal lengths. A node with arguments that it doesn't know stays, and is refused later
// as an operation without a rule.
void decompose(const std::shared_ptr<torch::jit::Graph>& graph);

// The same of one node, which is gone then; false if it stays. A script's arguments may be known later only.
bool decompose(torch::jit::Node* node);

}  // namespace nnapi_convert
