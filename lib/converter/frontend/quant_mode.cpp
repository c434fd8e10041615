// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/quant_mode.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <unordered_set>

#include "lib/base/error.h"
#include "lib/converter/frontend/cpu_reason.h"
#include "lib/converter/frontend/normalise.h"
#include "lib/converter/frontend/quant_copies.h"
#include "lib/converter/graph/node_reads.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

const char* name_of(QuantMode mode) {
  switch (mode) {
    case QuantMode::kAuto:
      return "auto";
    case QuantMode::kNone:
      return "none";
    case QuantMode::kCore:
      return "core";
    case QuantMode::kFull:
      return "full";
    case QuantMode::kNnapi:
      return "nnapi";
  }
  return "";
}

namespace {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;

[[noreturn]] void refuse(QuantMode mode, const std::string& problem) {
  throw ConvertError(ExitCode::kNotConvertible, fmt::format("--quant {}: {}", name_of(mode), problem));
}

bool is_quantized_node(const Node& node) {
  return node.kind() == kQuantize || std::string(node.kind().ns().toUnqualString()) == "quantized";
}

double number_of(const Value* value) {
  const auto constant = torch::jit::toIValue(value);
  NNC_ASSERT(constant.has_value(), "quantisation parameters of a frozen graph are constants");
  return constant->isTensor() ? constant->toTensor().item().toDouble() : constant->toScalar().toDouble();
}

// Returns the scale and zero point of a quantize node with constant arguments and a quint8 result; nothing for others.
std::optional<Quantization> parameters_of(const Node& node) {
  if (node.kind() != kQuantize) return std::nullopt;
  for (size_t i = 1; i < 4; ++i) {
    if (!torch::jit::toIValue(node.input(i))) return std::nullopt;
  }
  if (static_cast<at::ScalarType>(number_of(node.input(3))) != at::kQUInt8) return std::nullopt;
  return Quantization{number_of(node.input(1)), static_cast<int64_t>(number_of(node.input(2)))};
}

Node* insert_quantize(NormalisedModel& model, Value* input, const Quantization& quantization) {
  torch::jit::Graph& graph = *model.graph;
  torch::jit::WithInsertPoint guard(*graph.nodes().begin());
  Value* scale = graph.insertConstant(quantization.scale);
  Value* zero_point = graph.insertConstant(quantization.zero_point);
  Value* dtype = graph.insertConstant(static_cast<int64_t>(at::kQUInt8));
  Node* quantize = graph.create(kQuantize, {input, scale, zero_point, dtype}, 1);
  quantize->insertAfter(dtype->node());
  input->replaceAllUsesWith(quantize->output());
  quantize->replaceInput(0, input);
  for (Value*& output : model.outputs) {
    if (output == input) output = quantize->output();
  }
  return quantize;
}

Node* insert_dequantize(NormalisedModel& model, Value* value) {
  Node* node = model.graph->create(kDequantize, {value}, 1);
  node->insertBefore(model.graph->return_node());
  return node;
}

class QuantModeEdit {
 public:
  QuantModeEdit(NormalisedModel& model, const std::vector<TensorType>& types, const TypeMap& value_types,
                QuantMode mode)
      : model_(model), types_(types), value_types_(value_types) {
    result_.mode = mode;
  }

  QuantBoundaries run() {
    for (size_t i = 0; i < model_.inputs.size(); ++i) result_.inputs.push_back({types_[i], std::nullopt});
    result_.outputs.resize(model_.outputs.size());
    choose_mode();
    if (result_.mode == QuantMode::kNone || keeps_all_steps_) return std::move(result_);
    result_.is_edited = true;
    for (size_t i = 0; i < model_.inputs.size(); ++i) edit_input(i);
    for (size_t i = 0; i < model_.outputs.size(); ++i) edit_output(i);
    return std::move(result_);
  }

 private:
  bool is_quantized_model() const {
    bool found = std::any_of(types_.begin(), types_.end(), [](const TensorType& type) { return type.is_quantized(); });
    for_each_node(*model_.graph, [&found](const Node& node) { found = found || is_quantized_node(node); });
    return found;
  }

  // True if the graph only quantises and dequantises: without these nodes NNAPI would have no operation.
  bool has_quantisation_steps_only() const {
    const auto nodes = model_.graph->nodes();
    return std::all_of(nodes.begin(), nodes.end(), [](const Node* node) {
      return node->kind() == kQuantize || node->kind() == kDequantize || node->kind() == torch::jit::prim::Constant;
    });
  }

  void choose_mode() {
    const bool is_quantized = is_quantized_model();
    if (result_.mode == QuantMode::kAuto) {
      const bool quantized_interface =
          std::any_of(types_.begin(), types_.end(), [](const TensorType& type) { return type.is_quantized(); });
      result_.mode = !is_quantized ? QuantMode::kNone : quantized_interface ? QuantMode::kFull : QuantMode::kCore;
      keeps_interface_ = true;
      keeps_all_steps_ = is_quantized && has_quantisation_steps_only();
      if (keeps_all_steps_) result_.mode = QuantMode::kNnapi;
      return;
    }
    if (result_.mode == QuantMode::kNone && is_quantized) {
      refuse(result_.mode, "the model is quantised, and this mode takes float models only; use core, full or nnapi");
    }
    if (result_.mode != QuantMode::kNone && !is_quantized) {
      refuse(result_.mode,
             "the model is a float model; give samples with --calibrate, or calibrate it first with "
             "torch.ao.quantization");
    }
  }

