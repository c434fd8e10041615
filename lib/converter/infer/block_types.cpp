#include "lib/converter/infer/block_types.h"

#include <torch/csrc/jit/ir/constants.h>

#include <unordered_map>

#include "lib/converter/graph/control_flow.h"
#include "lib/converter/graph/glue.h"
#include "lib/converter/graph/node_reads.h"

namespace nnapi_convert {
namespace {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;

std::optional<TensorType> known_type(const Value* value, const TypeMap& types) {
  if (value->type()->kind() != c10::TypeKind::TensorType) return std::nullopt;
  return tensor_type(value, types);
}

// True for a value that no run reads: its branch raises an error or leaves the loop.
bool is_uninitialized(const Value& value) {
  const Node& maker = *value.node();
  if (maker.kind() != c10::prim::If) return maker.kind() == c10::prim::Uninitialized;
  const auto blocks = maker.blocks();
  return std::all_of(blocks.begin(), blocks.end(),
                     [&](const Block* block) { return is_uninitialized(*block->outputs()[value.offset()]); });
}

// A copy of a loop's body as a separate graph, which inference may change.
class BodyCopy {
 public:
  BodyCopy(Node& loop, const TypeMap& types) : types_(types) {
    model_.graph = std::make_shared<torch::jit::Graph>();
    Block* body = loop.blocks()[0];
    for_each_read(loop, [&](Value* value) {
      if (!is_made_inside(*value, loop)) map(value);
    });
    const size_t first = model_.graph->inputs().size();
    model_.graph->block()->cloneFrom(body, [this](Value* value) { return values_.at(value); });
    for (size_t i = first; i < model_.graph->inputs().size(); ++i) inputs_.push_back(model_.graph->inputs()[i]);
  }

  // Returns the types of the body's results if it takes values of the types `carried`.
  KnownTypes types_after(const KnownTypes& carried, const InferTypes& infer_types) {
    for (size_t i = 0; i < carried.size(); ++i) {
      if (carried[i]) input_types_[inputs_[i + kBodyInputs]] = *carried[i];
    }
    const TypeMap types = infer_types(model_, input_types_);
    KnownTypes result;
    const auto outputs = model_.graph->outputs();
    for (size_t i = kBodyOutputs; i < outputs.size(); ++i) result.push_back(known_type(outputs[i], types));
    return result;
  }

 private:
  // Copies constants and glue into the graph; makes other values its inputs.
  void map(Value* value) {
    if (values_.count(value) != 0) return;
    Node* maker = value->node();
    if (maker->kind() == c10::prim::Constant || maker->kind() == c10::prim::Uninitialized || is_glue(*maker)) {
      for (Value* input : maker->inputs()) map(input);
      Node* clone = model_.graph->createClone(maker, [this](Value* each) { return values_.at(each); });
      values_[value] = model_.graph->insertNode(clone)->output();
      return;
    }
    Value* input = model_.graph->addInput();
    input->setType(value->type());
    values_[value] = input;
    const auto found = types_.find(value);
    if (found != types_.end()) input_types_[input] = found->second;
  }

  const TypeMap& types_;
  NormalisedModel model_;
  TypeMap input_types_;
  std::vector<Value*> inputs_;  // of the body
  std::unordered_map<const Value*, Value*> values_;
};

}  // namespace

bool same_type(const TensorType& a, const TensorType& b) {
  return a.dtype == b.dtype && a.dims == b.dims && a.quantization == b.quantization;
}

KnownTypes carried_types(Node& loop, const TypeMap& types, const InferTypes& infer_types) {
  KnownTypes carried;
  for (size_t i = kLoopInputs; i < loop.inputs().size(); ++i) carried.push_back(known_type(loop.input(i), types));
  for (bool is_fixed = false; !is_fixed;) {  // each round but the last one makes a type unknown
    is_fixed = true;
    const KnownTypes after = BodyCopy(loop, types).types_after(carried, infer_types);
    for (size_t i = 0; i < carried.size(); ++i) {
      if (!carried[i] || (after[i] && same_type(*carried[i], *after[i]))) continue;
      carried[i].reset();
      is_fixed = false;
    }
  }
  carried.insert(carried.begin(), std::nullopt);
  return carried;
}

KnownTypes carried_by(const Node& loop, const TypeMap& types) {
  KnownTypes result;
  const auto inputs = loop.blocks()[0]->inputs();
  for (size_t i = kBodyInputs; i < inputs.size(); ++i) result.push_back(known_type(inputs[i], types));
  return result;
}

KnownTypes branch_types(const Node& branch, const TypeMap& types) {
  KnownTypes result;
  for (size_t i = 0; i < branch.outputs().size(); ++i) {
    std::optional<TensorType> common;
    bool agree = true;
    for (const Block* block : branch.blocks()) {
      const Value* output = block->outputs()[i];
      if (is_uninitialized(*output)) continue;
      const auto type = known_type(output, types);
      agree = agree && type && (!common || same_type(*common, *type));
      common = type;
    }
    result.push_back(agree ? common : std::nullopt);
  }
  return result;
}

}  // namespace nnapi_convert
