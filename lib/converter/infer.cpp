#include "lib/converter/infer.h"

#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>
#include <unordered_set>

#include "lib/base/error.h"
#include "lib/ops/registry.h"

namespace nnapi_convert {
namespace {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;

bool is_structural(const Node& node) {
  return node.kind() == c10::prim::Constant || node.kind() == c10::prim::TupleConstruct;
}

std::string hint_for(const Node& node) {
  if (!node.blocks().empty())
    return "control flow that depends on the input has no NNAPI form yet; trace the model instead";
  const std::string kind = node.kind().toQualString();
  if (kind.back() == '_')
    return "it changes a tensor of which another view is used later; write it without the underscore";
  return "see `nnapi-convert ops` for what can be lowered";
}

class Inference {
 public:
  Inference(NormalisedModel& model, const std::vector<TensorType>& input_types) : model_(model) {
    for (size_t i = 0; i < input_types.size(); ++i) result_.types[model.inputs[i]] = input_types[i];
  }

  InferredTypes run() {
    inline_known_branches();
    for (Node* node : model_.graph->nodes()) visit(*node);
    return std::move(result_);
  }

 private:
  // Moves the nodes of the chosen block of each prim::If with a constant condition before it, until none is left.
  void inline_known_branches() {
    for (auto it = model_.graph->nodes().begin(); it != model_.graph->nodes().end();) {
      Node* node = *it;
      const auto condition =
          node->kind() == c10::prim::If ? torch::jit::toIValue(node->input(0)) : c10::optional<c10::IValue>();
      if (!condition) {
        ++it;
        continue;
      }
      Block* block = node->blocks()[condition->toBool() ? 0 : 1];
      Node* previous = node->prev();
      while (block->nodes().begin() != block->nodes().end()) (*block->nodes().begin())->moveBefore(node);
      for (size_t i = 0; i < node->outputs().size(); ++i) {
        std::replace(model_.outputs.begin(), model_.outputs.end(), node->output(i), block->outputs()[i]);
        node->output(i)->replaceAllUsesWith(block->outputs()[i]);
      }
      node->destroy();
      it = std::next(previous->iterator());
    }
  }

  void visit(Node& node) {
    if (is_structural(node)) return;
    if (node.kind() == c10::prim::ListConstruct) return visit_list(node);
    if (node.kind() == c10::prim::ListUnpack) return visit_unpack(node);
    const auto outputs = node.outputs();
    if (std::any_of(node.inputs().begin(), node.inputs().end(), [&](Value* value) { return failed_.count(value); })) {
      const OpRule* rule = find_rule(node);
      if (rule == nullptr) refuse_unknown(node);
      return failed(node);
    }
    const OpRule* rule = find_rule(node);
    if (rule == nullptr) {
      refuse_unknown(node);
      return failed(node);
    }
    try {
      std::vector<ValueType> types = rule->shape(OpArguments(node, result_.types));
      NNC_ASSERT(types.size() == outputs.size(), node.kind().toQualString());
      for (size_t i = 0; i < types.size(); ++i) result_.types[outputs[i]] = std::move(types[i]);
    } catch (const NodeRefused& refused) {
      result_.refusals.push_back(refused.refusal());
      failed(node);
    }
  }

  // A list of sizes is typed; a list of tensors is read in place by the rules that take one.
  void visit_list(Node& node) {
    const auto inputs = node.inputs();
    if (std::any_of(inputs.begin(), inputs.end(), [&](Value* value) { return failed_.count(value) != 0; })) {
      return failed(node);
    }
    if (node.output()->type()->cast<c10::ListType>()->getElementType()->kind() != c10::TypeKind::IntType) return;
    Dims sizes;
    for (const Value* input : inputs) {
      if (const auto constant = torch::jit::toIValue(input)) {
        sizes.emplace_back(constant->toInt());
        continue;
      }
      const auto found = result_.types.find(input);
      const Dims* size = found == result_.types.end() ? nullptr : std::get_if<Dims>(&found->second);
      if (size == nullptr || size->size() != 1) return failed(node);
      sizes.push_back((*size)[0]);
    }
    result_.types[node.output()] = std::move(sizes);
  }

  // A list of sizes comes apart; another list was refused where it was made, or is refused here.
  void visit_unpack(const Node& node) {
    if (failed_.count(node.input())) return failed(node);
    const auto found = result_.types.find(node.input());
    const Dims* sizes = found == result_.types.end() ? nullptr : std::get_if<Dims>(&found->second);
    if (sizes == nullptr || sizes->size() != node.outputs().size()) {
      refuse_unknown(node);
      return failed(node);
    }
    const Dims values = *sizes;  // a copy: the map grows
    for (size_t i = 0; i < values.size(); ++i) result_.types[node.output(i)] = Dims{values[i]};
  }

  void refuse_unknown(const Node& node) {
    const c10::FunctionSchema* schema = node.maybeSchema();
    const std::string found =
        schema != nullptr
            ? "no rule for " + schema->name() + (schema->overload_name().empty() ? "" : "." + schema->overload_name())
            : std::string("no rule for this node");
    result_.refusals.push_back({source_of(node), node.kind().toQualString(), found, "", hint_for(node)});
  }

  void failed(const Node& node) {
    for (const Value* output : node.outputs()) failed_.insert(output);
  }

  NormalisedModel& model_;
  InferredTypes result_;
  std::unordered_set<const Value*> failed_;
};

std::string type_text(const ValueType& type) {
  if (const auto* tensor = std::get_if<TensorType>(&type)) return to_text(*tensor);
  return "sizes " + to_text(std::get<Dims>(type));
}

std::string input_text(const Value* value) {
  const auto constant = torch::jit::toIValue(value);
  if (!constant) return "%" + value->debugName();
  if (constant->isTensor()) {
    const at::Tensor& tensor = constant->toTensor();
    return fmt::format("{}[{}]", dtype_name(tensor.scalar_type()), fmt::join(tensor.sizes(), ", "));
  }
  if (constant->isObject() || constant->isCustomClass()) return "object";
  std::ostringstream stream;
  stream << *constant;
  return stream.str();
}

}  // namespace

InferredTypes infer(NormalisedModel& model, const std::vector<TensorType>& input_types) {
  return Inference(model, input_types).run();
}

std::string to_text(const NormalisedModel& model, const TypeMap& types) {
  std::string text;
  const auto describe = [&](const Value* value) {
    const auto found = types.find(value);
    return "%" + value->debugName() + (found == types.end() ? "" : ": " + type_text(found->second));
  };
  for (const Value* input : model.inputs) text += "input " + describe(input) + "\n";
  for (const Node* node : model.graph->nodes()) {
    if (node->kind() == c10::prim::Constant) continue;
    std::string line;
    for (const Value* output : node->outputs()) line += (line.empty() ? "" : ", ") + describe(output);
    line += fmt::format(" = {}(", node->kind().toQualString());
    for (size_t i = 0; i < node->inputs().size(); ++i) line += (i ? ", " : "") + input_text(node->input(i));
    text += line + ")\n";
  }
  for (const Value* output : model.outputs) text += "output %" + output->debugName() + "\n";
  return text;
}

}  // namespace nnapi_convert
