// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/shape_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace nnapi_convert {

std::vector<ValueType> same_as_self(const OpArguments& args) {
  return {args.tensor("self")};
}

std::vector<ValueType> same_as_input(const OpArguments& args) {
  return {args.tensor("input")};
}

std::vector<ValueType> float_self(const OpArguments& args) {
  require_float(args, args.tensor("self"));
  return same_as_self(args);
}

std::vector<ValueType> float_or_quantized_self(const OpArguments& args) {
  const TensorType type = args.tensor(tensor_name(args));
  require_float_or_quantized(args, type);
  return {type};
}

std::vector<ValueType> given_quantization(const OpArguments& args) {
  TensorType type = args.tensor(tensor_name(args));
  args.require(type.dtype == at::kQUInt8, "a tensor " + to_text(type), "quint8");
  type.quantization = {args.number("output_scale"), args.integer("output_zero_point")};
  return {type};
}

std::string tensor_name(const OpArguments& args) {
  return args.node().schema().arguments()[0].name();
}

namespace {

std::set<std::pair<int, int>> sizes_in(const Dim& dim) {
  std::set<std::pair<int, int>> sizes;
  dim.text([&sizes](int input, int axis) {
    sizes.emplace(input, axis);
    return std::string();
  });
  return sizes;
}

// False for two sizes that depend on the same sizes of the inputs and differ for a few usual values of these.
bool may_be_equal(const Dim& a, const Dim& b) {
  if (sizes_in(a) != sizes_in(b)) return true;
  for (const int64_t size : {16, 96, 224, 320}) {
    const auto every = [size](int, int) { return size; };
    if (a.evaluate(every) == b.evaluate(every)) return true;
  }
  return false;
}

bool is_weight(const torch::jit::Node& node) {
  if (node.kind() == c10::prim::GetAttr) return node.output()->type()->kind() == c10::TypeKind::TensorType;
  if (node.kind() != c10::prim::Constant || !node.hasAttribute(c10::attr::value)) return false;
  if (node.kindOf(c10::attr::value) != torch::jit::AttributeKind::t) return false;
  const at::Tensor& tensor = node.t(c10::attr::value);
  return tensor.is_floating_point() && tensor.dim() > 0;
}

bool has_weights(const torch::jit::Block& block) {
  return std::any_of(block.nodes().begin(), block.nodes().end(), [](const torch::jit::Node* node) {
    const auto inner = node->blocks();
    return is_weight(*node) ||
           std::any_of(inner.begin(), inner.end(), [](const torch::jit::Block* each) { return has_weights(*each); });
  });
}

}  // namespace

Dims broadcast(const OpArguments& args, const Dims& a, const Dims& b) {
  const Dims& longer = a.size() >= b.size() ? a : b;
  const Dims& shorter = a.size() >= b.size() ? b : a;
  Dims result = longer;
  const size_t offset = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    Dim& left = result[offset + i];
    const Dim& right = shorter[i];
    if (left == right || right == Dim(1)) continue;
    const bool differ = left.is_fixed() && right.is_fixed() && left != Dim(1);
    args.require(!differ, fmt::format("sizes {} and {}", to_text(a), to_text(b)), "sizes that broadcast");
    const bool are_open = !left.is_fixed() && !right.is_fixed();
    args.require(!are_open || may_be_equal(left, right), fmt::format("sizes {} and {}", to_text(a), to_text(b)),
                 "sizes that broadcast whatever the input's", "give every size of the input with --input");
    if (left == Dim(1) || right.is_fixed()) left = right;
  }
  return result;
}

int64_t checked_axis(const OpArguments& args, int64_t axis, size_t rank) {
  const auto signed_rank = static_cast<int64_t>(rank);
  args.require(axis >= -signed_rank && axis < signed_rank, fmt::format("axis {} of a tensor of rank {}", axis, rank),
               fmt::format("{} to {}", -signed_rank, signed_rank - 1));
  return axis < 0 ? axis + signed_rank : axis;
}

std::vector<int64_t> reduced_axes(const OpArguments& args, const TensorType& self) {
  std::vector<int64_t> axes;
  if (args.has("dim") && !args.is_none("dim")) axes = args.integers("dim");
  if (self.rank() == 0) return {};
  for (int64_t& axis : axes) axis = checked_axis(args, axis, self.rank());
  if (axes.empty()) {
    for (size_t i = 0; i < self.rank(); ++i) axes.push_back(static_cast<int64_t>(i));
  }
  std::sort(axes.begin(), axes.end());
  const auto twice = std::adjacent_find(axes.begin(), axes.end());
  if (twice != axes.end()) args.refuse(fmt::format("axis {} twice", *twice), "each axis once");
  return axes;
}

Dims without_axes(const Dims& dims, const std::vector<int64_t>& axes, bool keeps_axes) {
  Dims rest;
  for (size_t i = 0; i < dims.size(); ++i) {
    const bool is_reduced = std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) != axes.end();
    if (!is_reduced) rest.push_back(dims[i]);
    if (is_reduced && keeps_axes) rest.emplace_back(1);
  }
  return rest;
}

bool keeps_axes(const OpArguments& args) {
  return args.has("keepdim") && args.boolean("keepdim");
}

Dim window_output(const Dim& input, int64_t padding, int64_t dilation, int64_t kernel, int64_t stride) {
  return (input + Dim(padding - dilation * (kernel - 1) - 1)).floor_div(stride) + Dim(1);
}

Dims as_image(const Dims& dims, size_t spatial) {
  Dims result = dims;
  if (result.size() == spatial + 1) result.insert(result.begin(), Dim(1));
  if (spatial == 1) result.insert(result.begin() + 2, Dim(1));
  return result;
}

void require_positive(const OpArguments& args, const Dims& dims) {
  for (const Dim& dim : dims) {
    args.require(!dim.is_fixed() || dim.value() >= 1, "a result of shape " + to_text(dims), "sizes of at least 1",
                 "the input may be too small for this model: see --input");
  }
}

void require_rank(const OpArguments& args, const TensorType& type, size_t lowest, size_t highest) {
  const std::string needed =
      lowest == highest ? fmt::format("rank {}", lowest) : fmt::format("rank {} to {}", lowest, highest);
  args.require(type.rank() >= lowest && type.rank() <= highest, "a tensor " + to_text(type), needed);
}

std::string hint_for_floats(const torch::jit::Graph& graph) {
  if (has_weights(*graph.block())) return "convert the model with model.float()";
  return "compute in float32: give inputs of another width with --input DIMS:float32, and cast in forward what it "
         "makes "
         "so, as with x.float()";
}

void require_float(const OpArguments& args, const TensorType& type) {
  args.require(type.dtype == at::kFloat, "a tensor " + to_text(type), "float32",
               type.dtype == at::kDouble || type.dtype == at::kHalf ? hint_for_floats(*args.node().owningGraph()) : "");
}

void require_float_or_quantized(const OpArguments& args, const TensorType& type) {
  if (type.dtype == at::kQUInt8) return;
  args.require(type.dtype == at::kFloat, "a tensor " + to_text(type), "float32 or quint8",
               type.dtype == at::kDouble || type.dtype == at::kHalf ? hint_for_floats(*args.node().owningGraph()) : "");
}

}  // namespace nnapi_convert
