// SPDX-License-Identifier: BSD-3-Clause
// Lowers the nodes of one block of the graph to one nnapi::Model, and the nodes of inner blocks to its subgraphs.
#pragma once

#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/nnapi/builder.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

class BlockLowering;
struct LoweringScope;

// Lowers a branch or a loop, whose blocks have types: appends an operation to `outer` and sets the node's outputs.
using LowerFlow = void (*)(const LoweringScope& scope, BlockLowering& outer, const TorchNode& node);

// The data that all blocks of a graph share.
struct LoweringScope {
  const TypeMap& types;
  Target target;
  Diagnostics& diagnostics;
  std::vector<Refusal>& refusals;
  LowerFlow lower_flow;
};

class BlockLowering {
 public:
  BlockLowering(const LoweringScope& scope, nnapi::Model& model) : scope_(scope), builder_(model) {}

  // Returns the operands of values. The caller adds the operands of the block's inputs before it lowers the nodes.
  OperandMap& operands() { return operands_; }
  nnapi::Builder& builder() { return builder_; }

  // Returns the operand of a tensor that `reader` reads; a constant becomes a constant operand.
  nnapi::OperandId operand(const TorchNode& reader, const TorchValue* value);
  void lower_nodes(const torch::jit::Block& block);
  // False if nodes without types were left out: infer refused them.
  bool all_typed() const { return all_typed_; }

 private:
  bool is_typed(const TorchNode& node) const;
  bool reads_operands(const TorchNode& node) const;
  void lower_node(const TorchNode& node);
  void unpack(const TorchNode& node);
  void name_outputs(const TorchNode& node);
  void stand_in(const TorchValue* output);

  LoweringScope scope_;
  nnapi::Builder builder_;
  OperandMap operands_;
  bool all_typed_ = true;
};

}  // namespace nnapi_convert
