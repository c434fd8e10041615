// SPDX-License-Identifier: BSD-3-Clause
// Operations that move elements and compute nothing.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "lib/ops/families.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

void lower_identity(OpContext& ctx) {
  ctx.set_output(ctx.operand(ctx.has("self") ? "self" : "input").id);
}

// Appends a RESHAPE to the output's shape, unless that is the input's.
void lower_reshape(OpContext& ctx) {
  ctx.set_output(ctx.reshaped(ctx.operand("self"), ctx.output_type().dims));
}

std::vector<ValueType> reshaped(const OpArguments& args, const TensorType& self, const Dims& dims) {
  require_rank(args, self.with_dims(dims), 0, kHighestRank);
  return {self.with_dims(dims)};
}

std::vector<ValueType> flatten_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  if (self.rank() == 0) return reshaped(args, self, {Dim(1)});
  require_rank(args, self, 1, kHighestRank);
  const auto start = static_cast<size_t>(checked_axis(args, args.integer("start_dim"), self.rank()));
  const auto end = static_cast<size_t>(checked_axis(args, args.integer("end_dim"), self.rank()));
  args.require(start <= end, fmt::format("start_dim {} and end_dim {}", start, end), "start_dim <= end_dim");
  Dims dims(self.dims.begin(), self.dims.begin() + static_cast<std::ptrdiff_t>(start));
  Dim flat(1);
  for (size_t i = start; i <= end; ++i) flat *= self.dims[i];
  dims.push_back(flat);
  dims.insert(dims.end(), self.dims.begin() + static_cast<std::ptrdiff_t>(end) + 1, self.dims.end());
  return reshaped(args, self, dims);
}

// Returns the type of a view with these sizes; -1 becomes the size that the other sizes leave.
std::vector<ValueType> view_of(const OpArguments& args, const TensorType& self, Dims dims) {
  Dim known(1);
  Dim* open = nullptr;
  for (Dim& dim : dims) {
    if (dim == Dim(-1)) {
      open = &dim;
    } else {
      known *= dim;
    }
  }
  const Dim total = product(self.dims);
  if (open != nullptr) {
    const auto rest = total.exact_div(known);
    args.require(rest.has_value(), fmt::format("{} elements in a view {}", total.text(), to_text(dims)),
                 "a size that -1 can stand for", "give every size of the input with --input");
    *open = *rest;
  } else {
    args.require(known == total || !known.is_fixed() || !total.is_fixed(),
                 fmt::format("{} elements in a view {}", total.text(), to_text(dims)), "as many elements",
                 "the trace has fixed this size: give the traced shape with --input");
    args.require(known == total, fmt::format("a view {} of {}", to_text(dims), to_text(self.dims)), "as many elements",
                 "the trace has fixed a size that is flexible here: give every size with --input");
  }
  return reshaped(args, self, dims);
}

std::vector<ValueType> view_type(const OpArguments& args) {
  return view_of(args, args.tensor("self"), args.sizes(args.has("size") ? "size" : "shape"));
}

std::vector<ValueType> view_as_type(const OpArguments& args) {
  return view_of(args, args.tensor("self"), args.tensor("other").dims);
}

std::vector<ValueType> ravel_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  return {self.with_dims({product(self.dims)})};
}

// The type of unflatten: one axis becomes several.
std::vector<ValueType> unflatten_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  const auto axis = static_cast<size_t>(checked_axis(args, args.integer("dim"), self.rank()));
  const TensorType part = self.with_dims({self.dims[axis]});
  const Dims sizes = std::get<TensorType>(view_of(args, part, args.sizes("sizes"))[0]).dims;
  Dims dims = self.dims;
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), sizes.begin(), sizes.end());
  return reshaped(args, self, dims);
}

std::vector<ValueType> unsqueeze_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  const int64_t axis = checked_axis(args, args.integer("dim"), self.rank() + 1);
  Dims dims = self.dims;
  dims.insert(dims.begin() + axis, Dim(1));
  return reshaped(args, self, dims);
}

