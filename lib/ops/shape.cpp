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

// RESHAPE to the output's shape; nothing where that is the input's.
void lower_reshape(OpContext& ctx) {
  const LoweredTensor self = ctx.operand("self");
  const Dims dims = ctx.output_type().dims;
  if (dims == self.type.dims) return ctx.set_output(self.id);
  ctx.emit(OperationCode::RESHAPE, {self.id, ctx.builder().int32_tensor(dims)});
}

std::vector<ValueType> reshaped(const OpArguments& args, const TensorType& self, const Dims& dims) {
  args.require(!dims.empty() && dims.size() <= 4, "a result of shape " + to_text(dims), "rank 1 to 4");
  return {self.with_dims(dims)};
}

std::vector<ValueType> flatten_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  require_rank(args, self, 1, 4);
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

// The sizes asked for, with -1 replaced by what the other sizes leave.
std::vector<ValueType> view_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  Dims dims = args.sizes(args.has("size") ? "size" : "shape");
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

std::vector<ValueType> unsqueeze_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  const int64_t axis = checked_axis(args, args.integer("dim"), self.rank() + 1);
  Dims dims = self.dims;
  dims.insert(dims.begin() + axis, Dim(1));
  return reshaped(args, self, dims);
}

std::vector<ValueType> squeeze_dim_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
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

std::vector<int64_t> permutation(const OpArguments& args, const TensorType& self) {
  std::vector<int64_t> order(self.rank());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  if (args.has("dim0")) {
    std::swap(order[static_cast<size_t>(checked_axis(args, args.integer("dim0"), self.rank()))],
              order[static_cast<size_t>(checked_axis(args, args.integer("dim1"), self.rank()))]);
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
  require_rank(args, self, 1, 4);
  return {self.with_dims(nnapi::permute(self.dims, permutation(args, self)))};
}

void lower_permute(OpContext& ctx) {
  const LoweredTensor self = ctx.operand("self");
  const nnapi::OperandId order = ctx.builder().int32_tensor(to_dims(permutation(ctx, self.type)));
  ctx.emit(OperationCode::TRANSPOSE, {self.id, order});
}

std::vector<ValueType> cat_type(const OpArguments& args) {
  const std::string list = args.has("qx") ? "qx" : "tensors";
  const std::vector<TensorType> tensors = args.tensors(list);
  args.require(!tensors.empty(), "no tensors to join", "one or more");
  const TensorType& first = tensors.front();
  require_rank(args, first, 1, 4);
  const auto axis = static_cast<size_t>(checked_axis(args, args.integer("dim"), first.rank()));
  Dims dims = first.dims;
  dims[axis] = Dim(0);
  for (const TensorType& tensor : tensors) {
    args.require(tensor.dtype == first.dtype && tensor.rank() == first.rank(),
                 fmt::format("{} and {}", to_text(first), to_text(tensor)), "tensors of equal dtype and rank");
    for (size_t i = 0; i < first.rank(); ++i) {
      const bool differ = tensor.dims[i].is_fixed() && first.dims[i].is_fixed() && tensor.dims[i] != first.dims[i];
      args.require(i == axis || !differ, fmt::format("{} and {}", to_text(first), to_text(tensor)),
                   fmt::format("equal sizes but along axis {}", axis));
    }
    dims[axis] += tensor.dims[axis];
  }
  TensorType type = first.with_dims(dims);
  if (args.has("scale") && !args.is_none("scale")) {
    type.quantization = {args.number("scale"), args.integer("zero_point")};
  }
  return {type};
}

// Quantised inputs are brought to the output's scale first: below feature level 3 NNAPI wants them equal.
void lower_cat(OpContext& ctx) {
  const TensorType output = ctx.output_type();
  const bool is_quantized_op = ctx.has("qx");
  std::vector<nnapi::OperandId> inputs;
  for (const LoweredTensor& tensor : ctx.operands(is_quantized_op ? "qx" : "tensors")) {
    const bool same = tensor.type.quantization == output.quantization;
    ctx.require(same || is_quantized_op, fmt::format("quantised tensors of unequal scales: {}", to_text(tensor.type)),
                to_text(output), "use torch.ao.nn.quantized.FloatFunctional.cat");
    inputs.push_back(tensor.id);
  }
  if (inputs.size() == 1) {
    ctx.require(output.quantization == ctx.operands(is_quantized_op ? "qx" : "tensors")[0].type.quantization,
                "one tensor with another scale than its result", "equal scales");
    return ctx.set_output(inputs[0]);
  }
  const int64_t axis = checked_axis(ctx, ctx.integer("dim"), output.rank());
  inputs.push_back(ctx.builder().int32(axis));
  ctx.emit(OperationCode::CONCATENATION, inputs);
}

// PyTorch clamps start and end to the axis; a negative one counts from its end.
int64_t clamped(int64_t index, int64_t size) {
  return std::min(size, std::max<int64_t>(0, index < 0 ? index + size : index));
}

struct Slice {
  int64_t axis, begin, end, step;
};

Slice read_slice(const OpArguments& args, const TensorType& self) {
  const int64_t axis = checked_axis(args, args.integer("dim"), self.rank());
  const Dim& size = self.dims[static_cast<size_t>(axis)];
  args.require(size.is_fixed(), "a slice of a flexible size", "a fixed size",
               "give every size of the input with --input");
  const int64_t begin = args.is_none("start") ? 0 : clamped(args.integer("start"), size.value());
  const int64_t end = args.is_none("end") ? size.value() : clamped(args.integer("end"), size.value());
  return {axis, begin, end, args.integer("step")};
}

std::vector<ValueType> slice_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  require_rank(args, self, 1, 4);
  const bool is_whole = args.is_none("end") || args.integer("end") == INT64_MAX;
  const bool from_start = args.is_none("start") || args.integer("start") == 0;
  if (is_whole && from_start && args.integer("step") == 1) return {self};
  const Slice slice = read_slice(args, self);
  Dims dims = self.dims;
  dims[static_cast<size_t>(slice.axis)] = Dim((slice.end - slice.begin + slice.step - 1) / slice.step);
  require_positive(args, dims);
  return {self.with_dims(dims)};
}

