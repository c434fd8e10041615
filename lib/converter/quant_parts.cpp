#include "lib/converter/quant_parts.h"

#include <fmt/format.h>
#include <torch/csrc/jit/ir/alias_analysis.h>

#include <algorithm>
#include <unordered_set>

#include "lib/base/error.h"
#include "lib/converter/cpu_reason.h"
#include "lib/converter/node_reads.h"
#include "lib/converter/normalise.h"
#include "lib/converter/quant_mode.h"

namespace nnapi_convert {
namespace {

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

const c10::Symbol kQuantize = c10::Symbol::fromQualString("aten::quantize_per_tensor");
const c10::Symbol kDequantize = c10::Symbol::fromQualString("aten::dequantize");

c10::Symbol cpu_attribute() {
  static const c10::Symbol symbol = c10::Symbol::attr("nnapi_quantises_on_cpu");
  return symbol;
}

const TensorType* type_of(const Value& value, const TypeMap& types) {
  const auto found = types.find(&value);
  return found == types.end() ? nullptr : std::get_if<TensorType>(&found->second);
}

// Callers and the graph must not share what the graph changes in place, or keeps for the next call: quantize and
// dequantize make a tensor of their own, and a copy takes their place.
class Copies {
 public:
  Copies(NormalisedModel& model, TypeMap& types) : model_(model), types_(types) {
    for_each_node(*model.graph, [this](Node& node) {
      const c10::FunctionSchema* schema = const_cast<const Node&>(node).maybeSchema();
      keeps_ = keeps_ || node.kind() == c10::prim::SetAttr;
      changes_ = changes_ || (schema != nullptr && schema->is_mutable());
    });
  }

  void insert() {
    if (!keeps_ && !changes_) return;
    const torch::jit::AliasDb aliases(model_.graph);
    std::vector<Node*> quantised, dequantised;
    const auto may_change = [&](const Value* value) { return keeps_ || aliases.hasWriters(value); };
    for (const Value* input : model_.inputs) {
      for (const torch::jit::Use& use : input->uses()) {
        if (use.user->kind() == kQuantize && may_change(use.user->output())) quantised.push_back(use.user);
      }
    }
    for (const Value* output : model_.outputs) {
      Node* node = const_cast<Node*>(output->node());
      const bool is_new = std::find(dequantised.begin(), dequantised.end(), node) == dequantised.end();
      if (is_new && node->kind() == kDequantize && may_change(node->input(0))) dequantised.push_back(node);
    }
    for (Node* node : quantised) copy_result(node);
    for (Node* node : dequantised) copy_input(node);
  }

 private:
  Node* copy_of(Value* value, Node* behind) {
    Graph& graph = *model_.graph;
    Node* none = graph.createNone()->insertAfter(behind);
    Node* copy = graph.create(c10::aten::clone, {value, none->output()}, 1)->insertAfter(none);
    copy->setSourceRange(behind->sourceRange());
    if (const TensorType* type = type_of(*value, types_)) types_[copy->output()] = TensorType(*type);
    return copy;
  }

  void copy_result(Node* node) {
    Node* copy = copy_of(node->output(), node);
    node->output()->replaceAllUsesAfterNodeWith(copy, copy->output());
    std::replace(model_.outputs.begin(), model_.outputs.end(), node->output(), copy->output());
  }

  // Where dequantize is: changes may come before and after it.
  void copy_input(Node* node) { node->replaceInput(0, copy_of(node->input(0), node->prev())->output()); }

  NormalisedModel& model_;
  TypeMap& types_;
  bool keeps_ = false, changes_ = false;
};

// Whether a value of unknown type may be a quantised tensor as the model runs, or hold one.
class QuantisedSearch {
 public:
  explicit QuantisedSearch(const TypeMap& types) : types_(types) {}

  bool may_be_quantised(const Value& value) {
    if (!holds_tensors(value.type()) || !seen_.insert(&value).second) return false;
    if (const TensorType* type = type_of(value, types_)) return type->is_quantized();
    const Node& node = *value.node();
    if (node.kind() == c10::prim::Constant || node.kind() == kDequantize) return false;
    if (node.kind() == c10::prim::Param) return may_be_given(node);
    if (any_quantised(node.inputs())) return true;
    const auto blocks = node.blocks();
    return std::any_of(blocks.begin(), blocks.end(),
                       [this](const Block* block) { return any_quantised(block->outputs()); });
  }