std::vector<ValueType> squeeze_dim_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  if (self.rank() == 0) return {self};
  const int64_t axis = checked_axis(args, args.integer("dim"), self.rank());
  Dims dims = self.dims;
  const Dim& size = dims[static_cast<size_t>(axis)];
  args.require(size.is_fixed(), "a flexible size to squeeze", "a fixed size",
               "give every size of the input with --input");
  if (size == Dim(1)) dims.erase(dims.begin() + axis);
  return reshaped(args, self, dims);
}

std::vector<ValueType> squeeze_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  args.require(all_fixed(self.dims), "flexible sizes to squeeze", "fixed sizes",
               "give every size of the input with --input");
  Dims dims;
  std::copy_if(self.dims.begin(), self.dims.end(), std::back_inserter(dims),
               [](const Dim& dim) { return dim != Dim(1); });
  return reshaped(args, self, dims);
}

// Returns the order of axes of movedim: the axes `source` go to the places `destination`, the others keep their order.
std::vector<int64_t> moved_axes(const OpArguments& args, const TensorType& self) {
  const std::vector<int64_t> from = args.integers("source");
  const std::vector<int64_t> to = args.integers("destination");
  args.require(from.size() == to.size(), fmt::format("{} axes to {} places", from.size(), to.size()), "as many places");
  std::vector<int64_t> order(self.rank(), -1);
  std::vector<bool> is_moved(self.rank(), false);
  for (size_t i = 0; i < from.size(); ++i) {
    const int64_t axis = checked_axis(args, from[i], self.rank());
    order[static_cast<size_t>(checked_axis(args, to[i], self.rank()))] = axis;
    is_moved[static_cast<size_t>(axis)] = true;
  }
  int64_t next = 0;
  for (int64_t& axis : order) {
    if (axis >= 0) continue;
    while (is_moved[static_cast<size_t>(next)]) ++next;
    axis = next++;
  }
  return order;
}

std::vector<int64_t> permutation(const OpArguments& args, const TensorType& self) {
  std::vector<int64_t> order(self.rank());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  if (order.empty()) return order;
  if (args.has("dim0")) {
    std::swap(order[static_cast<size_t>(checked_axis(args, args.integer("dim0"), self.rank()))],
              order[static_cast<size_t>(checked_axis(args, args.integer("dim1"), self.rank()))]);
    return order;
  }
  if (args.has("source")) return moved_axes(args, self);
  if (!args.has("dims")) {  // aten::t, aten::numpy_T
    std::reverse(order.begin(), order.end());
    return order;
  }
  order = args.integers("dims");
  for (int64_t& axis : order) axis = checked_axis(args, axis, self.rank());
  std::vector<int64_t> axes = order;
  std::sort(axes.begin(), axes.end());
  const bool all_once = axes.size() == self.rank() && std::adjacent_find(axes.begin(), axes.end()) == axes.end();
  args.require(all_once, fmt::format("dims = [{}]", fmt::join(order, ", ")),
               fmt::format("each of the {} axes once", self.rank()));
  return order;
}

std::vector<ValueType> permute_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  require_rank(args, self, 0, kHighestRank);
  return {self.with_dims(nnapi::permute(self.dims, permutation(args, self)))};
}

void lower_permute(OpContext& ctx) {
  const LoweredTensor self = ctx.operand("self");
  if (self.type.rank() < 2) return ctx.set_output(self.id);
  const nnapi::OperandId order = ctx.builder().int32_tensor(to_dims(permutation(ctx, self.type)));
  ctx.emit(OperationCode::TRANSPOSE, {self.id, order});
}

// The type of dropout and similar operators, which do nothing in evaluation or with a probability of 0.
std::vector<ValueType> dropout_type(const OpArguments& args) {
  args.require(!args.boolean("train") || args.number("p") == 0, "train = True, for random numbers", "False",
               "call model.eval() before tracing or scripting");
  return same_as_input(args);
}

}  // namespace