  bool is_output(const Value* value) const {
    return std::find(model_.outputs.begin(), model_.outputs.end(), value) != model_.outputs.end();
  }

  // Returns the scale and zero point with which all readers of an input quantise it; nothing if readers differ.
  std::optional<Quantization> boundary_quantization(const Value* input) const {
    if (is_output(input)) return std::nullopt;
    std::optional<Quantization> common;
    for (const torch::jit::Use& use : input->uses()) {
      const auto parameters = parameters_of(*use.user);
      if (!parameters || (common && !(*common == *parameters))) return std::nullopt;
      common = parameters;
    }
    return common;
  }

  void cut_quantize(Value* input) {
    std::vector<Node*> nodes;
    for (const torch::jit::Use& use : input->uses()) nodes.push_back(use.user);
    for (Node* node : nodes) {
      node->output()->replaceAllUsesWith(input);
      for (Value*& output : model_.outputs) {
        if (output == node->output()) output = input;
      }
      node->destroy();
    }
  }

  void edit_input(size_t index) {
    Value* input = model_.inputs[index];
    InputBoundary& boundary = result_.inputs[index];
    const TensorType type = types_[index];
    if (input->uses().empty() && !is_output(input)) return;
    if (type.is_quantized()) {
      if (result_.mode == QuantMode::kCore && !keeps_interface_) boundary.quantize = type.quantization;
      if (result_.mode == QuantMode::kNnapi) make_float(input, boundary);
      return;
    }
    if (result_.mode == QuantMode::kNnapi) return;
    const auto parameters = boundary_quantization(input);
    if (!parameters) {
      if (keeps_interface_ || result_.mode == QuantMode::kCore) return;  // NNAPI quantises it in a later operation
      refuse(result_.mode,
             fmt::format("input {} is not quantised to quint8 by its first operation; put a QuantStub first, "
                         "or use core or nnapi",
                         model_.input_names[index]));
    }
    cut_quantize(input);
    boundary.type = {at::kQUInt8, type.dims, *parameters};
    if (keeps_interface_ || result_.mode == QuantMode::kCore) boundary.quantize = *parameters;
  }

  void make_float(Value* input, InputBoundary& boundary) {
    insert_quantize(model_, input, boundary.type.quantization);
    boundary.type = {at::kFloat, boundary.type.dims, {}};
  }

  // Returns whether a value is quantised; nothing if its type is unknown before the model runs.
  std::optional<bool> known_quantized(const Value* value) const {
    const auto input = std::find(model_.inputs.begin(), model_.inputs.end(), value);
    if (input != model_.inputs.end()) {
      return result_.inputs[static_cast<size_t>(input - model_.inputs.begin())].type.is_quantized();
    }
    if (value->node()->kind() == kQuantize) return true;  // insert_quantize() adds nodes without types
    const TensorType* type = tensor_type_of(value, value_types_);
    return type == nullptr ? std::nullopt : std::optional(type->is_quantized());
  }

  bool is_quantized_value(const Value* value) const { return known_quantized(value).value_or(false); }

  void edit_output(size_t index) {
    Value*& output = model_.outputs[index];
    const bool is_quantized = is_quantized_value(output);
    const bool is_dequantized = output->node()->kind() == kDequantize && is_quantized_value(output->node()->input(0));
    OutputBoundary& boundary = result_.outputs[index];
    if (result_.mode == QuantMode::kNnapi) {
      if (is_quantized) output = insert_dequantize(model_, output)->output();
    } else if (keeps_interface_ || result_.mode == QuantMode::kCore) {
      if (is_dequantized) output = output->node()->input(0);
      boundary.dequantize = is_dequantized || (is_quantized && !keeps_interface_);
    } else if (is_dequantized) {
      output = output->node()->input(0);
    } else if (!is_quantized) {
      refuse_output(index);
    }
  }

  [[noreturn]] void refuse_output(size_t index) const {
    const Value* output = model_.outputs[index];
    const bool is_unknown_scale =
        output->node()->kind() == kDequantize && !known_quantized(output->node()->input(0)).has_value();
    if (is_unknown_scale) {
      const bool is_flexible =
          std::any_of(types_.begin(), types_.end(), [](const TensorType& type) { return !all_fixed(type.dims); });
      refuse(result_.mode, fmt::format("output {} is dequantised from a tensor whose scale is not known before the "
                                       "model runs; {}use core or nnapi",
                                       index, is_flexible ? "give every size with --input, or " : ""));
    }
    const TensorType* type = tensor_type_of(output, value_types_);
    refuse(result_.mode, fmt::format("output {} is {}, made by {}; end the model with a quantised operation or a "
                                     "DeQuantStub, or use core or nnapi",
                                     index,
                                     type == nullptr ? "a value whose dtype is known only when the model runs"
                                                     : dtype_name(type->dtype),
                                     output->node()->kind().toQualString()));
  }

