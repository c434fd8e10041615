// SPDX-License-Identifier: BSD-3-Clause
// Elements found among others by comparing all pairs, and counted: isin, searchsorted, histc, count_nonzero.
#include <fmt/format.h>

#include "lib/ops/axis.h"
#include "lib/ops/families.h"
#include "lib/ops/formula.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

bool is_tensor_argument(const OpArguments& args, const std::string& name) {
  return args.input(name)->type()->kind() == c10::TypeKind::TensorType;
}

Dims dims_of(const OpArguments& args, const std::string& name) {
  return is_tensor_argument(args, name) ? args.tensor(name).dims : Dims{};
}

// Reshape to a column [count, 1] or a row [1, count].
Expression column(const Expression& x) {
  return reshape(x, {product(x.type().dims), Dim(1)});
}

Expression row(const Expression& x) {
  return reshape(x, {Dim(1), product(x.type().dims)});
}

std::string first_name(const OpArguments& args) {
  return args.has("elements") ? "elements" : "element";
}

std::string second_name(const OpArguments& args) {
  return args.has("test_elements") ? "test_elements" : "test_element";
}

std::vector<ValueType> isin_type(const OpArguments& args) {
  promoted_dtype(args, {first_name(args), second_name(args)});
  const Dims dims = dims_of(args, first_name(args));
  require_few_pairs(args, product(dims) * product(dims_of(args, second_name(args))));
  return {TensorType{at::kBool, dims, {}}};
}

void lower_isin(OpContext& ctx) {
  at::ScalarType dtype = promoted_dtype(ctx, {first_name(ctx), second_name(ctx)});
  if (dtype == at::kBool) dtype = at::kFloat;
  const Expression elements = column(argument_as(ctx, first_name(ctx), dtype));
  const Expression others = row(argument_as(ctx, second_name(ctx), dtype));
  const Expression is_same = compare(OperationCode::EQUAL, elements, others);
  const Expression found = reduce(OperationCode::REDUCE_MAX, as_number(is_same), {1}, true);
  const Expression result = reshape(found, ctx.output_type().dims);
  (ctx.boolean("invert") ? is_equal(result, 0) : is_greater(result, 0)).set_output();
}

std::string boundaries_name(const OpArguments& args) {
  return args.has("boundaries") ? "boundaries" : "sorted_sequence";
}

bool counts_equal(const OpArguments& args) {
  if (!args.has("side") || args.is_none("side")) return args.boolean("right");
  return args.string("side") == "right";
}

// The type of searchsorted, with one sequence for all elements, or one for each row of them.
std::vector<ValueType> searchsorted_type(const OpArguments& args) {
  const TensorType sequence = args.tensor(boundaries_name(args));
  const Dims dims = dims_of(args, "self");
  require_rank(args, sequence, 1, kHighestRank);
  promoted_dtype(args, {boundaries_name(args), "self"});
  args.require(all_fixed(sequence.dims) && all_fixed(dims), "flexible sizes", "fixed sizes",
               "give every size of the input with --input");
  args.require(sequence.dims.back().value() > 0 && product(sequence.dims).value() > 0, "a sequence without elements",
               "one or more");
  const auto leading = [](Dims sizes) { return Dims(sizes.begin(), sizes.end() - 1); };
  args.require(sequence.rank() == 1 || (!dims.empty() && leading(dims) == leading(sequence.dims)),
               "a sequence " + to_text(sequence), "one, or one for each row of " + to_text(dims));
  args.require(!args.has("sorter") || args.is_none("sorter"), "a sorter", "a sorted sequence");
  require_few_pairs(args, product(dims) * sequence.dims.back());
  return {TensorType{args.boolean("out_int32") ? at::kInt : at::kLong, dims, {}}};
}

// searchsorted: counts the numbers of the sequence that are below each element.
void lower_searchsorted(OpContext& ctx) {
  at::ScalarType dtype = promoted_dtype(ctx, {boundaries_name(ctx), "self"});
  if (dtype == at::kBool) dtype = at::kFloat;
  const Expression sequence = argument_as(ctx, boundaries_name(ctx), dtype);
  const Expression self = argument_as(ctx, "self", dtype);
  const Dim size = sequence.type().dims.back();
  const Dim rows = sequence.type().rank() == 1 ? Dim(1) : product(sequence.type().dims).floor_div(size.value());
  const Dim elements = product(self.type().dims).floor_div(rows.value());
  const Expression a = reshape(sequence, {rows, Dim(1), size}), b = reshape(self, {rows, elements, Dim(1)});
  const Expression is_below = compare(counts_equal(ctx) ? OperationCode::LESS_EQUAL : OperationCode::LESS, a, b);
  const Expression count = reduce(OperationCode::REDUCE_SUM, as_number(is_below), {2}, false);
  reshape(count, ctx.output_type().dims).set_output();
}

