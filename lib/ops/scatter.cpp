// SPDX-License-Identifier: BSD-3-Clause
// Elements written to computed places along an axis: scatter, index_add, index_copy and their like.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <limits>

#include "lib/ops/axis.h"
#include "lib/ops/families.h"
#include "lib/ops/formula.h"
#include "lib/ops/movement.h"
#include "lib/ops/shape_rules.h"
#include "lib/ops/writing.h"

namespace nnapi_convert {
namespace {

std::string source_name(const OpArguments& args) {
  return args.has("src") ? "src" : args.has("source") ? "source" : "value";
}

bool has_source(const OpArguments& args) {
  return source_name(args) != "value";
}

std::vector<int64_t> sizes_of(const TensorType& type) {
  return type.rank() == 0 ? std::vector<int64_t>{1} : fixed_values(type.dims);
}

void check_index(const OpArguments& args) {
  const TensorType index = args.tensor("index");
  args.require(index.dtype == at::kInt || index.dtype == at::kLong, "indices " + to_text(index), "int32 or int64");
  args.require(all_fixed(index.dims), "flexible sizes", "fixed sizes", "give every size of the input with --input");
  args.require(product(index.dims).value() > 0, "no index", "one or more");
}

// For each row of the tensor along the axis, the elements of the index and of the source that belong to it, by their
// places in their own tensors, counted from 1; 0 means none.
struct Layout {
  size_t axis = 0;
  at::Tensor index, source;
};

at::Tensor counted(const std::vector<int64_t>& sizes) {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  return (at::arange(count) + 1).reshape(sizes);
}

// Returns [rows, places along the axis] of `places`, which may cover only a part of the tensor along the other axes.
at::Tensor rows_at(const at::Tensor& places, const std::vector<int64_t>& sizes, int64_t axis) {
  std::vector<int64_t> whole = sizes;
  whole[static_cast<size_t>(axis)] = places.size(axis);
  const at::Tensor padded = at::zeros(whole, at::kLong);
  at::Tensor covered = padded;
  for (int64_t i = 0; i < places.dim(); ++i) covered = covered.narrow(i, 0, places.size(i));
  covered.copy_(places);
  return padded.movedim(axis, -1).reshape({-1, places.size(axis)});
}

// Returns the layout for an index of the tensor's rank: an index for each element of the source, which may be larger.
Layout layout_of_each(const OpArguments& args, const TensorType& self) {
  Layout layout;
  layout.axis = axis_argument(args, self);
  const std::vector<int64_t> sizes = sizes_of(self), index = sizes_of(args.tensor("index"));
  const auto axis = static_cast<int64_t>(layout.axis);
  args.require(index.size() == sizes.size(), "an index " + to_text(args.tensor("index")),
               "the rank of " + to_text(self));
  for (size_t i = 0; i < sizes.size(); ++i) {
    args.require(i == layout.axis || index[i] <= sizes[i], "an index " + to_text(args.tensor("index")),
                 "sizes of " + to_text(self) + " at most");
  }
  layout.index = rows_at(counted(index), sizes, axis);
  if (!has_source(args)) return layout;
  const TensorType written = args.tensor(source_name(args));
  const std::vector<int64_t> whole = sizes_of(written);
  bool covers = whole.size() == index.size();
  for (size_t i = 0; covers && i < index.size(); ++i) covers = index[i] <= whole[i];
  args.require(covers, "a source " + to_text(written), "at least the sizes of " + to_text(args.tensor("index")));
  at::Tensor source = counted(whole);
  for (int64_t i = 0; i < source.dim(); ++i) source = source.narrow(i, 0, index[static_cast<size_t>(i)]);
  layout.source = rows_at(source, sizes, axis);
  return layout;
}

// Returns the layout for a vector of indices: one for each slice of the source along the axis.
Layout layout_of_slices(const OpArguments& args, const TensorType& self) {
  Layout layout;
  layout.axis = axis_argument(args, self);
  const TensorType source = args.tensor("source"), index = args.tensor("index");
  const std::vector<int64_t> sizes = sizes_of(self);
  std::vector<int64_t> needed = sizes;
  needed[layout.axis] = product(index.dims).value();
  args.require(sizes_of(source) == needed || product(source.dims) == Dim(1), "a source " + to_text(source),
               "the sizes of " + to_text(self) + ", along the axis those of the index");
  layout.source = rows_at(counted(needed), sizes, static_cast<int64_t>(layout.axis));
  const int64_t rows = layout.source.size(0);
  layout.index = counted({needed[layout.axis]}).unsqueeze(0).expand({rows, needed[layout.axis]}).contiguous();
  return layout;
}

// Returns the layout for indices into the flat tensor, which is one row.
Layout layout_of_places(const OpArguments& args, const TensorType&) {
  const TensorType index = args.tensor("index"), source = args.tensor("source");
  args.require(product(index.dims) == product(source.dims), "a source " + to_text(source),
               "as many elements as " + to_text(index));
  Layout layout;
  layout.index = counted({1, product(index.dims).value()});
  layout.source = layout.index;
  return layout;
}

// Returns the elements of a tensor, as float32, at the places of a table; `none` at place 0.
Expression arranged(const Expression& x, const at::Tensor& table, double none) {
  OpContext& ctx = x.context();
  const Dims dims = to_dims(table.sizes().vec());
  const Expression values = cast(x, at::kFloat);
  const Dim count = product(values.type().dims);
  if (count == Dim(1) && table.min().item<int64_t>() == 1) return expand(reshape(values, {Dim(1), Dim(1)}), dims);
  if (product(dims) == count && at::equal(table.flatten(), at::arange(table.numel()) + 1)) return reshape(values, dims);
  const bool has_none = table.min().item<int64_t>() == 0;
  Expression flat = reshape(values, {count});
  if (has_none) {
    const Expression zero = tensor_constant(ctx, at::full({1}, none, at::kFloat));
    flat = zero.then(OperationCode::CONCATENATION, {flat.id(), ctx.builder().int32(0)},
                     flat.type().with_dims({count + Dim(1)}));
  }
  const at::Tensor places = (has_none ? table : table - 1).flatten();
  const Expression picked = flat.then(OperationCode::GATHER, {ctx.builder().int32(0), ctx.constant_operand(places)},
                                      flat.type().with_dims({Dim(table.numel())}));
  return reshape(picked, dims);
}

using MakeLayout = Layout (*)(const OpArguments&, const TensorType&);

Expression source_rows(OpContext& ctx, const Layout& layout) {
  if (has_source(ctx)) return arranged(argument(ctx, source_name(ctx)), layout.source, 0);
  const TensorType type{at::kFloat, to_dims(layout.index.sizes().vec()), {}};
  return filled(ctx, number_value(ctx, "value"), type);
}

// Reads the tensor in rows along the axis, or as one row (`is_flat`), with its index and source.
Writing read_writing(OpContext& ctx, const Layout& layout, bool is_flat) {
  const Expression x = cast(argument(ctx, "self"), at::kFloat);
  const Expression rows = is_flat ? reshape(x, {Dim(1), product(x.type().dims)}) : as_rows(x, layout.axis);
  const int64_t size = rows.type().dims[1].value();
  require_few_pairs(ctx, Dim(layout.index.numel()) * Dim(size));
  const Expression given = arranged(argument(ctx, "index"), layout.index, -1 - static_cast<double>(size));
  const Dims dims = given.type().dims;
  const Expression index = reshape(from_front(given, static_cast<double>(size)), {dims[0], dims[1], Dim(1)});
  return {rows, source_rows(ctx, layout), compare(OperationCode::EQUAL, index, positions(ctx, size, 3))};
}

void set_rows(const Expression& rows, size_t axis, bool is_flat) {
  const TensorType type = rows.context().output_type();
  if (is_flat || type.rank() == 0) return reshape(rows, type.dims).set_output();
  from_rows(rows, type, axis).set_output();
}

// A reduction: the operation on the elements that are written to one place, and `combine` for its result and the
// element that was there.
struct Reduction {
  OperationCode code;
  double neutral;
  Expression (*combine)(const Expression&, const Expression&);
};

Expression plus(const Expression& a, const Expression& b) {
  return a + b;
}

Expression times(const Expression& a, const Expression& b) {
  return a * b;
}

Expression greater(const Expression& a, const Expression& b) {
  return maximum(a, b);
}

Expression lesser(const Expression& a, const Expression& b) {
  return minimum(a, b);
}

Reduction reduction(const OpArguments& args, const std::string& name) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (name == "sum" || name == "add" || name == "mean") return {OperationCode::REDUCE_SUM, 0, plus};
  if (name == "prod" || name == "multiply") return {OperationCode::REDUCE_PROD, 1, times};
  if (name == "amax") return {OperationCode::REDUCE_MAX, -kInfinity, greater};
  args.require(name == "amin", "reduce=" + name, "sum, prod, mean, amax or amin");
  return {OperationCode::REDUCE_MIN, kInfinity, lesser};
}

void lower_reduced(OpContext& ctx, MakeLayout make_layout, bool is_flat, const std::string& name, bool includes_self) {
  const TensorType type = ctx.tensor("self");
  const Layout layout = make_layout(ctx, type);
  const double alpha = ctx.has("alpha") ? ctx.number("alpha") : 1;
  const Reduction how = reduction(ctx, name);
  const bool is_mean = name == "mean";
  ctx.require(!is_mean || type.dtype == at::kFloat, "a mean of " + dtype_name(type.dtype), "float32");
  const Writing writing = read_writing(ctx, layout, is_flat);
  const Expression found =
      reduced_writes({writing.self, writing.source * alpha, writing.is_there}, how.code, how.neutral);
  if (includes_self) {
    const Expression all = how.combine(writing.self, found);
    return set_rows(is_mean ? all / (counted_writes(writing) + 1) : all, layout.axis, is_flat);
  }
  const Expression counts = counted_writes(writing);
  const Expression result = is_mean ? found / counts : found;
  set_rows(choose(is_equal(counts, 0), writing.self, result), layout.axis, is_flat);
}

void lower_replaced(OpContext& ctx, MakeLayout make_layout, bool is_flat) {
  const Layout layout = make_layout(ctx, ctx.tensor("self"));
  set_rows(last_writes(read_writing(ctx, layout, is_flat)), layout.axis, is_flat);
}

std::vector<ValueType> scattered_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  require_written(args, self);
  check_index(args);
  if (has_source(args)) {
    const TensorType source = args.tensor(source_name(args));
    require_written(args, source);
    args.require(source.dtype == self.dtype, "a source " + to_text(source), "the dtype of " + to_text(self));
  }
  return {self};
}

