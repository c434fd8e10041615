#include "lib/converter/lower.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>

#include "lib/base/error.h"
#include "lib/ops/constant_tensor.h"
#include "lib/ops/registry.h"

namespace nnapi_convert {
namespace {

using torch::jit::Node;
using torch::jit::Value;

// Nodes that make up values for others and are no operations.
bool is_structural(const Node& node) {
  return node.kind() == c10::prim::Constant || node.kind() == c10::prim::ListConstruct ||
         node.kind() == c10::prim::TupleConstruct || node.kind() == c10::prim::DictConstruct ||
         node.kind() == c10::prim::ListUnpack;
}

constexpr size_t kMaxRank = 4;

Dims merged_last_axes(const Dims& dims) {
  Dims merged(dims.begin(), dims.begin() + kMaxRank);
  for (size_t i = kMaxRank; i < dims.size(); ++i) merged.back() *= dims[i];
  return merged;
}

class Lowering {
 public:
  Lowering(const NormalisedModel& normalised, const TypeMap& types, const Target& target, Diagnostics& diagnostics)
      : normalised_(normalised), types_(types), target_(target), diagnostics_(diagnostics), builder_(result_.model) {}

  LoweredModel run(const std::vector<TensorType>& input_types) {
    visit_nodes(input_types);
    if (result_.refusals.empty() && all_typed_) {
      for (const Value* output : normalised_.outputs) add_output(output);
    }
    return std::move(result_);
  }

  std::vector<Refusal> refusals(const std::vector<TensorType>& input_types) {
    visit_nodes(input_types);
    return std::move(result_.refusals);
  }

 private:
  void visit_nodes(const std::vector<TensorType>& input_types) {
    add_inputs(input_types);
    for (const Node* node : normalised_.graph->nodes()) visit(*node);
  }

  void add_inputs(const std::vector<TensorType>& input_types) {
    for (size_t i = 0; i < normalised_.inputs.size(); ++i) {
      if (normalised_.inputs[i]->uses().empty()) continue;
      const nnapi::OperandId id = add_input(input_types[i]);
      operands_[normalised_.inputs[i]] = {
          with_rank_of(input_types[i].dtype == at::kBool ? as_bool(id) : id, input_types[i].dims)};
      result_.model.inputs.push_back({id, false, i});
    }
  }

  // PyTorch's loader takes no bool, and NNAPI no tensors of high rank: the module hands over int32, and merges the last
  // axes.
  nnapi::OperandId add_input(TensorType type) {
    if (type.dtype == at::kBool) type.dtype = at::kInt;
    if (type.rank() > kMaxRank) type.dims = merged_last_axes(type.dims);
    return builder_.variable(to_operand(type));
  }

  nnapi::OperandId with_rank_of(nnapi::OperandId id, const Dims& dims) {
    nnapi::Operand result = result_.model.at(id);
    if (result.dims == dims) return id;
    result.dims = dims;
    return builder_.add(OperationCode::RESHAPE, {id, builder_.int32_tensor(dims)}, result);
  }

  nnapi::OperandId as_bool(nnapi::OperandId id) {
    nnapi::Operand result = result_.model.at(id);
    result.type = OperandCode::TENSOR_BOOL8;
    return builder_.add(OperationCode::NOT_EQUAL, {id, builder_.int32_tensor({0})}, result);
  }

  // Nodes without types, or with such as NNAPI has no operands for, were refused before, or read what a refused one
  // makes.
  bool is_typed(const Node& node) const {
    const auto outputs = node.outputs();
    return std::all_of(outputs.begin(), outputs.end(), [&](const Value* value) {
      const auto found = types_.find(value);
      if (found == types_.end()) return false;
      const auto* type = std::get_if<TensorType>(&found->second);
      return type == nullptr || has_operand_code(type->dtype);
    });
  }

  // False where a refused node gives something that NNAPI has no operands for.
  bool reads_operands(const Node& node) const {
    const auto inputs = node.inputs();
    return std::all_of(inputs.begin(), inputs.end(), [&](const Value* value) {
      if (value->node()->kind() == c10::prim::ListConstruct) return reads_operands(*value->node());
      const auto found = types_.find(value);
      return found == types_.end() || std::holds_alternative<Dims>(found->second) || operands_.count(value) != 0 ||
             torch::jit::toIValue(value).has_value();
    });
  }

  void visit(const Node& node) {
    if (node.kind() == c10::prim::ListUnpack) return unpack(node);
    const OpRule* rule = find_typed_rule(node, types_);
    if (rule == nullptr && !is_structural(node)) {
      all_typed_ = false;
      for (const Value* output : node.outputs()) stand_in(output);
    }
    if (rule == nullptr || rule->lower == nullptr) return;
    if (!is_typed(node) || !reads_operands(node)) {
      all_typed_ = false;
      return;
    }
    OpContext context(node, types_, operands_, builder_, target_, diagnostics_);
    builder_.set_source(source_of(node));
    try {
      rule->lower(context);
    } catch (const NodeRefused& refused) {
      result_.refusals.push_back(refused.refusal());
      // Later nodes read something; the model is dropped anyway.
      for (const Value* output : node.outputs()) stand_in(output);
    }
  }

