// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/counted_axes.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <optional>
#include <unordered_set>

namespace nnapi_convert {
namespace {

std::optional<Dim> number_of(const TorchValue& value, const TypeMap& types) {
  if (const auto constant = torch::jit::toIValue(&value)) {
    return constant->isInt() ? std::optional(Dim(constant->toInt())) : std::nullopt;
  }
  const auto found = types.find(&value);
  const Dims* sizes = found == types.end() ? nullptr : std::get_if<Dims>(&found->second);
  return sizes != nullptr && sizes->size() == 1 ? std::optional((*sizes)[0]) : std::nullopt;
}

std::optional<Dim> argument(const TorchNode& node, const char* name, const TypeMap& types) {
  const auto index = node.schema().argumentIndexWithName(name);
  return index ? number_of(*node.input(static_cast<size_t>(*index)), types) : std::nullopt;
}

bool has_argument(const TorchNode& node, const char* name) {
  return node.schema().argumentIndexWithName(name).has_value();
}

// True for arange(end), arange(0, end) and arange(0, end, 1).
bool counts_up(const TorchNode& node, const TypeMap& types) {
  return (!has_argument(node, "start") || argument(node, "start", types) == Dim(0)) &&
         (!has_argument(node, "step") || argument(node, "step", types) == Dim(1));
}

bool adds_nothing(const TorchNode& node) {
  const auto added = torch::jit::toIValue(node.input(1));
  return added && added->isInt() && added->toInt() == 0;
}

// Returns the axis that alone has more than one element; the last axis if none has; nothing if several have.
std::optional<size_t> only_axis(const Dims& dims) {
  const auto is_long = [](const Dim& dim) { return dim != Dim(1); };
  if (dims.empty() || std::count_if(dims.begin(), dims.end(), is_long) > 1) return std::nullopt;
  const auto found = std::find_if(dims.begin(), dims.end(), is_long);
  return found == dims.end() ? dims.size() - 1 : static_cast<size_t>(found - dims.begin());
}

bool is_index(at::ScalarType dtype) {  // a bool or a byte is a mask
  return dtype == at::kInt || dtype == at::kLong;
}

// True if the tensor's elements are 0, 1 and so on, in their order.
bool counts(const TorchValue& value, const TypeMap& types) {
  static const std::unordered_set<std::string> keeping = {
      "aten::unsqueeze", "aten::view",  "aten::reshape", "aten::to",  "aten::expand", "aten::contiguous",
      "aten::alias",     "aten::slice", "aten::detach",  "aten::add", "aten::sub"};
  const TorchNode& node = *value.node();
  const TensorType* type = tensor_type_of(&value, types);
  if (type == nullptr || !is_index(type->dtype) || !only_axis(type->dims)) return false;
  const std::string kind = node.kind().toQualString();
  if (kind == "aten::arange") return counts_up(node, types);
  if (keeping.count(kind) == 0 || ((kind == "aten::add" || kind == "aten::sub") && !adds_nothing(node))) return false;
  // Then the slice takes all elements, and expand() repeats none.
  const TensorType* whole = tensor_type_of(node.input(0), types);
  return whole != nullptr && product(whole->dims) == product(type->dims) && counts(*node.input(0), types);
}

bool counts(const at::Tensor& constant) {
  return is_index(constant.scalar_type()) && constant.reshape({-1}).to(at::kLong).equal(at::arange(constant.numel()));
}

}  // namespace

std::optional<Dims> counted_elements(const OpArguments& args, const std::vector<AxisIndex>& indices) {
  std::optional<size_t> before;  // axes from the previous index's axis to the end
  Dims counted;
  for (const AxisIndex& index : indices) {
    const TensorType type = type_of(args, index);
    const auto axis = only_axis(type.dims);
    const bool is_counted = index.computed == nullptr ? counts(index.constant) : counts(*index.computed, args.types());
    if (!axis || !is_counted) return std::nullopt;
    counted.push_back(type.dims[*axis]);
    if (counted.back() == Dim(1)) continue;
    const size_t behind = type.dims.size() - *axis;
    if (before && *before <= behind) return std::nullopt;
    before = behind;
  }
  return counted;
}

}  // namespace nnapi_convert