// True if a constant table can describe the operation: the index is constant.
bool is_table(const OpArguments& args) {
  return args.is_constant("index") && args.tensor("self").rank() > 0 && has_source(args);
}

std::vector<ValueType> replaced_type(const OpArguments& args) {
  return is_table(args) ? moved_type(args) : scattered_type(args);
}

template <MakeLayout make_layout>
void lower_replacement(OpContext& ctx) {
  if (is_table(ctx)) return lower_moved(ctx);
  lower_replaced(ctx, make_layout, false);
}

void lower_scatter_put(OpContext& ctx) {
  if (ctx.boolean("accumulate")) return lower_reduced(ctx, layout_of_places, true, "sum", true);
  if (is_table(ctx)) return lower_moved(ctx);
  lower_replaced(ctx, layout_of_places, true);
}

template <MakeLayout make_layout>
void lower_scatter_sum(OpContext& ctx) {
  lower_reduced(ctx, make_layout, false, "sum", true);
}

template <MakeLayout make_layout>
void lower_named(OpContext& ctx) {
  lower_reduced(ctx, make_layout, false, ctx.string("reduce"), !ctx.has("include_self") || ctx.boolean("include_self"));
}

std::vector<ValueType> fill_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  require_written(args, self);
  check_index(args);
  return {self};
}

