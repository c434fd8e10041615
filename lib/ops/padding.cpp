// SPDX-License-Identifier: BSD-3-Clause
// Tensors with a border of constants, or of their own elements.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lib/ops/expression.h"
#include "lib/ops/families.h"
#include "lib/ops/padding.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

enum class Border { kConstant, kReflect, kReplicate, kCircular };

struct Padding {
  Border border = Border::kConstant;
  double value = 0;
  std::vector<std::pair<int64_t, int64_t>> sides;  // before and after, by axis; negative ones cut off
};

Border border_of(const OpArguments& args) {
  const std::string kind = args.node().kind().toUnqualString();
  if (kind.rfind("reflection_pad", 0) == 0) return Border::kReflect;
  if (kind.rfind("replication_pad", 0) == 0) return Border::kReplicate;
  if (kind == "_pad_circular") return Border::kCircular;
  if (!args.has("mode")) return Border::kConstant;
  const std::string mode = args.string("mode");
  if (mode == "reflect") return Border::kReflect;
  if (mode == "replicate") return Border::kReplicate;
  if (mode == "circular") return Border::kCircular;
  args.require(mode == "constant", "mode " + mode, "constant, reflect, replicate or circular");
  return Border::kConstant;
}

// Reads the padding; PyTorch lists the sides from the last axis on.
Padding read_padding(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  require_rank(args, self, 1, kHighestRank);
  Padding padding;
  padding.border = border_of(args);
  const std::vector<int64_t> sides = args.integers(args.has("pad") ? "pad" : "padding");
  args.require(sides.size() % 2 == 0 && sides.size() / 2 <= self.rank(),
               fmt::format("{} paddings of {}", sides.size(), to_text(self)), "two for each of the last axes");
  padding.sides.assign(self.rank(), {0, 0});
  for (size_t i = 0; i < sides.size() / 2; ++i) padding.sides[self.rank() - 1 - i] = {sides[2 * i], sides[2 * i + 1]};
  if (args.has("value") && !args.is_none("value")) padding.value = args.number("value");
  return padding;
}

std::vector<ValueType> pad_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  const Padding padding = read_padding(args);
  Dims dims = self.dims;
  for (size_t i = 0; i < dims.size(); ++i) dims[i] += Dim(padding.sides[i].first + padding.sides[i].second);
  require_positive(args, dims);
  return {self.with_dims(dims)};
}

// Cuts off negative sides by a slice, and sets them to 0.
LoweredTensor cropped(OpContext& ctx, LoweredTensor self, Padding& padding) {
  Dims begin;
  Dims end = self.type.dims;
  for (size_t i = 0; i < end.size(); ++i) {
    auto& [before, after] = padding.sides[i];
    begin.emplace_back(std::max<int64_t>(0, -before));
    end[i] = end[i] - Dim(std::max<int64_t>(0, -after));
    before = std::max<int64_t>(0, before);
    after = std::max<int64_t>(0, after);
  }
  TensorType type = self.type;
  for (size_t i = 0; i < end.size(); ++i) type.dims[i] = end[i] - begin[i];
  return {ctx.sliced(self, begin, end, Dims(end.size(), Dim(1))), type};
}

// Returns the quantised integer nearest to the number, as PAD_V2 takes it.
int64_t quantised_code(const TensorType& type, double value) {
  const auto& [scale, zero_point] = type.quantization;
  const double code = std::nearbyint(value / scale) + static_cast<double>(zero_point);
  return static_cast<int64_t>(std::clamp(code, 0.0, 255.0));
}

Dims pairs_of(const Padding& padding) {
  Dims pairs;
  for (const auto& [before, after] : padding.sides) pairs.insert(pairs.end(), {Dim(before), Dim(after)});
  return pairs;
}

// Returns an operand with two numbers for each axis, as all padding operations take it.
nnapi::OperandId pairs_operand(OpContext& ctx, const Dims& pairs) {
  return ctx.builder().int32_tensor(pairs, {static_cast<int64_t>(pairs.size() / 2), 2});
}

// Returns, for each index of the padded axis, the source index of the element there.
std::vector<int64_t> source_indices(Border border, int64_t size, int64_t before, int64_t after) {
  std::vector<int64_t> indices;
  for (int64_t i = -before; i < size + after; ++i) {
    int64_t source = i;
    if (border == Border::kReplicate) source = std::min(size - 1, std::max<int64_t>(0, i));
    if (border == Border::kCircular) source = (i % size + size) % size;
    if (border == Border::kReflect) source = i < 0 ? -i : i >= size ? 2 * (size - 1) - i : i;
    indices.push_back(source);
  }
  return indices;
}

void check_border(const OpArguments& args, const Padding& padding, const TensorType& self) {
  if (padding.border != Border::kReflect && padding.border != Border::kCircular) return;
  const int64_t excess = padding.border == Border::kReflect ? 1 : 0;
  for (size_t i = 0; i < padding.sides.size(); ++i) {
    const auto& [before, after] = padding.sides[i];
    const auto size = self.dims[i].fixed_value();
    args.require(!size || std::max(before, after) <= *size - excess,
                 fmt::format("padding ({}, {}) of size {}", before, after, size.value_or(0)),
                 "no more than the axis has");
  }
}

