// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/sample_inputs.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <fmt/format.h>

#include "lib/base/error.h"

namespace nnapi_convert {
namespace {

constexpr uint64_t kBundledSeed = 0;

std::vector<int64_t> sizes_of(const TensorType& type, int64_t flexible_size) {
  std::vector<int64_t> sizes;
  for (const Dim& dim : type.dims) sizes.push_back(dim.fixed_value().value_or(flexible_size));
  return sizes;
}

// Returns the sample for the new interface; nothing if it doesn't fit.
std::optional<InputTuple> converted(const InputTuple& original, const ModuleInterface& interface) {
  if (original.size() != interface.inputs.size()) return std::nullopt;
  InputTuple sample;
  for (size_t i = 0; i < original.size(); ++i) {
    if (!original[i].isTensor()) return std::nullopt;
    const at::Tensor tensor = to_interface(original[i].toTensor(), interface.inputs[i].type);
    if (!fits_type(tensor, interface.inputs[i].type)) return std::nullopt;
    sample.emplace_back(tensor);
  }
  return sample;
}

}  // namespace

bool fits_type(const at::Tensor& tensor, const TensorType& type) {
  if (tensor.dim() != static_cast<int64_t>(type.rank()) || tensor.scalar_type() != type.dtype) return false;
  for (size_t i = 0; i < type.rank(); ++i) {
    if (type.dims[i].is_fixed() && type.dims[i].value() != tensor.size(static_cast<int64_t>(i))) return false;
  }
  return !type.is_quantized() ||
         (tensor.q_scale() == type.quantization.scale && tensor.q_zero_point() == type.quantization.zero_point);
}

at::Tensor to_interface(const at::Tensor& tensor, const TensorType& type) {
  if (type.is_quantized() && tensor.scalar_type() == at::kFloat) {
    return at::quantize_per_tensor(tensor, type.quantization.scale, type.quantization.zero_point, type.dtype);
  }
  if (type.dtype == at::kFloat && tensor.is_quantized()) return tensor.dequantize();
  return tensor;
}

at::Tensor random_indices(const TensorType& type, uint64_t seed, int64_t flexible_size, const IndexRange& range) {
  at::Generator generator = at::detail::createCPUGenerator(seed);
  const at::Tensor numbers = at::randint(range.lowest, range.highest + 1, sizes_of(type, flexible_size), generator,
                                         at::TensorOptions(at::kLong));
  return to_interface(numbers.to(type.is_quantized() ? at::kFloat : type.dtype), type);
}

at::Tensor random_tensor(const TensorType& type, uint64_t seed, int64_t flexible_size) {
  at::Generator generator = at::detail::createCPUGenerator(seed);
  const std::vector<int64_t> sizes = sizes_of(type, flexible_size);
  if (type.is_quantized()) {
    return to_interface(at::randn(sizes, generator, at::TensorOptions(at::kFloat)), type);
  }
  if (type.dtype == at::kBool) return at::randint(0, 2, sizes, generator, at::TensorOptions(at::kBool));
  if (type.dtype == at::kByte) return at::randint(0, 256, sizes, generator, at::TensorOptions(at::kByte));
  if (type.dtype == at::kInt || type.dtype == at::kLong) {
    return at::randint(0, 10, sizes, generator, at::TensorOptions(type.dtype));
  }
  if (type.dtype == at::kChar) return at::randint(-128, 128, sizes, generator, at::TensorOptions(at::kChar));
  if (type.dtype == at::kShort) return at::randint(-32768, 32768, sizes, generator, at::TensorOptions(at::kShort));
  if (c10::isComplexType(type.dtype)) return at::randn(sizes, generator, at::TensorOptions(type.dtype));
  return at::randn(sizes, generator, at::TensorOptions(at::kFloat)).to(type.dtype);
}

std::vector<InputTuple> bundled_samples(const ModuleInterface& interface, const std::vector<InputTuple>& originals,
                                        bool make_one, Diagnostics& diagnostics) {
  std::vector<InputTuple> samples;
  for (const InputTuple& original : originals) {
    if (auto sample = converted(original, interface)) {
      samples.push_back(std::move(*sample));
    } else {
      diagnostics.warn("a bundled input doesn't fit the shape or dtype asked for and is left out");
    }
  }
  if (!samples.empty() || !make_one) return samples;
  InputTuple sample;
  for (size_t i = 0; i < interface.inputs.size(); ++i) {
    const InterfaceInput& input = interface.inputs[i];
    if (!all_fixed(input.type.dims)) {
      throw ConvertError(ExitCode::kUsage,
                         fmt::format("--bundle-inputs: input {} has flexible sizes {}; give every size with --input",
                                     input.name, to_text(input.type.dims)));
    }
    sample.emplace_back(random_tensor(input.type, kBundledSeed + i, 1));
  }
  samples.push_back(std::move(sample));
  return samples;
}

}  // namespace nnapi_convert
