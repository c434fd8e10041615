#include "lib/converter/infer.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/passes/loop_unrolling.h>
#include <torch/csrc/jit/passes/remove_mutation.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>
#include <unordered_set>

#include "lib/base/error.h"
#include "lib/converter/closed_evaluation.h"
#include "lib/converter/control_flow.h"
#include "lib/converter/expand_composite.h"
#include "lib/converter/observe.h"
#include "lib/converter/runtime_numbers.h"
#include "lib/ops/known_refusals.h"
#include "lib/ops/registry.h"

namespace nnapi_convert {
namespace {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;

bool is_structural(const Node& node) {
  return node.kind() == c10::prim::Constant || node.kind() == c10::prim::TupleConstruct ||
         node.kind() == c10::prim::DictConstruct;
}

std::string hint_for(const Node& node) {
  if (!node.blocks().empty())
    return "control flow that depends on the input stays with PyTorch; trace the model instead, or use --control-flow "
           "nnapi, which needs --runtime shim --feature-level 4";
  const std::string kind = node.kind().toQualString();
  if (kind.back() == '_')
    return "it changes a tensor of which another view is used later; write it without the underscore";
  return "see `nnapi-convert ops` for what can be lowered";
}

class Inference {
 public:
  Inference(NormalisedModel& model, const std::vector<TensorType>& input_types, const InferOptions& options)
      : model_(model), options_(options), evaluation_(*model.graph) {
    for (size_t i = 0; i < input_types.size(); ++i) result_.types[model.inputs[i]] = input_types[i];
  }

  // Nothing where loops were unrolled: inference begins again.
  c10::optional<InferredTypes> run() {
    if (!visit_nodes(*model_.graph->block())) return c10::nullopt;
    result_.runtime_sizes = runtime_sizes_.sizes();
    return std::move(result_);
  }

 private:
  using Iterator = torch::jit::graph_node_list_iterator;

  // False where loops were unrolled.
  bool visit_nodes(Block& block) {
    for (auto it = block.nodes().begin(); it != block.nodes().end();) {
      Node* node = *it;
      if (node->kind() == c10::prim::If && torch::jit::toIValue(node->input(0))) {
        it = inline_branch(node);
        continue;
      }
      if (node->kind() == c10::prim::Loop && torch::jit::toIValue(node->input(0)) && unroll()) return false;
      Node* previous = node->prev();
      if (!options_.keeps_numbers && replace_by_tensors(node)) {
        it = std::next(previous->iterator());
        continue;
      }
      if (expand(node)) {
        it = std::next(previous->iterator());
        continue;
      }
      ++it;
      if (options_.control_flow == ControlFlow::kNnapi && is_control_flow(*node)) {
        if (!visit_control_flow(node)) return false;
      } else {
        visit(node);
      }
    }
    return true;
  }

  bool replace_by_tensors(Node* node) {
    Value* replacement = replacement_on_tensors(node, result_.types);
    if (replacement == nullptr) return false;
    replace(node->output(), replacement);
    node->destroy();
    return true;
  }

  // What has no rule may be made of operations that have.
  bool expand(Node* node) {
    if (is_structural(*node) || find_typed_rule(*node, result_.types) != nullptr || known_refusal(*node) != nullptr) {
      return false;
    }
    const std::vector<Value*> values = expand_composite(*node, result_.types);
    for (size_t i = 0; i < values.size(); ++i) {
      take_apart_list(*node->output(i), *values[i]->node());
      replace(node->output(i), values[i]);
    }
    if (!values.empty()) node->destroy();
    return !values.empty();
  }

  void take_apart_list(const Value& output, const Node& list) {
    if (list.kind() != c10::prim::ListConstruct) return;
    std::vector<Node*> unpacks;
    for (const torch::jit::Use& use : output.uses()) {
      const bool fits = use.user->outputs().size() == list.inputs().size();
      if (fits && use.user->kind() == c10::prim::ListUnpack) unpacks.push_back(use.user);
    }
    for (Node* unpack : unpacks) {
      for (size_t i = 0; i < list.inputs().size(); ++i) replace(unpack->output(i), const_cast<Value*>(list.input(i)));
      unpack->destroy();
    }
  }

  // False where loops were unrolled.
  bool visit_control_flow(Node* node) {
    if (any_failed(node->inputs())) {
      failed(*node);
      return true;
    }
    if (const auto refusal = begin_control_flow(node, result_.types)) {
      refused(*node, *refusal);
      return true;
    }
    bool blocks_failed = false;
    for (Block* block : node->blocks()) {
      const size_t refusals = result_.refusals.size();
      if (!visit_nodes(*block)) return false;
      blocks_failed = blocks_failed || refusals != result_.refusals.size() || any_failed(block->outputs());
    }
    if (blocks_failed) {
      failed(*node);
    } else if (const auto refusal = end_control_flow(node, result_.types)) {
      refused(*node, *refusal);
    }
    return true;
  }

  template <typename Values>
  bool any_failed(const Values& values) const {
    return std::any_of(values.begin(), values.end(), [&](const Value* value) { return failed_.count(value) != 0; });
  }

