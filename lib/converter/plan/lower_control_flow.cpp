// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/plan/lower_control_flow.h"

#include <torch/csrc/jit/ir/constants.h>

#include <memory>
#include <unordered_set>

#include "lib/base/error.h"
#include "lib/converter/graph/control_flow.h"

namespace nnapi_convert {
namespace {

using nnapi::OperandId;
using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;

// The captures: values that blocks read and that nodes outside the blocks make, in the order of their first readers.
class Captures {
 public:
  explicit Captures(const OperandMap& outer) : outer_(outer) {}

  void add_block(const Block& block) {
    for (const Node* node : block.nodes()) {
      for (const Value* input : node->inputs()) add(input);
      for (const Block* inner : node->blocks()) add_block(*inner);
    }
    for (const Value* output : block.outputs()) add(output);
  }

  // Adds a value if it has outer operands. A value without them is a constant, a size, or made inside the blocks.
  void add(const Value* value) {
    if (!seen_.insert(value).second) return;
    if (value->node()->kind() == c10::prim::ListConstruct && outer_.count(value) == 0) {
      for (const Value* element : value->node()->inputs()) add(element);
    }
    if (outer_.count(value) != 0 && !torch::jit::toIValue(value)) values_.push_back(value);
  }

  const std::vector<const Value*>& values() const { return values_; }

 private:
  const OperandMap& outer_;
  std::unordered_set<const Value*> seen_;
  std::vector<const Value*> values_;
};

// Builds one subgraph.
class SubgraphLowering {
 public:
  SubgraphLowering(const LoweringScope& scope, const std::string& source)
      : model_(std::make_shared<nnapi::Model>()), lowering_(scope, *model_) {
    model_->is_subgraph = true;
    builder().set_source(source);
  }

  const nnapi::Subgraph& model() const { return model_; }
  BlockLowering& lowering() { return lowering_; }
  nnapi::Builder& builder() { return lowering_.builder(); }

  OperandId add_input(nnapi::Operand type) {
    type.channels = nullptr;
    type.value = {};
    const OperandId id = builder().variable(std::move(type));
    model_->inputs.push_back({id});
    return id;
  }

  void add_output(OperandId id) { model_->outputs.push_back({id}); }

 private:
  nnapi::Subgraph model_;
  BlockLowering lowering_;
};

nnapi::Operand scalar(at::ScalarType dtype) {
  return to_operand({dtype, {}, {}});
}

// Lowers one prim::If or prim::Loop. The inputs of subgraphs are their own operands first, then the captures.
class ControlFlowLowering {
 public:
  ControlFlowLowering(const LoweringScope& scope, BlockLowering& outer, const Node& node)
      : scope_(scope), outer_(outer), node_(node), captures_(outer.operands()) {}

  void lower_if() {
    for (const Block* block : node_.blocks()) captures_.add_block(*block);
    const OperandId condition = outer_.operand(node_, node_.input(0));
    std::vector<OperandId> captured = captured_operands();
    const bool reads_nothing = captured.empty();
    if (reads_nothing) captured.push_back(condition);  // each subgraph needs an input for drivers to take it
    std::vector<OperandId> inputs{condition};
    for (const Block* block : node_.blocks()) {
      SubgraphLowering branch(scope_, source_of(node_));
      capture(branch);
      if (reads_nothing) branch.add_input(outer_.builder().model().at(condition));
      branch.lowering().lower_nodes(*block);
      for (const Value* output : block->outputs()) branch.add_output(branch.lowering().operand(node_, output));
      inputs.push_back(reference(branch));
    }
    inputs.insert(inputs.end(), captured.begin(), captured.end());
    emit(OperationCode::IF, std::move(inputs));
  }

  // Lowers a loop to WHILE. Its state: the carried values, the condition unless it is always true, and the counter if
  // it can end the loop or a node reads it. Its other inputs are the captures, with a computed number of rounds.
  void lower_loop() {
    const Block& body = *node_.blocks()[0];
    captures_.add_block(body);
    if (!constant_rounds(node_)) captures_.add(node_.input(0));
    has_condition_ = !is_always_true(node_.input(1)) || !is_always_true(body.outputs()[0]);
    has_counter_ = !has_unlimited_rounds(node_) || !body.inputs()[0]->uses().empty();
    NNC_ASSERT(has_condition_ || !has_unlimited_rounds(node_), "a loop that never ends");
    std::vector<OperandId> inputs(2);
    for (size_t i = kLoopInputs; i < node_.inputs().size(); ++i)
      inputs.push_back(outer_.operand(node_, node_.input(i)));
    if (has_condition_) inputs.push_back(condition_of(outer_, node_.input(1)));
    if (has_counter_) inputs.push_back(outer_.builder().int32_tensor({Dim(0)}));
    inputs[0] = condition_model();
    inputs[1] = body_model(body);
    const std::vector<OperandId> captured = captured_operands();
    inputs.insert(inputs.end(), captured.begin(), captured.end());
    emit(OperationCode::WHILE, std::move(inputs));
  }

 private:
  // The operands of a loop's subgraphs that stand between the carried values and the captures.
  struct LoopState {
    OperandId condition = -1, counter = -1;
  };

  static bool is_always_true(const Value* value) {
    const auto constant = torch::jit::toIValue(value);
    return constant && constant->isBool() && constant->toBool();
  }