// Lowers index_fill: fills each place that any index names.
void lower_index_fill(OpContext& ctx) {
  const Expression self = argument(ctx, "self");
  const Expression x = around_axis(cast(self, at::kFloat), axis_argument(ctx, self.type()));
  const int64_t size = x.type().dims[1].value();
  const Dim count = product(ctx.tensor("index").dims);
  require_few_pairs(ctx, count * Dim(size));
  const Expression given = reshape(argument_as(ctx, "index", at::kFloat), {count, Dim(1)});
  const Expression index = from_front(given, static_cast<double>(size));
  const Expression is_there = compare(OperationCode::EQUAL, index, positions(ctx, size, 2));
  const Expression written = reduce(OperationCode::REDUCE_MAX, as_number(is_there), {0}, false);
  const Expression mask = cast(expand(reshape(written, {Dim(1), Dim(size), Dim(1)}), x.type().dims), at::kBool);
  const Expression value =
      expand(reshape(argument_as(ctx, "value", at::kFloat), {Dim(1), Dim(1), Dim(1)}), x.type().dims);
  reshape(select(mask, value, x), self.type().dims).set_output();
}

// The type of take, whose places in the flat tensor may count from the end.
std::vector<ValueType> take_type(const OpArguments& args) {
  if (args.is_constant("index")) return moved_type(args);
  const TensorType self = args.tensor("self");
  require_written(args, self);
  check_index(args);
  return {self.with_dims(args.tensor("index").dims)};
}