std::vector<ValueType> histc_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  require_float(args, self);
  const int64_t bins = args.integer("bins");
  args.require(bins > 0, fmt::format("bins={}", bins), "1 or more");
  require_few_pairs(args, product(self.dims) * Dim(bins));
  return {self.with_dims({Dim(bins)})};
}

struct Span {
  Expression least, greatest;
};

// Returns the range of histc; if none is given, the range of the elements, widened by one on either side if all are
// equal.
Span range_of(OpContext& ctx, const Expression& elements) {
  const double least = ctx.number("min"), greatest = ctx.number("max");
  if (least != greatest) return {constant(ctx, least), constant(ctx, greatest)};
  const Expression low = reduce(OperationCode::REDUCE_MIN, elements, {0}, false);
  const Expression high = reduce(OperationCode::REDUCE_MAX, elements, {0}, false);
  const Expression margin = as_number(compare(OperationCode::EQUAL, low, high));
  return {low - margin, high + margin};
}

// histc: the last bin includes the end of the range.
void lower_histc(OpContext& ctx) {
  const int64_t bins = ctx.integer("bins");
  const Expression elements = reshape(argument(ctx, "self"), {product(ctx.tensor("self").dims), Dim(1)});
  const Span range = range_of(ctx, reshape(elements, {elements.type().dims[0]}));
  const Expression place = floor((elements - range.least) / (range.greatest - range.least) * static_cast<double>(bins));
  const Expression is_end = compare(OperationCode::EQUAL, elements, range.greatest);
  const Expression is_in =
      compare(OperationCode::EQUAL, choose(is_end, static_cast<double>(bins - 1), place), positions(ctx, bins, 2));
  reduce(OperationCode::REDUCE_SUM, as_number(is_in), {0}, false).set_output();
}

std::vector<ValueType> count_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  require_rank(args, self, 0, kHighestRank);
  promoted_dtype(args, {"self"});
  return {TensorType{at::kLong, without_axes(self.dims, reduced_axes(args, self), false), {}}};
}

void lower_count(OpContext& ctx) {
  const Expression mask = cast(argument(ctx, "self"), at::kBool);
  reduce(OperationCode::REDUCE_SUM, as_number(mask), reduced_axes(ctx, mask.type()), false).set_output();
}

std::vector<ValueType> nansum_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  require_float(args, self);
  require_rank(args, self, 0, kHighestRank);
  args.require(args.is_none("dtype") || static_cast<at::ScalarType>(args.integer("dtype")) == at::kFloat,
               "another dtype than float32", "None or float32");
  return {self.with_dims(without_axes(self.dims, reduced_axes(args, self), keeps_axes(args)))};
}

void lower_nansum(OpContext& ctx) {
  const Expression x = argument(ctx, "self");
  const Expression numbers = choose(is_nan(x), 0.0, x);
  reduce(OperationCode::REDUCE_SUM, numbers, reduced_axes(ctx, x.type()), keeps_axes(ctx)).set_output();
}

constexpr const char* kSearchNote = "all pairs are compared, at most 2^22";

}  // namespace

OpRules search_rules() {
  return {
      {"aten::isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool "
       "invert=False) -> Tensor",
       3, kSearchNote, isin_type, lower_isin, kUnprovedRows},
      {"aten::isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool "
       "invert=False) -> Tensor",
       3, kSearchNote, isin_type, lower_isin, kUnprovedRows},
      {"aten::isin.Scalar_Tensor(Scalar element, Tensor test_elements, *, bool assume_unique=False, bool "
       "invert=False) -> Tensor",
       3, kSearchNote, isin_type, lower_isin, kUnprovedRows},
      {"aten::bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor", 3,
       kSearchNote, searchsorted_type, lower_searchsorted, kUnprovedRows},
      {"aten::searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, str? "
       "side=None, Tensor? sorter=None) -> Tensor",
       3, kSearchNote, searchsorted_type, lower_searchsorted, kUnprovedRows},
      {"aten::searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool right=False, str? "
       "side=None, Tensor? sorter=None) -> Tensor",
       3, kSearchNote, searchsorted_type, lower_searchsorted, kUnprovedRows},
      {"aten::histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor", 3,
       "float32; every element is compared with every bin, at most 2^22 pairs", histc_type, lower_histc,
       kUnprovedRows | Fact::kCountsByValues},
      {"aten::count_nonzero(Tensor self, int? dim=None) -> Tensor", 3, "counts up to 2^24", count_type, lower_count,
       kUnprovedRows},
      {"aten::count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor", 3, "counts up to 2^24", count_type,
       lower_count, kUnprovedRows},
      {"aten::nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", 3,
       "float32", nansum_type, lower_nansum, kUnprovedRows},
  };
}

}  // namespace nnapi_convert