// Returns the elements `indices` of an axis. If there are more axes than NNAPI takes, those on either side of it are
// joined.
LoweredTensor gathered(OpContext& ctx, const LoweredTensor& self, size_t axis, const std::vector<int64_t>& indices) {
  constexpr size_t kMostAxes = 4;
  TensorType type = self.type;
  type.dims[axis] = Dim(static_cast<int64_t>(indices.size()));
  const nnapi::OperandId places = ctx.builder().int32_tensor(to_dims(indices));
  if (type.rank() <= kMostAxes) {
    const nnapi::OperandId place = ctx.builder().int32(static_cast<int64_t>(axis));
    return {ctx.emit_to(OperationCode::GATHER, {self.id, place, places}, type), type};
  }
  const auto here = self.type.dims.begin() + static_cast<std::ptrdiff_t>(axis);
  const Dim before = product(Dims(self.type.dims.begin(), here)), after = product(Dims(here + 1, self.type.dims.end()));
  const nnapi::OperandId rows = ctx.reshaped(self, {before, *here, after});
  const TensorType joined = type.with_dims({before, type.dims[axis], after});
  const nnapi::OperandId found = ctx.emit_to(OperationCode::GATHER, {rows, ctx.builder().int32(1), places}, joined);
  return {ctx.reshaped({found, joined}, type.dims), type};
}

void lower_own_elements(OpContext& ctx, LoweredTensor self, const Padding& padding) {
  check_border(ctx, padding, self.type);
  if (padding.border == Border::kReflect && ctx.can_use(OperationCode::MIRROR_PAD, 7)) {
    return ctx.emit(OperationCode::MIRROR_PAD,
                    {self.id, pairs_operand(ctx, pairs_of(padding)), ctx.builder().int32(0)});
  }
  for (size_t axis = 0; axis < padding.sides.size(); ++axis) {
    const auto& [before, after] = padding.sides[axis];
    if (before == 0 && after == 0) continue;
    const Dim size = self.type.dims[axis];
    ctx.require(size.is_fixed(), fmt::format("a border of its own elements around flexible size {}", size.text()),
                "a fixed size, or zeros", "give every size of the input with --input, or use --feature-level 7");
    self = gathered(ctx, self, axis, source_indices(padding.border, size.value(), before, after));
  }
  ctx.set_output(self.id);
}

void lower_pad(OpContext& ctx) {
  Padding padding = read_padding(ctx);
  const LoweredTensor self = cropped(ctx, ctx.operand("self"), padding);
  const bool is_done = std::all_of(padding.sides.begin(), padding.sides.end(),
                                   [](const auto& side) { return side.first == 0 && side.second == 0; });
  if (is_done) return ctx.set_output(self.id);
  if (padding.border == Border::kConstant && self.type.dtype == at::kBool) {
    const Expression numbers = cast(Expression(ctx, self), at::kFloat);
    const double value = padding.value == 0 ? 0 : 1;
    const LoweredTensor result = padded(ctx, {numbers.id(), numbers.type()}, pairs_of(padding), value);
    return Expression(ctx, result).set_output();
  }
  if (padding.border == Border::kConstant) {
    return ctx.set_output(padded(ctx, self, pairs_of(padding), padding.value).id);
  }
  lower_own_elements(ctx, self, padding);
}

constexpr const char* kPaddingNote = "values other than 0, reflect, replicate and circular: feature level 3";

}  // namespace

LoweredTensor padded(OpContext& ctx, const LoweredTensor& tensor, const Dims& pairs, double value) {
  TensorType type = tensor.type;
  for (size_t i = 0; i < type.rank(); ++i) type.dims[i] += pairs[2 * i] + pairs[2 * i + 1];
  if (type.dims == tensor.type.dims) return tensor;
  nnapi::Builder& builder = ctx.builder();
  std::vector<nnapi::OperandId> inputs{tensor.id, builder.int32_tensor(pairs, {static_cast<int64_t>(type.rank()), 2})};
  // Below feature level 3 it is not said what PAD writes into a quantised tensor.
  if (value == 0 && !type.is_quantized()) return {ctx.emit_to(OperationCode::PAD, inputs, type), type};
  inputs.push_back(type.is_quantized() ? builder.int32(quantised_code(type, value))
                                       : builder.float32(static_cast<float>(value)));
  return {ctx.emit_to(OperationCode::PAD_V2, inputs, type), type};
}

OpRules padding_rules() {
  return {
      {"aten::constant_pad_nd(Tensor self, int[] pad, Scalar value=0) -> Tensor", 2,
       "values other than 0: feature level 3", pad_type, lower_pad, row_wise(Rows::kPadded)},
      {"aten::pad(Tensor self, int[] pad, str mode=\"constant\", float? value=None) -> Tensor", 2, kPaddingNote,
       pad_type, lower_pad, row_wise(Rows::kPadded)},
      {"aten::reflection_pad1d(Tensor self, int[2] padding) -> Tensor", 3, "", pad_type, lower_pad, kUnprovedRows},
      {"aten::reflection_pad2d(Tensor self, int[4] padding) -> Tensor", 3, "", pad_type, lower_pad, kUnprovedRows},
      {"aten::reflection_pad3d(Tensor self, int[6] padding) -> Tensor", 3, "", pad_type, lower_pad, kUnprovedRows},
      {"aten::replication_pad1d(Tensor self, int[2] padding) -> Tensor", 3, "", pad_type, lower_pad, kUnprovedRows},
      {"aten::replication_pad2d(Tensor self, int[4] padding) -> Tensor", 3, "", pad_type, lower_pad, kUnprovedRows},
      {"aten::replication_pad3d(Tensor self, int[6] padding) -> Tensor", 3, "", pad_type, lower_pad, kUnprovedRows},
      {"aten::_pad_circular(Tensor self, int[] pad) -> Tensor", 3, "", pad_type, lower_pad, kUnprovedRows},
  };
}

}  // namespace nnapi_convert