void lower_slice(OpContext& ctx) {
  const LoweredTensor self = ctx.operand("self");
  if (ctx.output_type().dims == self.type.dims) return ctx.set_output(self.id);
  const Slice slice = read_slice(ctx, self.type);
  const auto axis = static_cast<size_t>(slice.axis);
  Dims begin(self.type.rank(), Dim(0));
  Dims end = self.type.dims;
  Dims steps(self.type.rank(), Dim(1));
  begin[axis] = Dim(slice.begin);
  end[axis] = Dim(slice.end);
  steps[axis] = Dim(slice.step);
  nnapi::Builder& builder = ctx.builder();
  const nnapi::OperandId no_mask = builder.int32(0);
  ctx.emit(OperationCode::STRIDED_SLICE, {self.id, builder.int32_tensor(begin), builder.int32_tensor(end),
                                          builder.int32_tensor(steps), no_mask, no_mask, no_mask});
}

// Dropout and its like do nothing in evaluation.
std::vector<ValueType> dropout_type(const OpArguments& args) {
  args.require(!args.boolean("train"), "train = True", "False", "call model.eval() before tracing or scripting");
  return same_as_input(args);
}

}  // namespace

OpRules shape_rules() {
  return {
      {"aten::flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)", 1, "", flatten_type,
       lower_reshape},
      {"aten::reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)", 1, "", view_type, lower_reshape},
      {"aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)", 1, "", view_type, lower_reshape},
      {"aten::unsqueeze(Tensor(a) self, int dim) -> Tensor(a)", 1, "", unsqueeze_type, lower_reshape},
      {"aten::squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)", 1, "", squeeze_dim_type, lower_reshape},
      {"aten::squeeze(Tensor(a) self) -> Tensor(a)", 1, "fixed sizes", squeeze_type, lower_reshape},
      {"aten::permute(Tensor(a) self, int[] dims) -> Tensor(a)", 2, "", permute_type, lower_permute},
      {"aten::transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", 2, "", permute_type, lower_permute},
      {"aten::cat(Tensor[] tensors, int dim=0) -> Tensor", 1, "quint8: equal scales", cat_type, lower_cat},
      {"quantized::cat(Tensor[] qx, int dim, float? scale, int? zero_point) -> Tensor", 1,
       "unequal scales: feature level 3", cat_type, lower_cat},
      {"aten::slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> "
       "Tensor(a)",
       2, "a fixed size along the axis", slice_type, lower_slice},
      {"aten::dropout(Tensor input, float p, bool train) -> Tensor", 1, "evaluation mode: nothing", dropout_type,
       lower_identity},
      {"aten::feature_dropout(Tensor input, float p, bool train) -> Tensor", 1, "evaluation mode: nothing",
       dropout_type, lower_identity},
      {"aten::alpha_dropout(Tensor input, float p, bool train) -> Tensor", 1, "evaluation mode: nothing", dropout_type,
       lower_identity},
      {"aten::contiguous(Tensor(a) self, *, MemoryFormat memory_format=0) -> Tensor(a)", 1, "nothing", same_as_self,
       lower_identity},
      {"aten::detach(Tensor(a) self) -> Tensor(a)", 1, "nothing", same_as_self, lower_identity},
      {"aten::clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", 1, "nothing", same_as_self,
       lower_identity},
  };
}

}  // namespace nnapi_convert