 private:
  // An argument of forward may be anything; one of a loop's body is what the loop is given, or its body gives.
  bool may_be_given(const Node& parameters) {
    const Node* loop = parameters.owningBlock()->owningNode();
    return loop == nullptr || any_quantised(loop->inputs()) || any_quantised(parameters.owningBlock()->outputs());
  }

  template <typename Values>
  bool any_quantised(const Values& values) {
    return std::any_of(values.begin(), values.end(), [this](const Value* value) { return may_be_quantised(*value); });
  }

  const TypeMap& types_;
  std::unordered_set<const Value*> seen_;
};

// The parts of the result whose types aren't known: tensors, and what tensors are in that aren't in `outputs`.
void collect_unknown(const NormalisedModel& model, const Value* value, const TypeMap& types,
                     std::vector<const Value*>& result) {
  if (!holds_tensors(value->type()) || type_of(*value, types) != nullptr) return;
  const bool is_tensor = value->type()->kind() == c10::TypeKind::TensorType;
  if (is_tensor || !has_known_elements(*value->node())) return result.push_back(value);
  for (const Value* element : value->node()->inputs()) collect_unknown(model, element, types, result);
}

std::string text_of(const Value& value) {
  const std::string where = source_of(*value.node());
  return fmt::format("a {} made by {}{}", value.type()->repr_str(), value.node()->kind().toQualString(),
                     where.empty() ? "" : " at " + where);
}

void check_unknown(const NormalisedModel& model, const TypeMap& types, QuantMode mode, Diagnostics& diagnostics) {
  std::vector<const Value*> unknown;
  collect_unknown(model, model.graph->outputs()[0], types, unknown);
  for (const Value* value : unknown) {
    const bool is_tensor = value->type()->kind() == c10::TypeKind::TensorType;  // apply_quant_mode() judges these
    if (mode == QuantMode::kFull && !is_tensor) {
      throw ConvertError(ExitCode::kNotConvertible,
                         fmt::format("--quant full: forward returns {}, and which tensors it holds is known only when "
                                     "the model runs; use core or nnapi",
                                     text_of(*value)));
    }
    if (mode != QuantMode::kFull && QuantisedSearch(types).may_be_quantised(*value)) {
      diagnostics.warn(
          fmt::format("--quant {}: forward returns {}; whether it is quantised is known only when the "
                      "model runs, so it is returned as it is",
                      name_of(mode), text_of(*value)));
    }
  }
}

void run_on_cpu(Node* node) {
  node->i_(cpu_attribute(), 1);
}

}  // namespace

std::vector<TensorType> apply_quant_mode_to_parts(NormalisedModel& model, const std::vector<TensorType>& input_types,
                                                  const TypeMap& value_types, QuantMode mode,
                                                  Diagnostics& diagnostics) {
  TypeMap types = value_types;
  if (mode != QuantMode::kNnapi) Copies(model, types).insert();
  const QuantBoundaries boundaries = apply_quant_mode(model, input_types, types, mode);
  check_unknown(model, types, mode, diagnostics);
  std::vector<TensorType> result;
  for (size_t i = 0; i < boundaries.inputs.size(); ++i) {
    const InputBoundary& boundary = boundaries.inputs[i];
    if (boundary.quantize) run_on_cpu(insert_quantize(model, model.inputs[i], *boundary.quantize));
    result.push_back(boundary.caller_type());
  }
  for (size_t i = 0; i < boundaries.outputs.size(); ++i) {
    if (!boundaries.outputs[i].dequantize) continue;
    Node* dequantize = insert_dequantize(model, model.outputs[i]);
    run_on_cpu(dequantize);
    model.outputs[i] = dequantize->output();
  }
  return_outputs(model);
  return result;
}

bool quantises_on_cpu(const Node& node) {
  return node.hasAttribute(cpu_attribute());
}

Quantization quantization_of_result(const Value& result, const TypeMap& types) {
  const bool is_dequantised = result.node()->kind() == kDequantize;
  const TensorType* type = type_of(is_dequantised ? *result.node()->input(0) : result, types);
  return type == nullptr ? Quantization{} : type->quantization;
}

}  // namespace nnapi_convert
