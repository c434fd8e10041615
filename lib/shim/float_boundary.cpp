// SPDX-License-Identifier: BSD-3-Clause
#include "lib/shim/float_boundary.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>

#include "lib/format/nnapi_codes.h"
#include "lib/shim/failure.h"

namespace nnapi_shim {
namespace {

using nnapi_convert::OperandCode;

bool is_signed(const nnapi_shim_tensor& tensor) {
  return tensor.type == static_cast<int32_t>(OperandCode::TENSOR_QUANT8_ASYMM_SIGNED);
}

void add_floats(const std::vector<int32_t>& types, std::vector<uint8_t>* floats) {
  floats->resize(types.size(), 0);
  for (size_t i = 0; i < types.size(); ++i) {
    if (is_float(types[i])) (*floats)[i] = 1;
  }
}

bool has_integers(const std::vector<int32_t>& types, const std::vector<uint8_t>& floats) {
  for (size_t i = 0; i < types.size(); ++i) {
    if (floats[i] != 0 && is_8_bit(types[i])) return true;
  }
  return false;
}

bool is_converted(const nnapi_shim_tensor& tensor, uint8_t is_float) {
  return is_float != 0 && is_8_bit(tensor.type);
}

// Rounds as at::quantize_per_tensor does: multiplies by the inverse of the scale, halves go to even. NaN gives the
// lowest number.
template <typename Number>
void quantise(const float* from, const nnapi_shim_tensor& tensor, Number* to) {
  constexpr float kLow = std::numeric_limits<Number>::min(), kHigh = std::numeric_limits<Number>::max();
  const auto zero_point = static_cast<float>(tensor.zero_point);
  const float inverse = 1.0f / tensor.scale;
  for (size_t i = 0; i < tensor.bytes; ++i) {
    const float number = std::nearbyint(from[i] * inverse) + zero_point;
    to[i] = static_cast<Number>(number > kLow ? (number < kHigh ? number : kHigh) : kLow);
  }
}

template <typename Number>
void dequantise(const Number* from, const nnapi_shim_tensor& tensor, float* to) {
  for (size_t i = 0; i < tensor.bytes; ++i) to[i] = tensor.scale * static_cast<float>(from[i] - tensor.zero_point);
}

int check_floats(const char* what, uint32_t index, const nnapi_shim_buffer& found, const nnapi_shim_place* place,
                 const nnapi_shim_tensor& tensor, nnapi_shim_error* error) {
  if (place && place->memory) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT,
                "%s %u: the model of the package that runs here has 8-bit integers, and shared memory can't be "
                "converted; give plain memory, or choose a model by the option variant",
                what, index);
  }
  if (tensor.bytes > SIZE_MAX / sizeof(float)) {
    return fail(error, NNAPI_SHIM_BAD_MODEL, "%s %u: as floats its %zu elements don't fit into memory", what, index,
                tensor.bytes);
  }
  return check_buffer(what, index, found, tensor.bytes * sizeof(float), error);
}

}  // namespace

void FloatBoundary::add(const ModelBuffer& buffer) {
  add_floats(buffer.input_types(), &inputs);
  add_floats(buffer.output_types(), &outputs);
}

bool FloatBoundary::converts(const ModelBuffer& buffer) const {
  return has_integers(buffer.input_types(), inputs) || has_integers(buffer.output_types(), outputs);
}

std::vector<nnapi_shim_tensor> as_floats(const std::vector<nnapi_shim_tensor>& tensors,
                                         const std::vector<uint8_t>& floats) {
  std::vector<nnapi_shim_tensor> seen = tensors;
  for (size_t i = 0; i < seen.size(); ++i) {
    if (!is_converted(seen[i], floats[i])) continue;
    seen[i].type = static_cast<int32_t>(OperandCode::TENSOR_FLOAT32);
    seen[i].bytes *= sizeof(float);
    seen[i].scale = 0;
    seen[i].zero_point = 0;
  }
  return seen;
}

int run_with_floats(Model& model, const FloatBoundary& boundary, const CallShapes& shapes, const RunBuffers& buffers,
                    nnapi_shim_error* error) {
  std::shared_ptr<const CallTensors> tensors;
  int status = model.describe(shapes, &tensors, error);
  if (status != NNAPI_SHIM_OK) return status;
  const std::vector<nnapi_shim_tensor>&inputs = tensors->inputs, &outputs = tensors->outputs;
  const bool has_all = buffers.inputs && buffers.outputs && buffers.input_count == inputs.size() &&
                       buffers.output_count == outputs.size();
  if (!has_all) return model.run(shapes, buffers, error);  // reports the mistake
  std::vector<nnapi_shim_buffer> from(buffers.inputs, buffers.inputs + inputs.size());
  std::vector<nnapi_shim_buffer> to(buffers.outputs, buffers.outputs + outputs.size());
  std::vector<std::unique_ptr<uint8_t[]>> memory;
  const auto take = [&](nnapi_shim_buffer* buffer, const nnapi_shim_tensor& tensor) {
    memory.emplace_back(new uint8_t[tensor.bytes]);
    *buffer = {memory.back().get(), tensor.bytes};
  };
  for (uint32_t i = 0; i < inputs.size() && status == NNAPI_SHIM_OK; ++i) {
    if (!is_converted(inputs[i], boundary.inputs[i])) continue;
    const nnapi_shim_place* place = buffers.shared_inputs ? &buffers.shared_inputs[i] : nullptr;
    status = check_floats("input", i, from[i], place, inputs[i], error);
    if (status != NNAPI_SHIM_OK) break;
    const auto* numbers = static_cast<const float*>(from[i].data);
    take(&from[i], inputs[i]);
    is_signed(inputs[i]) ? quantise(numbers, inputs[i], static_cast<int8_t*>(from[i].data))
                         : quantise(numbers, inputs[i], static_cast<uint8_t*>(from[i].data));
  }
  for (uint32_t i = 0; i < outputs.size() && status == NNAPI_SHIM_OK; ++i) {
    if (!is_converted(outputs[i], boundary.outputs[i])) continue;
    const nnapi_shim_place* place = buffers.shared_outputs ? &buffers.shared_outputs[i] : nullptr;
    status = check_floats("output", i, to[i], place, outputs[i], error);
    if (status == NNAPI_SHIM_OK) take(&to[i], outputs[i]);
  }
  if (status != NNAPI_SHIM_OK) return status;
  RunBuffers converted = buffers;
  converted.inputs = from.data();
  converted.outputs = to.data();
  status = model.run(shapes, converted, error);
  for (uint32_t i = 0; i < outputs.size() && status == NNAPI_SHIM_OK; ++i) {
    if (!is_converted(outputs[i], boundary.outputs[i])) continue;
    auto* numbers = static_cast<float*>(buffers.outputs[i].data);
    is_signed(outputs[i]) ? dequantise(static_cast<const int8_t*>(to[i].data), outputs[i], numbers)
                          : dequantise(static_cast<const uint8_t*>(to[i].data), outputs[i], numbers);
  }
  return status;
}

}  // namespace nnapi_shim
