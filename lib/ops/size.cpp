// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic on sizes that traces and scripts contain. It is typed as Dims, and lowered only if it gives a tensor.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "lib/ops/families.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

std::vector<ValueType> all_sizes(const OpArguments& args) {
  return {args.tensor("self").dims};
}

std::vector<ValueType> one_size(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  const int64_t axis = checked_axis(args, args.integer("dim"), self.rank());
  return {Dims{self.dims[static_cast<size_t>(axis)]}};
}

// The type of operators that pass a size through a tensor and back, as in traces.
std::vector<ValueType> same_size(const OpArguments& args) {
  return {args.sizes("a")};
}

Dim operand(const OpArguments& args, const std::string& name) {
  const Dims found = args.sizes(name);
  args.require(found.size() == 1, fmt::format("argument {} has {} numbers", name, found.size()), "one");
  return found[0];
}

template <char operation>
std::vector<ValueType> arithmetic_of(const OpArguments& args, const Dim& a, const Dim& b) {
  if (operation == '+') return {Dims{a + b}};
  if (operation == '-') return {Dims{a - b}};
  if (operation == '*') return {Dims{a * b}};
  args.require(b.is_fixed() && b.value() > 0, "a division by " + b.text(), "a positive number");
  const Dim quotient = a.floor_div(b.value());
  return {Dims{operation == '%' ? a - b * quotient : quotient}};
}

template <char operation>
std::vector<ValueType> arithmetic(const OpArguments& args) {
  return arithmetic_of<operation>(args, operand(args, "a"), operand(args, "b"));
}

std::vector<ValueType> negated(const OpArguments& args) {
  return {Dims{Dim(0) - operand(args, "a")}};
}

// Refuses a constant with axes: even with one number it is a tensor, not a size.
void require_number(const OpArguments& args, const std::string& name) {
  if (!args.is_constant(name)) return;
  const c10::IValue value = args.value(name);
  args.require(!value.isTensor() || value.toTensor().dim() == 0, "a tensor with axes and a size", "a number");
}

// Returns a constant int64 tensor with axes and few elements; undefined for any other argument.
at::Tensor counted(const OpArguments& args, const std::string& name) {
  constexpr int64_t kMostElements = 64;  // each element is computed from the size by itself
  if (!args.is_constant(name) || !args.value(name).isTensor()) return {};
  const at::Tensor tensor = args.value(name).toTensor();
  const bool is_few = tensor.dim() > 0 && tensor.numel() > 0 && tensor.numel() <= kMostElements;
  return is_few && tensor.scalar_type() == at::kLong ? tensor : at::Tensor();
}

// The sum of a constant tensor and a size, such as arange(2) + size: positions behind those of a cache.
struct CountedFromSize {
  std::vector<int64_t> shape;
  Dims values;
};
std::optional<CountedFromSize> counted_from_size(const OpArguments& args) {
  const at::Tensor self = counted(args, "self"), other = counted(args, "other");
  if (self.defined() == other.defined() || args.number("alpha") != 1) return std::nullopt;
  const at::Tensor& tensor = self.defined() ? self : other;
  const Dim size = operand(args, self.defined() ? "other" : "self");
  CountedFromSize result{tensor.sizes().vec(), {}};
  const at::Tensor flat = tensor.reshape({-1});
  for (int64_t i = 0; i < flat.numel(); ++i) result.values.push_back(size + Dim(flat[i].item<int64_t>()));
  return result;
}

std::vector<ValueType> tensor_sum(const OpArguments& args) {
  if (const auto counted = counted_from_size(args)) return {TensorType{at::kLong, to_dims(counted->shape), {}}};
  require_number(args, "self");
  require_number(args, "other");
  args.require(args.number("alpha") == 1, "alpha other than 1 with sizes", "1");
  return arithmetic_of<'+'>(args, operand(args, "self"), operand(args, "other"));
}

void lower_tensor_sum(OpContext& ctx) {
  if (const auto counted = counted_from_size(ctx)) {
    ctx.set_output(ctx.builder().int32_tensor(counted->values, counted->shape));
  }
}

template <char operation>
std::vector<ValueType> tensor_arithmetic(const OpArguments& args) {
  require_number(args, "self");
  require_number(args, "other");
  args.require(!args.has("alpha") || args.number("alpha") == 1, "alpha other than 1 with sizes", "1");
  return arithmetic_of<operation>(args, operand(args, "self"), operand(args, "other"));
}

// Divides sizes: they are not negative, so that truncating and rounding down are the same.
std::vector<ValueType> tensor_division(const OpArguments& args) {
  args.require(!args.is_none("rounding_mode"), "a true division of sizes", "a whole number",
               "give every size of the input with --input");
  return tensor_arithmetic<'/'>(args);
}

std::vector<ValueType> list_element(const OpArguments& args) {
  if (const TensorTypes* tensors = args.tensor_list("list")) {
    return {(*tensors)[static_cast<size_t>(checked_axis(args, args.integer("idx"), tensors->size()))]};
  }
  const Dims list = args.sizes("list");
  const int64_t index = checked_axis(args, args.integer("idx"), list.size());
  return {Dims{list[static_cast<size_t>(index)]}};
}

void lower_list_element(OpContext& ctx) {
  if (ctx.tensor_list("list") == nullptr) return;
  const std::vector<LoweredTensor> tensors = ctx.operands("list");
  ctx.set_output(tensors[static_cast<size_t>(checked_axis(ctx, ctx.integer("idx"), tensors.size()))].id);
}

