// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/loop_trial.h"

#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <unordered_map>

#include "lib/converter/frontend/unroll_loops.h"
#include "lib/converter/graph/control_flow.h"
#include "lib/converter/graph/glue.h"
#include "lib/converter/graph/node_reads.h"

namespace nnapi_convert {
namespace {

using torch::jit::Node;
using torch::jit::Value;

// A copy of a loop's body as a separate graph, which inference may change.
class BodyCopy {
 public:
  BodyCopy(Node& loop, const TypeMap& types) : types_(types) {
    model_.graph = std::make_shared<torch::jit::Graph>();
    for_each_read(loop, [&](Value* value) {
      if (!is_made_inside(*value, loop)) map(value);
    });
    const size_t first = model_.graph->inputs().size();
    model_.graph->block()->cloneFrom(loop.blocks()[0], [this](Value* value) { return values_.at(value); });
    for (size_t i = first; i < model_.graph->inputs().size(); ++i) inputs_.push_back(model_.graph->inputs()[i]);
  }

  std::vector<Known> after(const std::vector<Known>& given, const InferTypes& infer_types) {
    for (size_t i = 0; i < given.size(); ++i) {
      if (const auto* type = std::get_if<TensorType>(&given[i])) input_types_[inputs_[i]] = *type;
      if (const auto* constant = std::get_if<c10::IValue>(&given[i])) set_constant(inputs_[i], *constant);
    }
    const TypeMap types = infer_types(model_, input_types_);
    std::vector<Known> result;
    for (const Value* output : model_.graph->outputs()) result.push_back(known_of(output, types));
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

  void set_constant(Value* input, const c10::IValue& constant) {
    torch::jit::WithInsertPoint end(model_.graph->block());
    Value* made = model_.graph->insertConstant(constant);
    made->node()->moveBefore(*model_.graph->nodes().begin());
    input->replaceAllUsesWith(made);
  }

  const TypeMap& types_;
  NormalisedModel model_;
  TypeMap input_types_;
  std::vector<Value*> inputs_;  // of the body
  std::unordered_map<const Value*, Value*> values_;
};

// Returns how many rounds may be written out: inference begins again for each loop within them.
int64_t affordable_rounds(Node& loop) {
  constexpr int64_t kMostRounds = 1000, kMostLoops = 200;
  int64_t nodes = 1, loops = 1;
  for_each_node(*loop.blocks()[0], [&](const Node& node) {
    ++nodes;
    if (node.kind() == c10::prim::Loop && !is_counted(node)) ++loops;
  });
  return std::min({kMostRounds, kMostUnrolledNodes / nodes, loops == 1 ? kMostRounds : kMostLoops / loops});
}

// Returns the number that a known condition is; nothing if it is unknown.
std::optional<bool> condition(const Known& known) {
  const auto* constant = std::get_if<c10::IValue>(&known);
  return constant != nullptr && constant->isBool() ? std::optional(constant->toBool()) : std::nullopt;
}

}  // namespace

std::optional<TensorType> known_type(const Value* value, const TypeMap& types) {
  if (value->type()->kind() != c10::TypeKind::TensorType) return std::nullopt;
  return tensor_type(value, types);
}

Known known_of(const Value* value, const TypeMap& types) {
  if (value->type()->kind() == c10::TypeKind::TensorType) {
    const auto type = known_type(value, types);
    return type ? Known(*type) : Known();
  }
  const auto constant = torch::jit::toIValue(value);
  return constant ? Known(*constant) : Known();
}

bool is_nested_too_deep(const Node& loop) {
  constexpr int kDepth = 13;  // each level doubles the work
  return has_loops_of_depth(*loop.blocks()[0], kDepth - 1);
}

std::vector<Known> after_round(Node& loop, const TypeMap& types, const std::vector<Known>& given,
                               const InferTypes& infer_types) {
  return BodyCopy(loop, types).after(given, infer_types);
}

std::optional<int64_t> tried_rounds(Node& loop, const TypeMap& types, const InferTypes& infer_types) {
  const Known most = known_of(loop.input(0), types);
  const auto* limit = std::get_if<c10::IValue>(&most);
  if (limit == nullptr || !limit->isInt() || is_nested_too_deep(loop)) return std::nullopt;
  const int64_t most_rounds = affordable_rounds(loop);
  std::vector<Known> state = {Known()};
  for (size_t i = kLoopInputs; i < loop.inputs().size(); ++i) state.push_back(known_of(loop.input(i), types));
  std::optional<bool> goes_on = condition(known_of(loop.input(1), types));
  for (int64_t round = 0; goes_on && round <= most_rounds; ++round) {
    if (!*goes_on || round >= limit->toInt()) return round;
    state[0] = c10::IValue(round);
    std::vector<Known> after = after_round(loop, types, state, infer_types);
    goes_on = condition(after[0]);
    state = std::move(after);
  }
  return std::nullopt;
}

}  // namespace nnapi_convert