  void refused(const Node& node, const Refusal& refusal) {
    result_.refusals.push_back(refusal);
    failed(node);
  }

  // Loops whose number of rounds turned out to be known. The model's outputs are kept by those of the graph meanwhile.
  bool unroll() {
    const size_t first = model_.graph->outputs().size();
    for (Value* output : model_.outputs) model_.graph->registerOutput(output);
    const bool any = torch::jit::UnrollConstantLoops(model_.graph);
    if (any) torch::jit::RemoveListMutation(model_.graph);
    for (size_t i = 0; i < model_.outputs.size(); ++i) model_.outputs[i] = model_.graph->outputs()[first + i];
    while (model_.graph->outputs().size() > first) model_.graph->eraseOutput(first);
    return any;
  }

  // Moves the nodes of the chosen block of a prim::If with a constant condition before it; gives the first of them.
  Iterator inline_branch(Node* node) {
    Block* block = node->blocks()[torch::jit::toIValue(node->input(0))->toBool() ? 0 : 1];
    Node* previous = node->prev();
    while (block->nodes().begin() != block->nodes().end()) (*block->nodes().begin())->moveBefore(node);
    for (size_t i = 0; i < node->outputs().size(); ++i) replace(node->output(i), block->outputs()[i]);
    node->destroy();
    return std::next(previous->iterator());
  }

  void replace(Value* from, Value* to) {
    std::replace(model_.outputs.begin(), model_.outputs.end(), from, to);
    from->replaceAllUsesWith(to);
  }

  void replace(Value* output, const c10::IValue& constant) {
    torch::jit::WithInsertPoint here(output->node());
    replace(output, model_.graph->insertConstant(constant));
  }

  // True if the node is known without being run on the device, and gone.
  bool evaluate(Node* node) {
    std::vector<Value*> constants;
    if (const auto property = property_of(*node, result_.types)) {
      replace(node->output(), *property);
    } else if (evaluation_.run(*node, result_.types, constants)) {
      for (size_t i = 0; i < constants.size(); ++i) replace(node->output(i), constants[i]);
    } else {
      return false;
    }
    node->destroy();
    return true;
  }

  // A tuple that a branch made, known only once the branch was chosen.
  bool take_apart(Node* node) {
    const bool is_index = node->kind() == c10::prim::TupleIndex;
    if (!is_index && node->kind() != c10::prim::TupleUnpack) return false;
    const Node* tuple = node->input(0)->node();
    if (tuple->kind() != c10::prim::TupleConstruct) return false;
    const auto size = static_cast<int64_t>(tuple->inputs().size());
    for (size_t i = 0; i < node->outputs().size(); ++i) {
      const int64_t index = is_index ? torch::jit::toIValue(node->input(1))->toInt() : static_cast<int64_t>(i);
      replace(node->output(i), const_cast<Value*>(tuple->input(static_cast<size_t>((index + size) % size))));
    }
    node->destroy();
    return true;
  }

  void visit(Node* node) {
    if (is_structural(*node) || take_apart(node) || evaluate(node)) return;
    evaluation_.keep(*node);
    if (node->kind() == c10::prim::ListConstruct) return visit_list(*node);
    if (node->kind() == c10::prim::ListUnpack) return visit_unpack(*node);
    visit_operator(*node);
    replace_fixed_sizes(node);
  }

  // Sizes that are open in a graph that TorchScript runs: no rule may take one to be equal to another.
  bool visit_open_sizes(const Node& node) {
    if (!options_.keeps_numbers || (!has_open_sizes(node, result_.types) && !any_failed(node.inputs()))) return false;
    const auto types = runtime_sizes_.types_of(node, result_.types);
    if (!types) {
      failed(node);
    } else {
      for (size_t i = 0; i < types->size(); ++i) result_.types[node.output(i)] = (*types)[i];
    }
    return true;
  }

  void visit_operator(const Node& node) {
    if (visit_open_sizes(node)) return;
    const OpRule* rule = find_typed_rule(node, result_.types);
    if (rule == nullptr) refuse_unknown(node);
    if (any_failed(node.inputs())) return failed(node);
    if (rule == nullptr) return observe(node);
    try {
      std::vector<ValueType> types = rule->shape(OpArguments(node, result_.types));
      NNC_ASSERT(types.size() == node.outputs().size(), node.kind().toQualString());
      for (size_t i = 0; i < types.size(); ++i) result_.types[node.output(i)] = std::move(types[i]);
    } catch (const NodeRefused& error) {
      result_.refusals.push_back(error.refusal());
      observe(node);
    }
  }

  // What is refused stays on the CPU; what comes after it may not.
  void observe(const Node& node) {
    const auto types = observed_types(node, result_.types);
    if (!types) return failed(node);
    for (size_t i = 0; i < types->size(); ++i) result_.types[node.output(i)] = (*types)[i];
  }