std::vector<ValueType> list_length(const OpArguments& args) {
  const TensorTypes* tensors = args.tensor_list("a");
  return {Dims{Dim(static_cast<int64_t>(tensors != nullptr ? tensors->size() : args.sizes("a").size()))}};
}

std::vector<ValueType> same_list(const OpArguments& args) {
  return {args.sizes("l")};
}

std::vector<ValueType> joined_lists(const OpArguments& args) {
  Dims sizes = args.sizes("a");
  const Dims more = args.sizes("b");
  sizes.insert(sizes.end(), more.begin(), more.end());
  return {std::move(sizes)};
}

// Slices a list of sizes, list[start:end:step], for a positive step.
std::vector<ValueType> sliced_list(const OpArguments& args) {
  const Dims sizes = args.sizes("l");
  const auto count = static_cast<int64_t>(sizes.size());
  const auto place = [&](const char* name, int64_t fallback) {
    const int64_t index = args.is_none(name) ? fallback : args.integer(name);
    return std::clamp<int64_t>(index < 0 ? index + count : index, 0, count);
  };
  const int64_t step = args.integer("step"), end = place("end", count);
  args.require(step > 0, fmt::format("step {}", step), "a positive step");
  Dims kept;
  for (int64_t i = place("start", 0); i < end; i += step) kept.push_back(sizes[static_cast<size_t>(i)]);
  return {std::move(kept)};
}

// Returns the first size of a tensor, which loops over its rows ask for.
std::vector<ValueType> row_count(const OpArguments& args) {
  const TensorType tensor = args.tensor("t");
  args.require(tensor.rank() > 0, "the length of a tensor of rank 0", "a tensor of rank 1 or more");
  return {Dims{tensor.dims[0]}};
}

std::vector<ValueType> element_count(const OpArguments& args) {
  return {Dims{product(args.tensor("self").dims)}};
}

constexpr const char* kSizeNote = "sizes: computed at conversion, or written on the device for flexible ones";

// Returns a rule without traits: they are those of the operator's other rule.
OpRule size_rule(const char* name, ShapeRule shape, LowerRule lower = nullptr) {
  return {name, 1, "", shape, lower, OpTraits()};
}

}  // namespace

OpRules size_rules() {
  return {
      {"aten::size(Tensor self) -> int[]", 1, kSizeNote, all_sizes, nullptr, kUnprovedRows},
      {"aten::size.int(Tensor self, int dim) -> int", 1, kSizeNote, one_size, nullptr, kUnprovedRows},
      {"prim::NumToTensor.Scalar(Scalar a) -> Tensor", 1, kSizeNote, same_size, nullptr, kUnprovedRows},
      {"aten::Int.Tensor(Tensor a) -> int", 1, kSizeNote, same_size, nullptr, kUnprovedRows | Fact::kReadsNumber},
      {"aten::add.int(int a, int b) -> int", 1, kSizeNote, arithmetic<'+'>, nullptr,
       kElementwise | Memory::kFresh | Fact::kTakesAnyNumber},
      {"aten::sub.int(int a, int b) -> int", 1, kSizeNote, arithmetic<'-'>, nullptr,
       kElementwise | Memory::kFresh | Fact::kTakesAnyNumber},
      {"aten::mul.int(int a, int b) -> int", 1, kSizeNote, arithmetic<'*'>, nullptr,
       kElementwise | Memory::kFresh | Fact::kTakesAnyNumber},
      {"aten::floordiv.int(int a, int b) -> int", 1, kSizeNote, arithmetic<'/'>, nullptr, kUnprovedRows},
      {"aten::remainder.int(int a, int b) -> int", 1, kSizeNote, arithmetic<'%'>, nullptr,
       kUnprovedRows | Fact::kTakesAnyNumber},
      {"aten::__getitem__.t(t[](a) list, int idx) -> t(*)", 1, "sizes and lists of tensors", list_element,
       lower_list_element, kUnprovedRows | Fact::kIsOfContainers},
      {"aten::len.t(t[] a) -> int", 1, kSizeNote, list_length, nullptr, kUnprovedRows | Fact::kIsOfContainers},
      {"aten::len.Tensor(Tensor t) -> int", 1, kSizeNote, row_count, nullptr, kUnprovedRows | Fact::kIsOfContainers},
      {"aten::numel(Tensor self) -> int", 1, kSizeNote, element_count, nullptr, kUnprovedRows},
  };
}

OpRules size_tensor_rules() {
  return {
      size_rule("aten::add.Tensor", tensor_sum, lower_tensor_sum),
      size_rule("aten::add.Scalar", tensor_sum, lower_tensor_sum),
      size_rule("aten::sub.Tensor", tensor_arithmetic<'-'>),
      size_rule("aten::sub.Scalar", tensor_arithmetic<'-'>),
      size_rule("aten::mul.Tensor", tensor_arithmetic<'*'>),
      size_rule("aten::mul.Scalar", tensor_arithmetic<'*'>),
      size_rule("aten::floor_divide", tensor_arithmetic<'/'>),
      size_rule("aten::floor_divide.Scalar", tensor_arithmetic<'/'>),
      size_rule("aten::div.Tensor_mode", tensor_division),
      size_rule("aten::div.Scalar_mode", tensor_division),
      size_rule("aten::neg.int", negated),
      size_rule("aten::ScalarImplicit", same_size),
      size_rule("aten::IntImplicit", same_size),
      size_rule("aten::slice.t", sliced_list),
      size_rule("aten::list.t", same_list),
      size_rule("aten::add.t", joined_lists),
  };
}

}  // namespace nnapi_convert