void lower_take(OpContext& ctx) {
  if (ctx.is_constant("index")) return lower_moved(ctx);
  const Expression self = argument(ctx, "self");
  const Dim size = product(self.type().dims), count = product(ctx.tensor("index").dims);
  const Expression given = reshape(argument_as(ctx, "index", at::kFloat), {count});
  const Expression index = from_front(given, static_cast<double>(size.value()));
  const Expression flat = reshape(cast(self, at::kFloat), {size});
  const Expression picked = flat.then(OperationCode::GATHER, {ctx.builder().int32(0), cast(index, at::kInt).id()},
                                      flat.type().with_dims({count}));
  reshape(picked, ctx.output_type().dims).set_output();
}

constexpr const char* kScatterNote =
    "fixed sizes; a computed index is compared with every place, at most 2^22 pairs; integers: those known to be up to "
    "2^24";

OpRule rule(const char* schema, ShapeRule shape, LowerRule lower, OpTraits traits) {
  return {schema, 3, kScatterNote, shape, lower, traits};
}

}  // namespace

OpRules scatter_rules() {
  return {
      rule("aten::scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", replaced_type,
           lower_replacement<layout_of_each>,
           kUnprovedRows | Index::kAlongDim | ResultSizes::kLikeSelf | Fact::kKeepsRankAlongAxis),
      rule("aten::scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor", scattered_type,
           lower_replacement<layout_of_each>,
           kUnprovedRows | Index::kAlongDim | ResultSizes::kLikeSelf | Fact::kKeepsRankAlongAxis),
      rule("aten::scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor",
           scattered_type, lower_named<layout_of_each>,
           kUnprovedRows | Index::kAlongDim | ResultSizes::kLikeSelf | Fact::kKeepsRankAlongAxis),
      rule("aten::scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor",
           scattered_type, lower_named<layout_of_each>,
           kUnprovedRows | Index::kAlongDim | ResultSizes::kLikeSelf | Fact::kKeepsRankAlongAxis),
      rule("aten::scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", scattered_type,
           lower_scatter_sum<layout_of_each>,
           kUnprovedRows | Index::kAlongDim | ResultSizes::kLikeSelf | Fact::kKeepsRankAlongAxis),
      rule("aten::scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool "
           "include_self=True) -> Tensor",
           scattered_type, lower_named<layout_of_each>, kUnprovedRows | Fact::kKeepsRankAlongAxis),
      rule("aten::index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
           scattered_type, lower_scatter_sum<layout_of_slices>,
           kUnprovedRows | Index::kAlongDim | ResultSizes::kLikeSelf | Fact::kKeepsRankAlongAxis),
      rule("aten::index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor", replaced_type,
           lower_replacement<layout_of_slices>,
           kUnprovedRows | Index::kAlongDim | ResultSizes::kLikeSelf | Fact::kKeepsRankAlongAxis),
      rule("aten::index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool "
           "include_self=True) -> Tensor",
           scattered_type, lower_named<layout_of_slices>, kUnprovedRows | Fact::kKeepsRankAlongAxis),
      rule("aten::index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor", fill_type,
           lower_index_fill, kUnprovedRows | Index::kAlongDim | ResultSizes::kLikeSelf | Fact::kKeepsRankAlongAxis),
      rule("aten::index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor", fill_type,
           lower_index_fill, kUnprovedRows | Index::kAlongDim | ResultSizes::kLikeSelf | Fact::kKeepsRankAlongAxis),
      rule("aten::put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor", scattered_type,
           lower_scatter_put, kUnprovedRows),
      rule("aten::take(Tensor self, Tensor index) -> Tensor", take_type, lower_take, kUnprovedRows),
  };
}

}  // namespace nnapi_convert