  NormalisedModel& model_;
  const std::vector<TensorType>& types_;
  const TypeMap& value_types_;  // types before the edit: those of inputs may have changed since
  QuantBoundaries result_;
  bool keeps_interface_ = false;  // mode auto: inputs and outputs keep their types
  bool keeps_all_steps_ = false;  // mode auto: NNAPI quantises and dequantises, as it has no other operations
};

// Finds out whether a value of unknown type may be or hold a quantised tensor when the model runs.
class QuantisedSearch {
 public:
  explicit QuantisedSearch(const TypeMap& types) : types_(types) {}

  bool may_be_quantised(const Value& value) {
    if (!holds_tensors(value.type()) || !seen_.insert(&value).second) return false;
    if (const TensorType* type = tensor_type_of(&value, types_)) return type->is_quantized();
    const Node& node = *value.node();
    if (node.kind() == c10::prim::Constant || node.kind() == kDequantize) return false;
    if (node.kind() == c10::prim::Param) return may_be_given(node);
    if (any_quantised(node.inputs())) return true;
    const auto blocks = node.blocks();
    return std::any_of(blocks.begin(), blocks.end(),
                       [this](const Block* block) { return any_quantised(block->outputs()); });
  }

 private:
  // True if an input of a graph or block may be quantised: an argument of forward may; an input of a loop's body may if
  // an input of the loop or an output of its body may.
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

// Collects the parts of the result with unknown types: tensors, and containers of tensors whose elements are unknown.
void collect_unknown(const NormalisedModel& model, const Value* value, const TypeMap& types,
                     std::vector<const Value*>& result) {
  if (!holds_tensors(value->type()) || tensor_type_of(value, types) != nullptr) return;
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

c10::Symbol cpu_attribute() {
  static const c10::Symbol symbol = c10::Symbol::attr("nnapi_quantises_on_cpu");
  return symbol;
}

void run_on_cpu(Node* node) {
  node->i_(cpu_attribute(), 1);
}

// Replaces the wrapper's steps of quantising and dequantising by nodes of the graph that the CPU runs.
void move_into_graph(NormalisedModel& model, QuantBoundaries& boundaries) {
  for (size_t i = 0; i < boundaries.inputs.size(); ++i) {
    InputBoundary& boundary = boundaries.inputs[i];
    if (!boundary.quantize) continue;
    run_on_cpu(insert_quantize(model, model.inputs[i], *boundary.quantize));
    boundary = {boundary.caller_type(), std::nullopt};
  }
  for (size_t i = 0; i < boundaries.outputs.size(); ++i) {
    if (!boundaries.outputs[i].dequantize) continue;
    Node* dequantize = insert_dequantize(model, model.outputs[i]);
    run_on_cpu(dequantize);
    model.outputs[i] = dequantize->output();
    boundaries.outputs[i].dequantize = false;
  }
  return_outputs(model);
}

// Returns the boundaries of a graph that keeps its interface.
QuantBoundaries kept_boundaries(const NormalisedModel& model, const std::vector<TensorType>& input_types,
                                const TypeMap& types) {
  QuantBoundaries boundaries;
  for (const TensorType& type : input_types) boundaries.inputs.push_back({type, std::nullopt});
  boundaries.outputs.resize(model.outputs.size());
  const bool is_quantised = std::any_of(types.begin(), types.end(), [](const auto& entry) {
    const auto* type = std::get_if<TensorType>(&entry.second);
    return type != nullptr && type->is_quantized();
  });
  if (!is_quantised) return boundaries;
  const bool has_interface =
      std::any_of(input_types.begin(), input_types.end(), [](const TensorType& type) { return type.is_quantized(); });
  boundaries.mode = has_interface ? QuantMode::kFull : QuantMode::kNnapi;
  return boundaries;
}

}  // namespace

QuantBoundaries apply_quant_mode(NormalisedModel& model, const std::vector<TensorType>& input_types,
                                 const TypeMap& value_types, QuantMode mode, Diagnostics& diagnostics) {
  if (model.run_by == RunBy::kNnapi) return QuantModeEdit(model, input_types, value_types, mode).run();
  if (mode == QuantMode::kAuto || mode == QuantMode::kNone) return kept_boundaries(model, input_types, value_types);
  TypeMap types = value_types;
  if (mode != QuantMode::kNnapi) copy_changed_values(model, types);
  QuantBoundaries boundaries = QuantModeEdit(model, input_types, types, mode).run();
  check_unknown(model, types, mode, diagnostics);
  move_into_graph(model, boundaries);
  return boundaries;
}

bool quantises_on_cpu(const Node& node) {
  return node.hasAttribute(cpu_attribute());
}

Quantization quantization_of_result(const Value& result, const TypeMap& types) {
  const bool is_dequantised = result.node()->kind() == kDequantize;
  const TensorType* type = tensor_type_of(is_dequantised ? result.node()->input(0) : &result, types);
  return type == nullptr ? Quantization{} : type->quantization;
}

}  // namespace nnapi_convert
