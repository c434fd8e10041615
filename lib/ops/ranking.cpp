// SPDX-License-Identifier: BSD-3-Clause
// Rules for elements of a certain rank along an axis: kthvalue, median, quantile, mode, aminmax.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "lib/ops/axis.h"
#include "lib/ops/families.h"
#include "lib/ops/formula.h"
#include "lib/ops/shape_rules.h"
#include "lib/ops/sorting.h"

namespace nnapi_convert {
namespace {

constexpr double kBeyondAll = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TensorType ranked(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  require_rank(args, self, 0, kHighestRank);
  args.require(!self.is_quantized() && self.dtype != at::kBool, "a tensor " + to_text(self), "float32 or integers");
  promoted_dtype(args, {"self"});
  return self;
}

// The type of operators that return a value and its index along the axis.
std::vector<ValueType> ranked_pair_type(const OpArguments& args) {
  const TensorType self = ranked(args);
  const size_t axis = axis_argument(args, self);
  (void)fixed_axis_size(args, self, axis);
  const TensorType values = self.with_dims(without_axis(self, axis, keeps_axes(args)));
  return {values, TensorType{at::kLong, values.dims, {}}};
}

// Returns the argument as [rows, size] of float32.
Expression rows_argument(OpContext& ctx) {
  const Expression x = argument_as(ctx, "self", at::kFloat);
  return as_rows(x, axis_argument(ctx, x.type()));
}

int64_t row_size(const Expression& rows) {
  return rows.type().dims[1].value();
}

// Makes the elements of [rows, 1] an output. Integers are cast to float32: NNAPI reshapes int32 only from level 6 on.
void set_rows(const Expression& column, size_t index) {
  OpContext& ctx = column.context();
  reshape(cast(column, at::kFloat), ctx.output_type(index).dims).set_output(index);
}

struct Found {
  Expression value, index;  // [rows, 1] of float32
};

void set_found(const Found& found) {
  set_rows(found.value, 0);
  set_rows(found.index, 1);
}

std::vector<ValueType> kthvalue_type(const OpArguments& args) {
  const std::vector<ValueType> types = ranked_pair_type(args);
  const TensorType self = args.tensor("self");
  const int64_t size = fixed_axis_size(args, self, axis_argument(args, self)), k = args.integer("k");
  args.require(k >= 1 && k <= size, fmt::format("k = {} of {}", k, size), "1 up to the size");
  return types;
}

Found kth(const Expression& rows, int64_t k) {
  const Sorted sorted = first_in_order(rows, 1, k, false);
  const auto last = [k](const Expression& x) { return part(cast(x, at::kFloat), 1, Dim(k - 1), Dim(k)); };
  return {last(sorted.values), last(sorted.indices)};
}

void lower_kthvalue(OpContext& ctx) {
  set_found(kth(rows_argument(ctx), ctx.integer("k")));
}

// Returns the first place along each row that the mask marks; 0 if it marks none.
Expression first_marked(const Expression& mask) {
  OpContext& ctx = mask.context();
  const TensorType type{at::kLong, {mask.type().dims[0]}, {}};
  const Expression index = as_number(mask).then(OperationCode::ARGMAX, {ctx.builder().int32(1)}, type);
  return reshape(cast(index, at::kFloat), {type.dims[0], Dim(1)});
}

Expression any_of_rows(const Expression& mask) {
  return reduce(OperationCode::REDUCE_ANY, mask, {1}, true);
}

// Finds the median: the lower one of two in the middle; NaN counts as larger than all numbers.
Found median(const Expression& rows) {
  const Found middle = kth(rows, (row_size(rows) + 1) / 2);
  const Expression is_none = is_nan(rows);
  const Expression has_none = any_of_rows(is_none);
  return {choose(has_none, kNan, middle.value), choose(has_none, first_marked(is_none), middle.index)};
}

// Returns the elements of rows at computed places [rows, count].
Expression pick(const Expression& rows, const Expression& places) {
  const Dim size = rows.type().dims[1], count = places.type().dims[1];
  require_few_pairs(rows.context(), product(rows.type().dims) * count);
  const Expression at = reshape(places, {places.type().dims[0], count, Dim(1)});
  const Expression is_there = compare(OperationCode::EQUAL, at, positions(rows.context(), size.value(), 3));
  const Expression picked = choose(is_there, reshape(rows, {rows.type().dims[0], Dim(1), size}), 0.0);
  return reduce(OperationCode::REDUCE_SUM, picked, {2}, false);
}

// Returns how many elements of each row are not NaN.
Expression count_numbers(const Expression& rows) {
  return reduce(OperationCode::REDUCE_SUM, as_number(compare(OperationCode::EQUAL, rows, rows)), {1}, true);
}

// Returns the elements in order, with NaN replaced by infinity.
Sorted sorted_numbers(const Expression& rows) {
  return first_in_order(choose(is_nan(rows), kBeyondAll, rows), 1, row_size(rows), false);
}

Found nanmedian(const Expression& rows) {
  const Expression count = count_numbers(rows);
  const Sorted sorted = sorted_numbers(rows);
  const Expression place = maximum(floor((count - 1) * 0.5), 0.0);
  const Expression value = pick(sorted.values, place);
  return {choose(is_equal(count, 0), kNan, value), pick(cast(sorted.indices, at::kFloat), place)};
}

// Finds the mode: the most frequent value, the least one of several, and its last place.
Found mode(const Expression& rows) {
  OpContext& ctx = rows.context();
  const Dim count = rows.type().dims[0], size = rows.type().dims[1];
  require_few_pairs(ctx, product(rows.type().dims) * size);
  const Expression is_same =
      compare(OperationCode::EQUAL, reshape(rows, {count, size, Dim(1)}), reshape(rows, {count, Dim(1), size}));
  const Expression times = reduce(OperationCode::REDUCE_SUM, as_number(is_same), {2}, false);
  const Expression most = reduce(OperationCode::REDUCE_MAX, times, {1}, true);
  const Expression candidates = choose(compare(OperationCode::EQUAL, times, most), rows, kBeyondAll);
  const Expression value = reduce(OperationCode::REDUCE_MIN, candidates, {1}, true);
  const Expression is_value = compare(OperationCode::EQUAL, rows, value);
  const Expression places = choose(is_value, expand(positions(ctx, size.value(), 2), rows.type().dims), 0.0);
  return {value, reduce(OperationCode::REDUCE_MAX, places, {1}, true)};
}

template <Found (*function)(const Expression&)>
void lower_ranked_pair(OpContext& ctx) {
  set_found(function(rows_argument(ctx)));
}

std::vector<ValueType> single_type(const OpArguments& args) {
  const TensorType self = ranked(args);
  args.require(all_fixed(self.dims), "a flexible size", "fixed sizes", "give every size of the input with --input");
  args.require(product(self.dims).value() > 0, "a tensor without elements", "one or more");
  return {self.with_dims({})};
}

// Lowers the function of all elements.
template <Found (*function)(const Expression&)>
void lower_single(OpContext& ctx) {
  const Expression x = argument_as(ctx, "self", at::kFloat);
  set_rows(function(reshape(x, {Dim(1), product(x.type().dims)})).value, 0);
}

bool takes_all(const OpArguments& args) {
  return args.is_none("dim") || args.tensor("self").rank() == 0;
}

std::vector<ValueType> extremes_type(const OpArguments& args) {
  const TensorType self = ranked(args);
  // PyTorch adds the kept axis to a tensor without axes.
  const bool gains_axis = self.rank() == 0 && !args.is_none("dim") && keeps_axes(args);
  const Dims dims = gains_axis ? Dims{Dim(1)} : without_axes(self.dims, reduced_axes(args, self), keeps_axes(args));
  return {self.with_dims(dims), self.with_dims(dims)};
}

void lower_extremes(OpContext& ctx) {
  const Expression x = argument_as(ctx, "self", at::kFloat);
  const std::vector<int64_t> axes = reduced_axes(ctx, x.type());
  const Dims dims = ctx.output_type().dims;
  reshape(reduce(OperationCode::REDUCE_MIN, x, axes, keeps_axes(ctx)), dims).set_output(0);
  reshape(reduce(OperationCode::REDUCE_MAX, x, axes, keeps_axes(ctx)), dims).set_output(1);
}

// The type of quantile; with several q, they become the first axis of the result.
std::vector<ValueType> quantile_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  require_float(args, self);
  require_rank(args, self, 0, kHighestRank - 1);
  const std::string& interpolation = args.string("interpolation");
  const std::vector<std::string> known{"linear", "lower", "higher", "nearest", "midpoint"};
  args.require(std::find(known.begin(), known.end(), interpolation) != known.end(), "interpolation=" + interpolation,
               "linear, lower, higher, nearest or midpoint");
  if (takes_all(args))
    (void)single_type(args);
  else
    (void)fixed_axis_size(args, self, axis_argument(args, self));
  Dims dims = without_axes(self.dims, reduced_axes(args, self), keeps_axes(args));
  if (args.input("q")->type()->kind() == c10::TypeKind::TensorType) {
    const TensorType q = args.tensor("q");
    require_float(args, q);
    require_rank(args, q, 0, 1);
    dims.insert(dims.begin(), q.dims.begin(), q.dims.end());
  }
  return {self.with_dims(dims)};
}

// Interpolates between the element at a place and the next one.
Expression interpolated(const Expression& sorted, const Expression& ranks, const std::string& interpolation) {
  if (interpolation == "lower") return pick(sorted, floor(ranks));
  if (interpolation == "higher") return pick(sorted, -floor(-ranks));
  if (interpolation == "nearest") return pick(sorted, round_to_even(ranks));
  const Expression below = floor(ranks);
  const Expression low = pick(sorted, below), high = pick(sorted, -floor(-ranks));
  if (interpolation == "midpoint") return low + (high - low) * 0.5;
  return low + (high - low) * (ranks - below);
}

template <bool leaves_out_none>
void lower_quantile(OpContext& ctx) {
  const Expression x = argument_as(ctx, "self", at::kFloat);
  const Expression rows =
      takes_all(ctx) ? reshape(x, {Dim(1), product(x.type().dims)}) : as_rows(x, axis_argument(ctx, x.type()));
  const Expression q = argument_as(ctx, "q", at::kFloat);
  const Dim count = product(q.type().dims);
  const Expression numbers = count_numbers(rows);
  const Expression last = leaves_out_none ? maximum(numbers - 1, 0.0)
                                          : filled(ctx, static_cast<double>(row_size(rows) - 1), numbers.type());
  const Expression ranks = last * reshape(q, {Dim(1), count});
  const Expression found = interpolated(sorted_numbers(rows).values, ranks, ctx.string("interpolation"));
  const Expression is_none = leaves_out_none ? is_equal(numbers, 0) : any_of_rows(is_nan(rows));
  const Expression result = choose(is_none, expand(numbers.same(kNan), found.type().dims), found);
  const Expression turned = count == Dim(1) ? result : transpose(result, {1, 0});
  reshape(turned, ctx.output_type().dims).set_output();
}

constexpr const char* kRankingNote = "a fixed size; integers: those known to be up to 2^24";
constexpr const char* kPairs =
    "all pairs of an axis are compared, at most 2^22; integers: those known to be up to 2^24";

}  // namespace

