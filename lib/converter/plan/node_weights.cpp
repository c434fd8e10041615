// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/plan/node_weights.h"

#include <ATen/ATen.h>

#include "lib/converter/graph/object_state.h"
#include "lib/converter/graph/packed_layer.h"

namespace nnapi_convert {
namespace {

using Sizes = std::optional<std::vector<int64_t>>;

template <typename Packed>
Sizes unpacked_sizes(const c10::IValue& value) {
  const auto layer = packed_as<Packed>(value);
  return layer == nullptr ? std::nullopt : Sizes(std::get<0>(layer->unpack()).sizes().vec());
}

std::optional<at::Tensor> first_tensor(const c10::IValue& value) {
  if (value.isTensor()) return value.toTensor();
  if (!value.isTuple()) return std::nullopt;
  for (const c10::IValue& element : value.toTupleRef().elements()) {
    if (const auto found = first_tensor(element)) return found;
  }
  return std::nullopt;
}

Sizes packed_sizes(const c10::IValue& value) {
  if (const Sizes sizes = unpacked_sizes<ConvPackedParamsBase<2>>(value)) return sizes;
  if (const Sizes sizes = unpacked_sizes<ConvPackedParamsBase<3>>(value)) return sizes;
  if (const Sizes sizes = unpacked_sizes<LinearPackedParamsBase>(value)) return sizes;
  const std::string name = value.toObject()->type()->name()->qualifiedName();
  if (name.find(".xnnpack.") == std::string::npos) return std::nullopt;
  const auto state = saved_state(value);
  const auto weight = state ? first_tensor(*state) : std::nullopt;
  return weight ? Sizes(weight->sizes().vec()) : std::nullopt;
}

void add_matrices(const c10::IValue& value, std::optional<int64_t>& sum) {
  const auto add = [&](const std::vector<int64_t>& sizes) {
    if (sizes.size() == 2) sum = sum.value_or(0) + c10::multiply_integers(sizes);
  };
  if (value.isTensor()) {
    add(value.toTensor().sizes().vec());
  } else if (value.isList()) {
    for (const c10::IValue& element : value.toListRef()) add_matrices(element, sum);
  } else if (value.isTuple()) {
    for (const c10::IValue& element : value.toTupleRef().elements()) add_matrices(element, sum);
  } else if (value.isCustomClass()) {
    if (const Sizes sizes = packed_sizes(value)) return add(*sizes);
    const bool is_cell = value.toObject()->type()->name()->name() == "CellParamsBase";
    if (const auto state = is_cell ? saved_state(value) : std::nullopt) add_matrices(*state, sum);
  }
}

}  // namespace

Sizes weight_sizes(const c10::IValue& value) {
  if (value.isTensor()) return value.toTensor().sizes().vec();
  return value.isCustomClass() ? packed_sizes(value) : std::nullopt;
}

std::optional<int64_t> matrix_elements(const c10::IValue& value) {
  std::optional<int64_t> sum;
  add_matrices(value, sum);
  return sum;
}

}  // namespace nnapi_convert
