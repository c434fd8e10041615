// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/check_inputs.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "lib/format/buffer_samples.h"
#include "lib/serialize/buffer_words.h"

namespace nnapi_convert {
namespace {

constexpr uint32_t kFirstSeed = 20117;
constexpr float kLowest = -1.732F, kHighest = 1.732F;  // uniform numbers between them have the variance 1

at::Tensor as_caller(const at::Tensor& values, const InterfaceInput& input) {
  if (!input.type.is_quantized()) return values.to(input.type.dtype);
  return at::quantize_per_tensor(values.to(at::kFloat), input.type.quantization.scale,
                                 input.type.quantization.zero_point, input.type.dtype);
}

}  // namespace

at::ScalarType element_type(const nnapi::Operand& operand) {
  switch (operand.type) {
    case OperandCode::TENSOR_FLOAT32:
      return at::kFloat;
    case OperandCode::TENSOR_INT32:
      return at::kInt;
    case OperandCode::TENSOR_QUANT8_ASYMM:
    case OperandCode::TENSOR_BOOL8:
      return at::kByte;
    case OperandCode::TENSOR_QUANT8_ASYMM_SIGNED:
      return at::kChar;
    default:
      throw NoSample("the NNAPI model has an input or output of another type than float32, int32, bool and 8 bits");
  }
}

std::vector<uint8_t> check_bytes(const at::Tensor& tensor) {
  const at::Tensor contiguous = tensor.contiguous();
  std::vector<uint8_t> bytes(contiguous.nbytes());
  if (!bytes.empty()) std::memcpy(bytes.data(), contiguous.data_ptr(), bytes.size());
  return bytes;
}

at::Tensor to_physical(at::Tensor tensor, const nnapi::Operand& operand, const nnapi::Boundary& boundary) {
  if (nnapi::is_quant8(operand.type)) {
    if (!tensor.is_quantized() && tensor.is_floating_point()) {
      const at::ScalarType type = operand.type == OperandCode::TENSOR_QUANT8_ASYMM_SIGNED ? at::kQInt8 : at::kQUInt8;
      tensor = at::quantize_per_tensor(tensor, operand.scale, operand.zero_point, type);
    }
    if (tensor.is_quantized()) tensor = tensor.int_repr();
  } else if (tensor.is_quantized()) {
    tensor = tensor.dequantize();
  }
  tensor = tensor.to(element_type(operand));
  if (boundary.nhwc) tensor = tensor.permute({0, 2, 3, 1});
  return tensor.contiguous();
}

// Returns the sizes of an input. Open sizes of a segment depend on each other, as one call of the whole model decides
// them.
std::vector<int64_t> CheckInputs::sizes_of(const InputTuple* real, size_t number) const {
  if (real != nullptr) return (*real)[number].toTensor().sizes().vec();
  const bool is_segment = !part_.model_sizes.empty();
  std::vector<int64_t> sizes;
  for (const Dim& dim : is_segment ? part_.model_sizes[number] : part_.interface.inputs[number].type.dims) {
    sizes.push_back(dim.evaluate(call_sizes_));
  }
  return sizes;
}

void CheckInputs::make(uint32_t number, const InputTuple* real, size_t most_bytes) {
  sizes_.clear();
  callers_.clear();
  const std::vector<InterfaceInput>& inputs = part_.interface.inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    callers_.push_back(at::zeros(sizes_of(real, i), at::TensorOptions(at::kFloat)));
    const auto sizes = callers_.back().sizes();
    sizes_.insert(sizes_.end(), sizes.begin(), sizes.end());
    callers_.back() = as_caller(callers_.back(), inputs[i]);
  }
  const auto size_of = [&](int input, int axis) { return callers_.at(static_cast<size_t>(input)).size(axis); };
  if (!all_hold(part_.interface.conditions, size_of)) throw NoSample("no sizes are known that the model takes");
  made_.clear();
  physical_.clear();
  uint32_t seed = kFirstSeed + 100 * number;
  for (const nnapi::Boundary& boundary : part_.model.inputs) {
    const at::Tensor* given = real != nullptr ? &(*real)[boundary.argument].toTensor() : nullptr;
    make_one(boundary, seed++, given, most_bytes);
  }
}

