// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/formulas.h"

#include <ATen/ATen.h>
#include <ATen/TracerMode.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>

#include "lib/base/error.h"
#include "lib/ops/lineage.h"

namespace nnapi_convert {
namespace {

Formulas join_families() {
  Formulas all;
  for (const Formulas& family :
       {loss_formulas(),          class_loss_formulas(), fourier_formulas(), spectrogram_formulas(),
        complex_formulas(),       pooling_formulas(),    norm_formulas(),    convolution_formulas(),
        sampling_formulas(),      lookup_formulas(),     dropout_formulas(), matrix_formulas(),
        reflection_formulas(),    counting_formulas(),   product_formulas(), alias_formulas(),
        fake_quantise_formulas(), integer_formulas(),    packed_formulas(),  antialiased_formulas()}) {
    all.insert(all.end(), family.begin(), family.end());
  }
  return all;
}

// Returns all formulas by operator. An operator may have several: for complex numbers, and for arguments that its rule
// doesn't take.
const std::unordered_multimap<std::string, Formula>& formulas_by_name() {
  static const auto by_name = [] {
    std::unordered_multimap<std::string, Formula> result;
    for (const Formula& formula : join_families()) result.emplace(formula.name, formula);
    return result;
  }();
  return by_name;
}

}  // namespace

Refusal FormulaRefused::refusal_of(const TorchNode& node) const {
  return {source_of(node), node.kind().toQualString(), found_, needed_, hint_};
}

const c10::IValue& FormulaArguments::value(const std::string& name) const {
  const auto index = schema_.argumentIndexWithName(name);
  NNC_ASSERT(index.has_value(), name);
  return values_.at(static_cast<size_t>(*index));
}

at::Tensor FormulaArguments::tensor(const std::string& name) const {
  const Formed whole = complex(name);
  if (whole.is_complex()) throw FormulaRefused("complex numbers in " + name, "real ones");
  return whole.real;
}

Formed FormulaArguments::complex(const std::string& name) const {
  return formed(value(name));
}

Formed FormulaArguments::formed(const c10::IValue& value) {
  if (value.isScalar()) {  // float32 widens no tensor that it meets
    return constant_of([&] { return at::scalar_tensor(value.toScalar(), at::kFloat); });
  }
  if (!value.isTuple()) return value.toTensor();
  const auto parts = value.toTuple()->elements();
  return {parts[0].toTensor(), parts[1].toTensor()};
}

int64_t FormulaArguments::integer(const std::string& name) const {
  const c10::IValue& found = value(name);
  return found.isTensor() ? found.toTensor().item<int64_t>() : found.toInt();
}

double FormulaArguments::number(const std::string& name) const {
  const c10::IValue& found = value(name);
  return found.isTensor() ? found.toTensor().item<double>() : found.toScalar().toDouble();
}

std::vector<int64_t> FormulaArguments::integers(const std::string& name, size_t size,
                                                const std::vector<int64_t>& fallback) const {
  if (is_none(name)) return fallback;
  std::vector<int64_t> values = integers(name);
  if (values.empty()) return fallback;
  if (values.size() == 1) values.assign(size, values[0]);
  return values;
}

std::vector<std::string> operators_with_formulas() {
  std::set<std::string> names;
  for (const auto& [name, formula] : formulas_by_name()) names.insert(name);
  return {names.begin(), names.end()};
}

bool may_have_formula(const TorchNode& node) {
  return formulas_by_name().count(operator_name(node)) != 0;
}

const Formula* find_formula(const TorchNode& node, const TypeMap& types) {
  const auto [first, last] = formulas_by_name().equal_range(operator_name(node));
  const OpArguments args(node, types);
  const auto found = std::find_if(first, last, [&](const auto& row) {
    try {
      return row.second.applies == nullptr || row.second.applies(args);
    } catch (const NodeRefused&) {
      return false;  // an argument isn't known
    }
  });
  return found == last ? nullptr : &found->second;
}

at::Tensor constant_of(const std::function<at::Tensor()>& make) {
  const at::tracer::impl::NoTracerDispatchMode untraced;
  return make();
}

at::Tensor constant_of(const std::vector<int64_t>& numbers) {
  return constant_of([&] { return at::tensor(numbers); });
}

at::Tensor spread(const at::Tensor& x, int64_t axis, int64_t step) {
  if (step == 1) return x;
  const auto sizes = x.sizes();
  const int64_t count = sizes[static_cast<size_t>(axis)];
  const int64_t before = c10::multiply_integers(sizes.slice(0, static_cast<size_t>(axis) + 1));
  const at::Tensor apart = at::constant_pad_nd(x.reshape({before, 1, -1}), {0, 0, 0, step - 1}, 0);
  std::vector<int64_t> wide = sizes.vec();
  wide[static_cast<size_t>(axis)] = count * step;
  return apart.reshape(wide).narrow(axis, 0, (count - 1) * step + 1);
}

bool is_complex(const c10::IValue& value) {
  return value.isComplexDouble() || (value.isTensor() && value.toTensor().defined() && value.toTensor().is_complex());
}

bool is_pair(const TorchValue& value) {
  return value.node()->kind() == c10::Symbol::aten("complex") && value.node()->inputs().size() == 2;
}

}  // namespace nnapi_convert