  void capture(SubgraphLowering& subgraph) {
    const nnapi::Model& model = outer_.builder().model();
    for (const Value* value : captures_.values()) {
      std::vector<OperandId>& ids = subgraph.lowering().operands()[value];
      for (const OperandId id : outer_.operands().at(value)) {
        const nnapi::Operand& operand = model.at(id);
        ids.push_back(operand.is_constant() ? subgraph.builder().model().add(operand) : subgraph.add_input(operand));
      }
    }
  }

  std::vector<OperandId> captured_operands() const {
    const nnapi::Model& model = outer_.builder().model();
    std::vector<OperandId> result;
    for (const Value* value : captures_.values()) {
      for (const OperandId id : outer_.operands().at(value)) {
        if (!model.at(id).is_constant()) result.push_back(id);
      }
    }
    return result;
  }

  OperandId reference(const SubgraphLowering& subgraph) {
    return outer_.builder().model().add({OperandCode::MODEL, {}, 0, 0, subgraph.model()});
  }

  // Adds the inputs of a subgraph for the loop's state, with the types of the node's outputs.
  LoopState add_state(SubgraphLowering& subgraph) {
    const Block& body = *node_.blocks()[0];
    for (size_t i = 0; i < node_.outputs().size(); ++i) {
      const Value* carried = body.inputs()[i + kBodyInputs];
      subgraph.lowering().operands()[carried] = {subgraph.add_input(operand_type(carried))};
    }
    LoopState state;
    if (has_condition_) state.condition = subgraph.add_input(scalar(at::kBool));
    if (has_counter_) state.counter = subgraph.add_input(scalar(at::kLong));
    return state;
  }

  nnapi::Operand operand_type(const Value* value) const {
    return to_operand(std::get<TensorType>(scope_.types.at(value)));
  }

  OperandId condition_of(BlockLowering& lowering, const Value* value) {
    const auto constant = torch::jit::toIValue(value);
    if (!constant || !constant->isBool()) return lowering.operand(node_, value);
    const auto byte = std::make_shared<const uint8_t>(constant->toBool() ? 1 : 0);
    return lowering.builder().tensor({nnapi::DataType::kBool, {1}, byte.get(), byte});
  }

  OperandId condition_model() {
    SubgraphLowering subgraph(scope_, source_of(node_));
    const LoopState state = add_state(subgraph);
    capture(subgraph);
    nnapi::Builder& builder = subgraph.builder();
    OperandId result = state.condition;
    if (!has_unlimited_rounds(node_)) {
      const OperandId limit = rounds_in(subgraph);
      const OperandId is_below = builder.add(OperationCode::LESS, {state.counter, limit}, scalar(at::kBool));
      result =
          has_condition_ ? builder.add(OperationCode::LOGICAL_AND, {is_below, result}, scalar(at::kBool)) : is_below;
    }
    subgraph.add_output(result);
    return reference(subgraph);
  }

  OperandId rounds_in(SubgraphLowering& subgraph) const {
    if (const auto rounds = constant_rounds(node_)) return subgraph.builder().int32_tensor({Dim(*rounds)});
    if (const Dim* size = rounds_of_size(node_, scope_.types)) return subgraph.builder().int32_tensor({*size});
    return subgraph.lowering().operands().at(node_.input(0)).at(0);
  }

  OperandId body_model(const Block& body) {
    SubgraphLowering subgraph(scope_, source_of(node_));
    const LoopState state = add_state(subgraph);
    if (has_counter_) subgraph.lowering().operands()[body.inputs()[0]] = {state.counter};
    capture(subgraph);
    subgraph.lowering().lower_nodes(body);
    for (size_t i = kBodyOutputs; i < body.outputs().size(); ++i) {
      subgraph.add_output(subgraph.lowering().operand(node_, body.outputs()[i]));
    }
    if (has_condition_) subgraph.add_output(condition_of(subgraph.lowering(), body.outputs()[0]));
    if (has_counter_) {
      nnapi::Builder& builder = subgraph.builder();
      builder.set_source(source_of(node_));
      const OperandId none = builder.int32(static_cast<int64_t>(FuseCode::NONE));
      subgraph.add_output(
          builder.add(OperationCode::ADD, {state.counter, builder.int32_tensor({Dim(1)}), none}, scalar(at::kLong)));
    }
    return reference(subgraph);
  }

  void emit(OperationCode code, std::vector<OperandId> inputs) {
    std::vector<nnapi::Operand> outputs;
    for (const Value* output : node_.outputs()) outputs.push_back(operand_type(output));
    outer_.builder().set_source(source_of(node_));
    const std::vector<OperandId> ids = outer_.builder().add(code, std::move(inputs), std::move(outputs));
    for (size_t i = 0; i < ids.size(); ++i) outer_.operands()[node_.output(i)] = {ids[i]};
  }

  const LoweringScope& scope_;
  BlockLowering& outer_;
  const Node& node_;
  Captures captures_;
  bool has_condition_ = false;
  bool has_counter_ = false;
};

}  // namespace

void lower_control_flow(const LoweringScope& scope, BlockLowering& outer, const TorchNode& node) {
  ControlFlowLowering lowering(scope, outer, node);
  node.kind() == c10::prim::Loop ? lowering.lower_loop() : lowering.lower_if();
}

}  // namespace nnapi_convert