OpRules shape_rules() {
  return {
      {"aten::flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)", 1, "", flatten_type,
       lower_reshape, row_wise(Rows::kSameOrder) | Quantised::kKept | Fact::kMovesElements},
      {"aten::reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)", 1, "", view_type, lower_reshape,
       row_wise(Rows::kSameOrder) | Quantised::kKept | Fact::kMovesElements},
      {"aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)", 1, "", view_type, lower_reshape,
       row_wise(Rows::kSameOrder) | Memory::kView | Fact::kMovesElements},
      {"aten::_unsafe_view(Tensor self, SymInt[] size) -> Tensor", 1, "", view_type, lower_reshape, kUnprovedRows},
      {"aten::view_as(Tensor(a) self, Tensor other) -> Tensor(a)", 1, "", view_as_type, lower_reshape,
       kUnprovedRows | Fact::kSizesAreSums | Fact::kMovesElements},
      {"aten::reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)", 1, "", view_as_type, lower_reshape,
       kUnprovedRows | Fact::kSizesAreSums | Fact::kMovesElements},
      {"aten::ravel(Tensor(a) self) -> Tensor(a)", 1, "", ravel_type, lower_reshape, kUnprovedRows},
      {"aten::unflatten.int(Tensor(a) self, int dim, int[] sizes) -> Tensor(a)", 1, "", unflatten_type, lower_reshape,
       row_wise(Rows::kSameOrder) | Fact::kMovesElements},
      {"aten::unsqueeze(Tensor(a) self, int dim) -> Tensor(a)", 1, "", unsqueeze_type, lower_reshape,
       row_wise(Rows::kSameOrder) | Memory::kView | Fact::kMovesElements},
      {"aten::squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)", 1, "", squeeze_dim_type, lower_reshape,
       kUnprovedRows | Memory::kView | Fact::kMovesElements},
      {"aten::squeeze(Tensor(a) self) -> Tensor(a)", 1, "fixed sizes", squeeze_type, lower_reshape,
       kUnprovedRows | Memory::kView | Fact::kMovesElements},
      {"aten::permute(Tensor(a) self, int[] dims) -> Tensor(a)", 2, "", permute_type, lower_permute,
       row_wise(Rows::kPermuted) | Memory::kView | Fact::kMovesElements},
      {"aten::transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", 2, "", permute_type, lower_permute,
       row_wise(Rows::kTransposed) | Memory::kView | Fact::kMovesElements},
      {"aten::movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)", 2, "", permute_type,
       lower_permute, kUnprovedRows | Fact::kMovesElements},
      {"aten::movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)", 2, "", permute_type,
       lower_permute, kUnprovedRows | Fact::kMovesElements},
      {"aten::t(Tensor(a) self) -> Tensor(a)", 2, "", permute_type, lower_permute,
       row_wise(Rows::kTurned) | Memory::kView | Fact::kMovesElements},
      {"aten::numpy_T(Tensor(a) self) -> Tensor(a)", 2, "", permute_type, lower_permute, kUnprovedRows},
      {"aten::dropout(Tensor input, float p, bool train) -> Tensor", 1, "evaluation mode: nothing", dropout_type,
       lower_identity, row_wise(Rows::kElementwiseIfEvaluating) | Fact::kKeepsChannels},
      {"aten::feature_dropout(Tensor input, float p, bool train) -> Tensor", 1, "evaluation mode: nothing",
       dropout_type, lower_identity, row_wise(Rows::kElementwiseIfEvaluating)},
      {"aten::alpha_dropout(Tensor input, float p, bool train) -> Tensor", 1, "evaluation mode: nothing", dropout_type,
       lower_identity, kUnprovedRows},
      {"aten::contiguous(Tensor(a) self, *, MemoryFormat memory_format=0) -> Tensor(a)", 1, "nothing", same_as_self,
       lower_identity, row_wise(Rows::kSameOrder) | Quantised::kKept | Fact::kMovesElements | Fact::kKeepsChannels},
      {"aten::detach(Tensor(a) self) -> Tensor(a)", 1, "nothing", same_as_self, lower_identity,
       kElementwise | Quantised::kKept | Fact::kMovesElements | Fact::kKeepsChannels},
      {"aten::alias(Tensor(a) self) -> Tensor(a)", 1, "nothing", same_as_self, lower_identity,
       kUnprovedRows | Fact::kMovesElements},
      {"aten::lift_fresh(Tensor(a) self) -> Tensor(a)", 1, "nothing", same_as_self, lower_identity, kUnprovedRows},
      {"aten::clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", 1, "nothing", same_as_self,
       lower_identity, kElementwise | Memory::kFresh | Quantised::kKept | Fact::kMovesElements | Fact::kKeepsChannels},
  };
}

}  // namespace nnapi_convert