  // Sizes that turn out to be numbers are constants for what follows.
  void replace_fixed_sizes(Node* node) {
    for (Value* output : node->outputs()) {
      const auto found = result_.types.find(output);
      const Dims* sizes = found == result_.types.end() ? nullptr : std::get_if<Dims>(&found->second);
      if (sizes != nullptr && all_fixed(*sizes)) replace(output, sizes_constant(*output, fixed_values(*sizes)));
    }
  }

  // A list of sizes is typed; a list of tensors is read in place by the rules that take one.
  void visit_list(const Node& node) {
    const auto inputs = node.inputs();
    if (any_failed(inputs)) return failed(node);
    if (node.output()->type()->cast<c10::ListType>()->getElementType()->kind() != c10::TypeKind::IntType) return;
    Dims sizes;
    for (const Value* input : inputs) {
      if (const auto constant = torch::jit::toIValue(input)) {
        sizes.emplace_back(constant->toInt());
        continue;
      }
      const auto found = result_.types.find(input);
      const Dims* size = found == result_.types.end() ? nullptr : std::get_if<Dims>(&found->second);
      if (size == nullptr || size->size() != 1) {
        return refused(node, {source_of(node), node.kind().toQualString(),
                              "a size %" + input->debugName() + " that depends on what tensors hold",
                              "sizes that depend on the inputs' sizes only", ""});
      }
      sizes.push_back((*size)[0]);
    }
    result_.types[node.output()] = std::move(sizes);
  }

  // A list comes apart: one of sizes, or of tensors that a rule has typed one by one.
  void visit_unpack(const Node& node) {
    if (failed_.count(node.input())) return failed(node);
    const auto found = result_.types.find(node.input());
    const size_t count = node.outputs().size();
    std::vector<ValueType> elements;
    if (found != result_.types.end()) {
      if (const auto* tensors = std::get_if<TensorTypes>(&found->second)) {
        elements.assign(tensors->begin(), tensors->end());
      } else if (const auto* sizes = std::get_if<Dims>(&found->second)) {
        for (const Dim& size : *sizes) elements.emplace_back(Dims{size});
      }
    }
    if (elements.size() != count) {
      refuse_unknown(node);
      return failed(node);
    }
    for (size_t i = 0; i < count; ++i) result_.types[node.output(i)] = std::move(elements[i]);
  }

  void refuse_unknown(const Node& node) {
    if (const KnownRefusal* known = known_refusal(node)) {
      result_.refusals.push_back(
          {source_of(node), node.kind().toQualString(), known->found, known->needed, known->hint});
      return;
    }
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
  InferOptions options_;
  ClosedEvaluation evaluation_;
  RuntimeSizes runtime_sizes_;
  InferredTypes result_;
  std::unordered_set<const Value*> failed_;
};

std::string type_text(const ValueType& type) {
  if (const auto* tensor = std::get_if<TensorType>(&type)) return to_text(*tensor);
  if (const auto* sizes = std::get_if<Dims>(&type)) return "sizes " + to_text(*sizes);
  std::string text;
  for (const TensorType& tensor : std::get<TensorTypes>(type)) text += (text.empty() ? "" : ", ") + to_text(tensor);
  return "[" + text + "]";
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

InferredTypes infer(NormalisedModel& model, const std::vector<TensorType>& input_types, const InferOptions& options) {
  for (;;) {
    if (auto types = Inference(model, input_types, options).run()) return std::move(*types);
  }
}

namespace {

// The nodes of a block and of those in it.
class GraphText {
 public:
  explicit GraphText(const TypeMap& types) : types_(types) {}

  std::string value(const Value* value) const {
    const auto found = types_.find(value);
    return "%" + value->debugName() + (found == types_.end() ? "" : ": " + type_text(found->second));
  }

  std::string nodes(const Block& block, const std::string& indent) const {
    std::string text;
    for (const Node* node : block.nodes()) {
      if (node->kind() != c10::prim::Constant) text += indent + node_text(*node) + blocks(*node, indent + "  ");
    }
    return text;
  }

 private:
  std::string node_text(const Node& node) const {
    std::string line;
    for (const Value* output : node.outputs()) line += (line.empty() ? "" : ", ") + value(output);
    line += fmt::format(" = {}(", node.kind().toQualString());
    for (size_t i = 0; i < node.inputs().size(); ++i) line += (i ? ", " : "") + input_text(node.input(i));
    return line + ")\n";
  }

  std::string blocks(const Node& node, const std::string& indent) const {
    std::string text;
    for (const Block* block : node.blocks()) {
      text += indent + "block";
      for (const Value* input : block->inputs()) text += " " + value(input);
      text += "\n" + nodes(*block, indent) + indent + "gives";
      for (const Value* output : block->outputs()) text += " " + input_text(output);
      text += "\n";
    }
    return text;
  }

  const TypeMap& types_;
};

}  // namespace

std::string to_text(const NormalisedModel& model, const TypeMap& types) {
  const GraphText graph(types);
  std::string text;
  for (const Value* input : model.inputs) text += "input " + graph.value(input) + "\n";
  text += graph.nodes(*model.graph->block(), "");
  for (const Value* output : model.outputs) text += "output %" + output->debugName() + "\n";
  return text;
}

}  // namespace nnapi_convert