OpRules ranking_rules() {
  const char* quantile_note = "float32; fixed sizes";
  return {
      {"aten::kthvalue(Tensor self, int k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)", 3,
       kRankingNote, kthvalue_type, lower_kthvalue, kUnprovedRows | Fact::kKeepsRankAlongAxis},
      {"aten::median(Tensor self) -> Tensor", 3, kRankingNote, single_type, lower_single<median>,
       kUnprovedRows | Fact::kKeepsRankAlongAxis},
      {"aten::median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", 3, kRankingNote,
       ranked_pair_type, lower_ranked_pair<median>, kUnprovedRows | Fact::kKeepsRankAlongAxis},
      {"aten::nanmedian(Tensor self) -> Tensor", 3, kRankingNote, single_type, lower_single<nanmedian>,
       kUnprovedRows | Fact::kKeepsRankAlongAxis},
      {"aten::nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", 3,
       kRankingNote, ranked_pair_type, lower_ranked_pair<nanmedian>, kUnprovedRows | Fact::kKeepsRankAlongAxis},
      {"aten::mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)", 3, kPairs,
       ranked_pair_type, lower_ranked_pair<mode>, kUnprovedRows | Fact::kKeepsRankAlongAxis},
      {"aten::aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)", 3, kRankingNote,
       extremes_type, lower_extremes, kUnprovedRows},
      {"aten::quantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation=\"linear\") -> "
       "Tensor",
       3, quantile_note, quantile_type, lower_quantile<false>, kUnprovedRows},
      {"aten::quantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str "
       "interpolation=\"linear\") -> Tensor",
       3, quantile_note, quantile_type, lower_quantile<false>, kUnprovedRows},
      {"aten::nanquantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation=\"linear\") "
       "-> Tensor",
       3, quantile_note, quantile_type, lower_quantile<true>, kUnprovedRows},
      {"aten::nanquantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str "
       "interpolation=\"linear\") -> Tensor",
       3, quantile_note, quantile_type, lower_quantile<true>, kUnprovedRows},
  };
}

}  // namespace nnapi_convert
