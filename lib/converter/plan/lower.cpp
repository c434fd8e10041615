// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/plan/lower.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>

#include "lib/base/error.h"
#include "lib/converter/plan/lower_block.h"
#include "lib/converter/plan/lower_control_flow.h"
#include "lib/types/constant_tensor.h"

namespace nnapi_convert {
namespace {

using torch::jit::Value;

constexpr size_t kMaxRank = 4;

Dims merged_last_axes(const Dims& dims) {
  Dims merged(dims.begin(), dims.begin() + kMaxRank);
  for (size_t i = kMaxRank; i < dims.size(); ++i) merged.back() *= dims[i];
  return merged;
}

class Lowering {
 public:
  Lowering(const NormalisedModel& normalised, const std::vector<TensorType>& input_types, const TypeMap& types,
           const Target& target, Diagnostics& diagnostics)
      : normalised_(normalised),
        input_types_(input_types),
        types_(types),
        block_({types, target, diagnostics, result_.refusals, lower_control_flow}, result_.model),
        builder_(block_.builder()),
        operands_(block_.operands()) {}

  LoweredModel run() {
    visit_nodes();
    if (result_.refusals.empty() && block_.all_typed()) {
      for (const Value* output : normalised_.outputs) add_output(output);
    }
    return std::move(result_);
  }

  std::vector<Refusal> refusals() {
    visit_nodes();
    return std::move(result_.refusals);
  }

 private:
  void visit_nodes() {
    add_inputs();
    block_.lower_nodes(*normalised_.graph->block());
  }

  void add_inputs() {
    for (size_t i = 0; i < normalised_.inputs.size(); ++i) {
      if (normalised_.inputs[i]->uses().empty()) continue;
      const nnapi::OperandId id = add_input(input_types_[i]);
      result_.model.at(id).name = normalised_.inputs[i]->debugName();
      operands_[normalised_.inputs[i]] = {
          with_all_axes(input_types_[i].dtype == at::kBool ? as_bool(id) : id, input_types_[i].dims)};
      result_.model.inputs.push_back({id, false, i});
    }
  }

  // Adds the operand of an input. PyTorch's loader takes no bool, so the module passes int32; NNAPI takes no tensors of
  // high rank, so the module merges the last axes.
  nnapi::OperandId add_input(TensorType type) {
    if (type.dtype == at::kBool) type.dtype = at::kInt;
    if (type.rank() > kMaxRank) type.dims = merged_last_axes(type.dims);
    return builder_.variable(to_operand(type));
  }

  nnapi::OperandId with_all_axes(nnapi::OperandId id, const Dims& dims) {
    if (dims.size() <= kMaxRank) return id;
    nnapi::Operand result = result_.model.at(id);
    result.dims = dims;
    return builder_.add(OperationCode::RESHAPE, {id, builder_.int32_tensor(dims)}, result);
  }

  nnapi::OperandId as_bool(nnapi::OperandId id) {
    nnapi::Operand result = result_.model.at(id);
    result.type = OperandCode::TENSOR_BOOL8;
    return builder_.add(OperationCode::NOT_EQUAL, {id, builder_.int32_tensor({0})}, result);
  }

  size_t nnapi_output(nnapi::OperandId id) {
    auto& outputs = result_.model.outputs;
    const auto found = std::find_if(outputs.begin(), outputs.end(),
                                    [id](const nnapi::Boundary& boundary) { return boundary.operand == id; });
    if (found != outputs.end()) return static_cast<size_t>(found - outputs.begin());
    outputs.push_back({id});
    return outputs.size() - 1;
  }

  // Returns the number of forward's input that the operand is, or -1.
  int input_number(nnapi::OperandId id) const {
    for (const nnapi::Boundary& input : result_.model.inputs) {
      if (input.operand == id) return static_cast<int>(input.argument);
    }
    return -1;
  }

  // Merges the last axes of a result whose rank is too high for NNAPI.
  nnapi::OperandId with_nnapi_rank(nnapi::OperandId id) {
    nnapi::Operand result = result_.model.at(id);
    if (result.dims.size() <= kMaxRank) return id;
    result.dims = merged_last_axes(result.dims);
    return builder_.add(OperationCode::RESHAPE, {id, builder_.int32_tensor(result.dims)}, result);
  }

  void add_output(const Value* value) { result_.outputs.push_back(output_of(value)); }

  // Makes the tensor of an output that rules found to be constant.
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
    if (input >= 0) {
      InterfaceOutput output{InterfaceOutput::Source::kInput, static_cast<size_t>(input), {}, false, {}};
      // The shape tells a tensor of rank 0 from one of one element, which has the same operand.
      if (type.dims != input_types_[static_cast<size_t>(input)].dims) output.shape = type.dims;
      return output;
    }
    InterfaceOutput output{InterfaceOutput::Source::kNnapi, nnapi_output(with_nnapi_rank(id)), {}, false, {}};
    if (type.rank() == 0 || type.rank() > kMaxRank) output.shape = type.dims;
    return output;
  }

  const NormalisedModel& normalised_;
  const std::vector<TensorType>& input_types_;
  const TypeMap& types_;
  LoweredModel result_;
  BlockLowering block_;
  nnapi::Builder& builder_;
  OperandMap& operands_;
};

}  // namespace

std::vector<Refusal> lowering_refusals(const NormalisedModel& normalised, const std::vector<TensorType>& input_types,
                                       const TypeMap& types, const Target& target) {
  Diagnostics ignored;
  return Lowering(normalised, input_types, types, target, ignored).refusals();
}

LoweredModel lower(const NormalisedModel& normalised, const std::vector<TensorType>& input_types, const TypeMap& types,
                   const Target& target, Diagnostics& diagnostics) {
  return Lowering(normalised, input_types, types, target, diagnostics).run();
}

}  // namespace nnapi_convert