void CheckInputs::make_one(const nnapi::Boundary& boundary, uint32_t seed, const at::Tensor* given, size_t most_bytes) {
  const nnapi::Operand& operand = part_.model.at(boundary.operand);
  const InterfaceInput& input = part_.interface.inputs[boundary.argument];
  at::Tensor& caller = callers_[boundary.argument];
  BufferSampleInput made;
  if (given != nullptr) {
    const at::Tensor physical = to_physical(*given, operand, boundary);
    if (physical.nbytes() > 0 && physical.nbytes() <= most_bytes) {
      made.stored = check_bytes(physical);
      caller = *given;
      made_.push_back(made);
      physical_.emplace_back(made.stored.begin(), made.stored.end());
      return;
    }
  }
  made.seed = seed;
  const at::Tensor physical = uniform(operand, boundary, caller.sizes().vec(), given, made);
  made_.push_back(made);
  const std::vector<uint8_t> bytes = check_bytes(physical);
  physical_.emplace_back(bytes.begin(), bytes.end());
  at::Tensor logical = boundary.nhwc ? physical.permute({0, 3, 1, 2}) : physical;
  logical = logical.reshape(caller.sizes());
  if (nnapi::is_quant8(operand.type) && (input.type.is_quantized() || input.quantize)) {
    const at::Tensor real =
        (logical.to(at::kFloat) - static_cast<double>(operand.zero_point)) * static_cast<double>(operand.scale);
    caller = input.quantize ? real : as_caller(real, input);
  } else {
    caller = logical.to(input.type.dtype);
  }
  caller = caller.contiguous();
}

// Makes NNAPI's tensor, as the shim makes it from the same three words: seed, lowest and highest.
at::Tensor CheckInputs::uniform(const nnapi::Operand& operand, const nnapi::Boundary& boundary,
                                std::vector<int64_t> sizes, const at::Tensor* given, BufferSampleInput& made) const {
  if (boundary.nhwc) sizes = {sizes[0], sizes[2], sizes[3], sizes[1]};
  const at::ScalarType type = element_type(operand);
  const auto count = static_cast<size_t>(c10::multiply_integers(sizes));
  if (count * c10::elementSize(type) > buffer_samples::kMostInputBytes) throw NoSample("an input is too large");
  const auto [lowest, highest] = limits(operand, boundary, given);
  if (type == at::kFloat) {
    made.lowest = float_bits(static_cast<float>(lowest));
    made.highest = float_bits(static_cast<float>(highest));
    const at::Tensor tensor = at::empty(sizes, at::TensorOptions(type));
    auto* elements = tensor.data_ptr<float>();
    for (size_t i = 0; i < count; ++i) {
      elements[i] =
          buffer_samples::uniform_float(made.seed, i, static_cast<float>(lowest), static_cast<float>(highest));
    }
    return tensor;
  }
  made.lowest = static_cast<int32_t>(lowest);
  made.highest = std::max(made.lowest, static_cast<int32_t>(highest));
  const at::Tensor tensor = at::empty(sizes, at::TensorOptions(at::kInt));
  auto* elements = tensor.data_ptr<int32_t>();
  for (size_t i = 0; i < count; ++i) {
    elements[i] = buffer_samples::uniform_integer(made.seed, i, made.lowest, made.highest);
  }
  return tensor.to(type);
}

// Returns the limits of made-up numbers: those of the data; otherwise limits for a variance of 1; for indices, the
// possible range.
std::pair<double, double> CheckInputs::limits(const nnapi::Operand& operand, const nnapi::Boundary& boundary,
                                              const at::Tensor* given) const {
  const auto& range = ranges_[boundary.argument];
  const at::ScalarType type = element_type(operand);
  const bool is_quantised = nnapi::is_quant8(operand.type) && operand.scale > 0 &&
                            part_.interface.inputs[boundary.argument].type.dtype != at::kByte;
  if (operand.type == OperandCode::TENSOR_BOOL8) return {0, 1};
  if (type == at::kInt || (!is_quantised && type != at::kFloat)) {
    if (range) return {range->lowest, std::min<int64_t>(range->highest, range->lowest + (1 << 20))};
    if (type != at::kInt) return {0, 255};
    return {0, numbers_.are_integers_flags ? 1 : 9};
  }
  double lowest = numbers_.are_floats_positive ? 0.1 : kLowest, highest = kHighest;
  if (range) {
    lowest = static_cast<double>(range->lowest);
    highest = static_cast<double>(std::min<int64_t>(range->highest, range->lowest + (1 << 20)));
  } else if (given != nullptr && given->numel() > 1) {
    const at::Tensor real = (given->is_quantized() ? given->dequantize() : *given).to(at::kFloat);
    const double mean = real.mean().item().toDouble(), width = real.std().item().toDouble() * kHighest;
    lowest = std::max(real.min().item().toDouble(), mean - width);
    highest = std::min(real.max().item().toDouble(), mean + width);
  }
  if (!is_quantised) return {lowest, highest};
  const auto step = [&](double real) {
    const double least = type == at::kChar ? -128 : 0;
    const double number = std::round(real / static_cast<double>(operand.scale)) + operand.zero_point;
    return std::min(std::max(number, least), least + 255);
  };
  return {step(lowest), step(highest)};
}

}  // namespace nnapi_convert