  void unpack(const Node& node) {
    const auto found = operands_.find(node.input());
    if (found == operands_.end()) return;  // a list of sizes
    const std::vector<nnapi::OperandId> elements = found->second;
    for (size_t i = 0; i < elements.size(); ++i) operands_[node.output(i)] = {elements[i]};
  }

  void stand_in(const Value* output) {
    const auto found = types_.find(output);
    if (found == types_.end()) return;
    TensorTypes types;
    if (const auto* list = std::get_if<TensorTypes>(&found->second)) types = *list;
    if (const auto* type = std::get_if<TensorType>(&found->second)) types = {*type};
    for (const TensorType& type : types) {
      if (has_operand_code(type.dtype)) operands_[output].push_back(builder_.variable(to_operand(type)));
    }
  }

  size_t nnapi_output(nnapi::OperandId id) {
    auto& outputs = result_.model.outputs;
    const auto found = std::find_if(outputs.begin(), outputs.end(),
                                    [id](const nnapi::Boundary& boundary) { return boundary.operand == id; });
    if (found != outputs.end()) return static_cast<size_t>(found - outputs.begin());
    outputs.push_back({id});
    return outputs.size() - 1;
  }

  // The input of forward that an operand is, or -1.
  int input_number(nnapi::OperandId id) const {
    for (const nnapi::Boundary& input : result_.model.inputs) {
      if (input.operand == id) return static_cast<int>(input.argument);
    }
    return -1;
  }

  // A result of high rank with its last axes merged: NNAPI has no such tensors.
  nnapi::OperandId with_nnapi_rank(nnapi::OperandId id) {
    nnapi::Operand result = result_.model.at(id);
    if (result.dims.size() <= kMaxRank) return id;
    result.dims = merged_last_axes(result.dims);
    return builder_.add(OperationCode::RESHAPE, {id, builder_.int32_tensor(result.dims)}, result);
  }

  void add_output(const Value* value) { result_.outputs.push_back(output_of(value)); }

  // What rules found to be the same for all inputs.
  static at::Tensor constant_output(const nnapi::Constant& constant, const TensorType& type) {
    const at::Tensor tensor = to_tensor(constant).reshape(fixed_values(type.dims));
    if (!type.is_quantized()) return tensor.to(type.dtype);
    return at::_make_per_tensor_quantized_tensor(tensor, type.quantization.scale, type.quantization.zero_point);
  }

  InterfaceOutput output_of(const Value* value) {
    if (const auto constant = torch::jit::toIValue(value)) {
      return {InterfaceOutput::Source::kConstant, 0, constant->toTensor().detach(), false, {}};
    }
    const auto is_input = std::find(normalised_.inputs.begin(), normalised_.inputs.end(), value);
    if (is_input != normalised_.inputs.end()) {
      const auto index = static_cast<size_t>(is_input - normalised_.inputs.begin());
      return {InterfaceOutput::Source::kInput, index, {}, false, {}};
    }
    const auto found = operands_.find(value);
    if (found == operands_.end()) {
      throw ConvertError(
          ExitCode::kNotConvertible,
          fmt::format("forward returns %{}, which is computed from sizes only; return a tensor", value->debugName()));
    }
    const nnapi::OperandId id = found->second.at(0);
    const TensorType type = std::get<TensorType>(types_.at(value));
    if (const nnapi::Constant* constant = result_.model.at(id).constant()) {
      return {InterfaceOutput::Source::kConstant, 0, constant_output(*constant, type), false, {}};
    }
    const int input = input_number(id);
    if (input >= 0) return {InterfaceOutput::Source::kInput, static_cast<size_t>(input), {}, false, {}};
    InterfaceOutput output{InterfaceOutput::Source::kNnapi, nnapi_output(with_nnapi_rank(id)), {}, false, {}};
    if (type.rank() == 0 || type.rank() > kMaxRank) output.shape = type.dims;
    return output;
  }

  const NormalisedModel& normalised_;
  const TypeMap& types_;
  Target target_;
  Diagnostics& diagnostics_;
  LoweredModel result_;
  nnapi::Builder builder_;
  OperandMap operands_;
  bool all_typed_ = true;
};

}  // namespace

std::vector<Refusal> lowering_refusals(const NormalisedModel& normalised, const std::vector<TensorType>& input_types,
                                       const TypeMap& types, const Target& target) {
  Diagnostics ignored;
  return Lowering(normalised, types, target, ignored).refusals(input_types);
}

LoweredModel lower(const NormalisedModel& normalised, const std::vector<TensorType>& input_types, const TypeMap& types,
                   const Target& target, Diagnostics& diagnostics) {
  return Lowering(normalised, types, target, diagnostics).run(input_types);
}

}  // namespace nnapi_convert
