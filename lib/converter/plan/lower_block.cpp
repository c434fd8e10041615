// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/plan/lower_block.h"

#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <stdexcept>

#include "lib/converter/graph/control_flow.h"
#include "lib/ops/integer_moves.h"
#include "lib/ops/registry.h"

namespace nnapi_convert {
namespace {

using torch::jit::Node;
using torch::jit::Value;

// True for nodes that only make or take apart constants and containers, and need no operation.
bool is_structural(const Node& node) {
  return node.kind() == c10::prim::Constant || node.kind() == c10::prim::ListConstruct ||
         node.kind() == c10::prim::TupleConstruct || node.kind() == c10::prim::DictConstruct ||
         node.kind() == c10::prim::ListUnpack || node.kind() == c10::prim::Uninitialized;
}

// False if the shape rule refuses the node; its results' types were then observed. Such a node can't be lowered, as the
// lowering relies on the shape rule's checks.
bool takes(const OpRule& rule, const OpArguments& args) {
  try {
    (void)rule.shape(args);
    return true;
  } catch (const NodeRefused&) {
    return false;
  }
}

}  // namespace

void BlockLowering::lower_nodes(const torch::jit::Block& block) {
  for (const Node* node : block.nodes()) lower_node(*node);
}

// False for nodes whose results have no types, or types without NNAPI operands: infer refused the node, or one before
// it. Also false for a branch or loop without results, which is there for its in-place changes only.
bool BlockLowering::is_typed(const Node& node) const {
  const auto outputs = node.outputs();
  return (!outputs.empty() || !is_control_flow(node)) &&
         std::all_of(outputs.begin(), outputs.end(), [&](const Value* value) {
           const auto found = scope_.types.find(value);
           if (found == scope_.types.end()) return false;
           const auto* type = std::get_if<TensorType>(&found->second);
           return type == nullptr || has_operand_code(type->dtype);
         });
}

// False if the node reads a value without operands: a refused node made it.
bool BlockLowering::reads_operands(const Node& node) const {
  const auto inputs = node.inputs();
  return std::all_of(inputs.begin(), inputs.end(), [&](const Value* value) {
    if (value->node()->kind() == c10::prim::ListConstruct) return reads_operands(*value->node());
    const auto found = scope_.types.find(value);
    return found == scope_.types.end() || std::holds_alternative<Dims>(found->second) || operands_.count(value) != 0 ||
           torch::jit::toIValue(value).has_value();
  });
}

void BlockLowering::lower_node(const Node& node) {
  if (node.kind() == c10::prim::ListUnpack) return unpack(node);
  const bool is_flow = is_control_flow(node);
  const OpRule* rule = is_flow ? nullptr : find_typed_rule(node, scope_.types);
  if (rule == nullptr && !is_flow && !is_structural(node)) {
    all_typed_ = false;
    for (const Value* output : node.outputs()) stand_in(output);
  }
  if (!is_flow && (rule == nullptr || rule->lower == nullptr)) return;
  if (!is_typed(node) || !reads_operands(node)) {
    all_typed_ = false;
    return;
  }
  if (!is_flow && !takes(*rule, OpArguments(node, scope_.types))) {
    all_typed_ = false;
    for (const Value* output : node.outputs()) stand_in(output);
    return;
  }
  const std::string source = source_of(node);
  builder_.set_source(source);
  const Macs macs = find_traits(node).macs;
  if ((macs == Macs::kRecurrent || macs == Macs::kCell) && !source.empty()) {
    builder_.model().recurrent_sources.insert(source);
  }
  const auto refuse = [&](const Refusal& refusal) {
    scope_.refusals.push_back(refusal);
    // Later nodes can read these operands and be checked, too. The model itself is dropped.
    for (const Value* output : node.outputs()) stand_in(output);
  };
  try {
    if (is_flow) {
      scope_.lower_flow(scope_, *this, node);
    } else {
      OpContext context(node, scope_.types, operands_, builder_, scope_.target, integer_forms(), scope_.diagnostics);
      rule->lower(context);
    }
    name_outputs(node);
  } catch (const NodeRefused& refused) {
    refuse(refused.refusal());
  } catch (const std::length_error&) {
    refuse({source, node.kind().toQualString(), "arguments that need a constant beyond all sizes", "", ""});
  }
}

// Names the operands of the node's outputs. An operand that has a name keeps it: the rule returned its input unchanged.
void BlockLowering::name_outputs(const Node& node) {
  for (const Value* output : node.outputs()) {
    const auto found = operands_.find(output);
    if (found == operands_.end() || found->second.size() != 1) continue;
    nnapi::Operand& operand = builder_.model().at(found->second[0]);
    if (operand.name.empty() && !operand.is_constant()) operand.name = output->debugName();
  }
}

void BlockLowering::unpack(const Node& node) {
  const auto found = operands_.find(node.input());
  if (found == operands_.end()) return;  // a list of sizes
  const std::vector<nnapi::OperandId> elements = found->second;
  for (size_t i = 0; i < elements.size(); ++i) operands_[node.output(i)] = {elements[i]};
  name_outputs(node);
}

void BlockLowering::stand_in(const Value* output) {
  const auto found = scope_.types.find(output);
  if (found == scope_.types.end()) return;
  TensorTypes types;
  if (const auto* list = std::get_if<TensorTypes>(&found->second)) types = *list;
  if (const auto* type = std::get_if<TensorType>(&found->second)) types = {*type};
  for (const TensorType& type : types) {
    if (has_operand_code(type.dtype)) operands_[output].push_back(builder_.variable(to_operand(type)));
  }
}

nnapi::OperandId BlockLowering::operand(const Node& reader, const Value* value) {
  OpContext context(reader, scope_.types, operands_, builder_, scope_.target, integer_forms(), scope_.diagnostics);
  return context.operand_of(value).id;
}

}  // namespace nnapi_convert
