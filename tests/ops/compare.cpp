// SPDX-License-Identifier: BSD-3-Clause
#include "tests/ops/compare.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace nnapi_convert {
namespace {

std::vector<c10::IValue> elements(const c10::IValue& value) {
  if (value.isGenericDict()) {
    std::vector<c10::IValue> keys_and_values;
    for (const auto& entry : value.toGenericDict()) keys_and_values.push_back(entry.value());
    return keys_and_values;
  }
  if (value.isTuple()) return value.toTupleRef().elements().vec();
  return value.toListRef().vec();
}

double number(const at::Tensor& tensor) {
  return tensor.item().toDouble();
}

std::string value_difference(const at::Tensor& expected, const at::Tensor& found, const Tolerance& tolerance) {
  const bool is_quantized = expected.is_quantized();
  const at::Tensor left = (is_quantized ? expected.int_repr() : expected).to(at::kDouble);
  const at::Tensor right = (is_quantized ? found.int_repr() : found).to(at::kDouble);
  const double error = number((left - right).abs().max());
  const double range = left.numel() == 1 ? number(left.abs()) : number(left.max() - left.min());
  const double allowed = is_quantized ? tolerance.quanta : tolerance.of_range * std::max(range, tolerance.least_range);
  if (error <= allowed) return "";  // a NaN is not
  return fmt::format("max error {:g}{}, {:g} allowed", error, is_quantized ? " quanta" : "", allowed);
}

std::string tensor_difference(const at::Tensor& expected, const at::Tensor& found, const Tolerance& tolerance) {
  if (expected.sizes() != found.sizes()) {
    return fmt::format("shape [{}] found, [{}] needed", fmt::join(found.sizes(), ", "),
                       fmt::join(expected.sizes(), ", "));
  }
  if (expected.scalar_type() != found.scalar_type()) {
    return fmt::format("dtype {} found, {} needed", toString(found.scalar_type()), toString(expected.scalar_type()));
  }
  if (expected.is_quantized()) {
    // A float32 in NNAPI, and in some kernels of PyTorch.
    const bool same_scale = static_cast<float>(expected.q_scale()) == static_cast<float>(found.q_scale());
    if (!same_scale || expected.q_zero_point() != found.q_zero_point()) {
      return fmt::format("scale {} zero point {} found, {} {} needed", found.q_scale(), found.q_zero_point(),
                         expected.q_scale(), expected.q_zero_point());
    }
  }
  return value_difference(expected, found, tolerance);
}

std::string tensor_sameness(const at::Tensor& one, const at::Tensor& other) {
  const at::Tensor left = one.is_quantized() ? one.int_repr() : one;
  const at::Tensor right = other.is_quantized() ? other.int_repr() : other;
  if (left.sizes() == right.sizes() && left.eq(right).all().item().toBool()) return "is the same for two inputs";
  const bool varies = left.numel() == 1 || number(left.to(at::kDouble).max()) > number(left.to(at::kDouble).min());
  return varies ? "" : "is the same everywhere";
}

}  // namespace

std::string difference(const c10::IValue& expected, const c10::IValue& found, const Tolerance& tolerance) {
  if (expected.isTensor()) {
    return found.isTensor() ? tensor_difference(expected.toTensor(), found.toTensor(), tolerance) : "a tensor needed";
  }
  if (expected.isTuple() != found.isTuple() || expected.isGenericDict() != found.isGenericDict() || found.isTensor()) {
    return fmt::format("{} found, {} needed", found.tagKind(), expected.tagKind());
  }
  const auto left = elements(expected), right = elements(found);
  if (left.size() != right.size()) return fmt::format("{} elements found, {} needed", right.size(), left.size());
  for (size_t i = 0; i < left.size(); ++i) {
    const std::string text = difference(left[i], right[i], tolerance);
    if (!text.empty()) return fmt::format("element {}: {}", i, text);
  }
  return "";
}

std::string sameness(const c10::IValue& one, const c10::IValue& other) {
  if (one.isTensor()) return tensor_sameness(one.toTensor(), other.toTensor());
  const auto left = elements(one), right = elements(other);
  for (size_t i = 0; i < left.size(); ++i) {
    const std::string text = sameness(left[i], right[i]);
    if (!text.empty()) return fmt::format("element {} {}", i, text);
  }
  return "";
}

}  // namespace nnapi_convert
