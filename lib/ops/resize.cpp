// SPDX-License-Identifier: BSD-3-Clause
// Resizing of images and sequences.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "lib/ops/expression.h"
#include "lib/ops/factor.h"
#include "lib/ops/families.h"
#include "lib/ops/interpolation.h"
#include "lib/ops/matmul.h"
#include "lib/ops/pooling.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

constexpr int kHalfPixelLevel = 4;  // the first level of RESIZE_ operations with half-pixel centres and aligned corners

std::string input_name(const OpArguments& args) {
  return args.has("input") ? "input" : "self";
}

size_t resized_axes(const OpArguments& args) {
  return pooled_spatial_axes(args);
}

// Returns the factors that the model gives, one for each axis; nothing for an axis without one.
std::vector<std::optional<double>> given_factors(const OpArguments& args) {
  const size_t spatial = resized_axes(args);
  std::vector<std::optional<double>> factors(spatial);
  if (args.has("scale_factors")) {
    if (args.is_none("scale_factors")) return factors;
    const std::vector<double> given = args.value("scale_factors").toDoubleVector();
    args.require(given.size() == spatial, fmt::format("{} scale factors", given.size()), std::to_string(spatial));
    return {given.begin(), given.end()};
  }
  const std::vector<std::string> names =
      spatial == 1 ? std::vector<std::string>{"scales"} : std::vector<std::string>{"scales_h", "scales_w"};
  for (size_t i = 0; i < spatial; ++i) {
    if (!args.is_none(names[i])) factors[i] = args.number(names[i]);
  }
  return factors;
}

// Returns size * factor, rounded down as PyTorch does.
Dim resized(const OpArguments& args, const Dim& size, double factor) {
  if (size.is_fixed()) return {static_cast<int64_t>(std::floor(static_cast<double>(size.value()) * factor))};
  args.require(factor == std::floor(factor), fmt::format("scale factor {} of a flexible size", factor),
               "a whole factor or a fixed size", "give every size of the input with --input");
  return size * Dim(static_cast<int64_t>(factor));
}

// Reads the axes, height before width; the height of a sequence is 1.
std::vector<ResizedAxis> read_axes(const OpArguments& args, const TensorType& input) {
  const size_t spatial = resized_axes(args);
  require_rank(args, input, spatial + 2, spatial + 2);
  const auto factors = given_factors(args);
  const bool has_size = !args.is_none("output_size");
  const Dims sizes = has_size ? args.sizes("output_size") : Dims();
  args.require(!has_size || sizes.size() == spatial, fmt::format("output_size of {} numbers", sizes.size()),
               std::to_string(spatial));
  std::vector<ResizedAxis> axes;
  if (spatial == 1) axes.push_back({Dim(1), Dim(1), std::nullopt, false});
  for (size_t i = 0; i < spatial; ++i) {
    ResizedAxis axis;
    axis.input = input.dims[2 + i];
    axis.factor = factors[i];
    args.require(has_size || axis.factor.has_value(), "neither output_size nor a scale factor", "one of them");
    axis.output = has_size ? sizes[i] : resized(args, axis.input, *axis.factor);
    axis.align_corners = args.has("align_corners") && args.boolean("align_corners");
    axes.push_back(axis);
  }
  return axes;
}

template <bool takes_quint8>
std::vector<ValueType> resized_type(const OpArguments& args) {
  const TensorType input = args.tensor(input_name(args));
  if (takes_quint8) {
    args.require(input.dtype == at::kFloat || input.dtype == at::kQUInt8, "a tensor " + to_text(input),
                 "float32 or quint8");
  } else {
    require_float(args, input);
  }
  const std::vector<ResizedAxis> axes = read_axes(args, input);
  Dims dims{input.dims[0], input.dims[1]};
  for (size_t i = 2 - resized_axes(args); i < 2; ++i) dims.push_back(axes[i].output);
  require_positive(args, dims);
  return {input.with_dims(dims)};
}

LoweredTensor resized_image(OpContext& ctx) {
  const LoweredTensor input = ctx.operand(input_name(ctx));
  return reshaped(ctx, input, as_image(input.type.dims, resized_axes(ctx)));
}

void set_resized(OpContext& ctx, const LoweredTensor& image) {
  ctx.set_output(reshaped(ctx, image, ctx.output_type().dims).id);
}

TensorType with_size(const TensorType& image, const Dim& height, const Dim& width) {
  return image.with_dims({image.dims[0], image.dims[1], height, width});
}

// Appends RESIZE_NEAREST_NEIGHBOR or RESIZE_BILINEAR, with flags only if they are needed.
LoweredTensor resize_operation(OpContext& ctx, OperationCode code, const LoweredTensor& image,
                               const std::vector<ResizedAxis>& axes, bool half_pixel) {
  nnapi::Builder& builder = ctx.builder();
  const TensorType type = with_size(image.type, axes[0].output, axes[1].output);
  std::vector<nnapi::OperandId> inputs{image.id, builder.int32(axes[1].output), builder.int32(axes[0].output),
                                       builder.boolean(true)};
  const bool align_corners = axes[1].align_corners;
  if (align_corners || half_pixel) {
    inputs.push_back(builder.boolean(align_corners));
    inputs.push_back(builder.boolean(half_pixel && !align_corners));
  }
  return {ctx.emit_to(code, inputs, type), type};
}

LoweredTensor gathered_rows(OpContext& ctx, const LoweredTensor& image, int64_t axis,
                            const std::vector<int64_t>& cells) {
  TensorType type = image.type;
  type.dims[static_cast<size_t>(axis)] = Dim(static_cast<int64_t>(cells.size()));
  const nnapi::OperandId positions = ctx.builder().int32_tensor(to_dims(cells));
  return {ctx.emit_to(OperationCode::GATHER, {image.id, ctx.builder().int32(axis), positions}, type), type};
}

// True if NNAPI, which has sizes only, reads the same cells for every axis.
bool reads_same_cells(const std::vector<ResizedAxis>& axes, Interpolation wanted, Interpolation given) {
  for (const ResizedAxis& axis : axes) {
    if (!axis.is_fixed()) {
      const bool agrees = axis.whole_growth() > 0 || (!axis.factor && wanted == given);
      if (!agrees) return false;
    } else if (nearest_cells(axis, wanted, axis.step()) != nearest_cells(axis, given, axis.step_by_sizes())) {
      return false;
    }
  }
  return true;
}

// PyTorch reads cell floor(i / factor) with the factor given; NNAPI has sizes only and reads floor(i * in / out). Where
// they differ, the cells are named one by one.
template <Interpolation interpolation>
void lower_nearest(OpContext& ctx) {
  LoweredTensor image = resized_image(ctx);
  const std::vector<ResizedAxis> axes = read_axes(ctx, ctx.tensor(input_name(ctx)));
  if (reads_same_cells(axes, interpolation, Interpolation::kNearest)) {
    return set_resized(ctx, resize_operation(ctx, OperationCode::RESIZE_NEAREST_NEIGHBOR, image, axes, false));
  }
  if (ctx.can_use(OperationCode::RESIZE_NEAREST_NEIGHBOR, kHalfPixelLevel) &&
      reads_same_cells(axes, interpolation, Interpolation::kNearestExact)) {
    return set_resized(ctx, resize_operation(ctx, OperationCode::RESIZE_NEAREST_NEIGHBOR, image, axes, true));
  }
  for (size_t i = 0; i < 2; ++i) {
    ctx.require(axes[i].is_fixed(),
                fmt::format("a flexible size {} resized to {}", axes[i].input.text(), axes[i].output.text()),
                "a fixed size or a whole factor", "give every size of the input with --input");
    const std::vector<int64_t> cells = nearest_cells(axes[i], interpolation, axes[i].step());
    if (axes[i].input != axes[i].output) image = gathered_rows(ctx, image, static_cast<int64_t>(2 + i), cells);
  }
  set_resized(ctx, image);
}

// Multiplies an axis of an image by a constant matrix [output, input]: a 1x1 CONV_2D with the axis as channels.
LoweredTensor contracted(OpContext& ctx, const LoweredTensor& image, size_t axis, const at::Tensor& matrix) {
  nnapi::Builder& builder = ctx.builder();
  const std::vector<int64_t> to_front = axis == 2 ? std::vector<int64_t>{0, 2, 1, 3} : std::vector<int64_t>{0, 3, 1, 2};
  const LoweredTensor moved = permuted(ctx, image, to_front);
  TensorType type = moved.type;
  type.dims[1] = Dim(matrix.size(0));
  const nnapi::OperandId filter =
      builder.tensor(to_constant(matrix).then(nnapi::Reshape{{matrix.size(0), 1, 1, matrix.size(1)}}));
  const nnapi::OperandId bias =
      builder.tensor(nnapi::Constant::of_floats(std::vector<float>(static_cast<size_t>(matrix.size(0)))));
  const nnapi::OperandId zero = builder.int32(0);
  const nnapi::OperandId one = builder.int32(1);
  const nnapi::OperandId result =
      ctx.emit_to(OperationCode::CONV_2D,
                  {moved.id, filter, bias, zero, zero, zero, zero, one, one,
                   builder.int32(static_cast<int64_t>(FuseCode::NONE)), builder.boolean(true)},
                  type);
  return permuted(ctx, {result, type}, nnapi::inverse(to_front));
}

// One source cell for each result cell along an axis, and its weight.
struct Tap {
  std::vector<int64_t> cells;
  std::vector<float> weights;
};

// Returns the cells and weights of an interpolation matrix [output, input]: as many taps as its fullest row has
// weights.
std::vector<Tap> taps_of(const at::Tensor& matrix) {
  const auto weights = matrix.accessor<float, 2>();
  std::vector<Tap> taps;
  for (int64_t row = 0; row < matrix.size(0); ++row) {
    size_t count = 0;
    int64_t last = 0;
    for (int64_t cell = 0; cell < matrix.size(1); ++cell) {
      if (weights[row][cell] == 0) continue;
      if (count == taps.size()) taps.emplace_back(Tap{std::vector<int64_t>(row, 0), std::vector<float>(row, 0)});
      taps[count].cells.push_back(cell);
      taps[count].weights.push_back(weights[row][cell]);
      last = cell;
      ++count;
    }
    for (; count < taps.size(); ++count) {
      taps[count].cells.push_back(last);
      taps[count].weights.push_back(0);
    }
  }
  return taps;
}

// Multiplies an axis of an image by a constant matrix [output, input] with few numbers in each row: gathers, weights
// and adds their cells.
LoweredTensor weighted_cells(OpContext& ctx, const LoweredTensor& image, size_t axis, const at::Tensor& matrix) {
  std::vector<int64_t> shape(4, 1);
  shape[axis] = matrix.size(0);
  std::optional<Expression> sum;
  for (const Tap& tap : taps_of(matrix)) {
    const TensorType type{at::kFloat, to_dims(shape), {}};
    const nnapi::Constant weights = nnapi::Constant::of_floats(tap.weights, shape);
    const Expression cells(ctx, gathered_rows(ctx, image, static_cast<int64_t>(axis), tap.cells));
    const Expression weighted = cells * Expression(ctx, {ctx.builder().tensor(weights), type});
    sum = sum ? *sum + weighted : weighted;
  }
  return {sum->id(), sum->type()};
}

// True if the product with the whole matrix costs many times as much as its few numbers in each row.
bool is_sparse(const OpContext& ctx, const ResizedAxis& axis) {
  constexpr int64_t kMostDenseCells = 64;
  constexpr int kGatherLevel = 3;
  return axis.input.value() > kMostDenseCells && ctx.can_use(OperationCode::GATHER, kGatherLevel);
}

// Resizes both axes by matrices; quantised numbers are computed in float.
LoweredTensor resized_by_matrices(OpContext& ctx, LoweredTensor image, const std::vector<ResizedAxis>& axes,
                                  Interpolation interpolation) {
  const TensorType original = image.type;
  const TensorType real{at::kFloat, image.type.dims, {}};
  if (original.is_quantized()) image = {ctx.emit_to(OperationCode::DEQUANTIZE, {image.id}, real), real};
  for (size_t i = 0; i < 2; ++i) {
    if (axes[i].input == axes[i].output && !axes[i].factor) continue;
    ctx.require(axes[i].is_fixed(),
                fmt::format("a flexible size {} resized to {}", axes[i].input.text(), axes[i].output.text()),
                "a fixed size", "give every size of the input with --input");
    const at::Tensor matrix = interpolation_matrix(axes[i], interpolation);
    image = is_sparse(ctx, axes[i]) ? weighted_cells(ctx, image, 2 + i, matrix) : contracted(ctx, image, 2 + i, matrix);
  }
  if (!original.is_quantized()) return image;
  const TensorType type = original.with_dims(image.type.dims);
  return {ctx.emit_to(OperationCode::QUANTIZE, {image.id}, type), type};
}

// Resizes a sequence by one matrix: its cells are the last axis.
void set_resized_sequence(OpContext& ctx, const ResizedAxis& axis, Interpolation interpolation) {
  const Factor rows(ctx, ctx.operand(input_name(ctx)));
  const Factor matrix(ctx, interpolation_matrix(axis, interpolation));
  ctx.set_output(row_product(ctx, rows, matrix).reshaped(ctx.output_type().dims).operand());
}

// Averages by one pool, or, if the window is large, by a pool along each axis. Quantised numbers always take one pool,
// so that they are rounded once.
LoweredTensor averaged_apart(OpContext& ctx, const LoweredTensor& image, const Pool& pool, const PooledAxes& same) {
  constexpr int64_t kLargeWindow = 16;
  if (pool.kernel[0] * pool.kernel[1] <= kLargeWindow || image.type.is_quantized() || pool.kernel[0] == 1 ||
      pool.kernel[1] == 1) {
    return emit_pool(ctx, OperationCode::AVERAGE_POOL_2D, image, pool, same);
  }
  const Pool rows{{pool.kernel[0], 1}, {1, 1}, {pool.padding[0], 0}};
  const Pool columns{{1, pool.kernel[1]}, {1, 1}, {0, pool.padding[1]}};
  const LoweredTensor half =
      emit_pool(ctx, OperationCode::AVERAGE_POOL_2D, image, rows, {same.output, {same.padding_end[0], Dim(0)}});
  return emit_pool(ctx, OperationCode::AVERAGE_POOL_2D, half, columns, {same.output, {Dim(0), same.padding_end[1]}});
}

// Interpolates linearly: repeats cells, and averages over windows as long as the repetition. A window of even length
// lies half a cell aside, which a second window of length 2 compensates. Beyond the ends only cells of the ends are
// averaged, as PyTorch's clamped positions do.
LoweredTensor repeated_and_averaged(OpContext& ctx, const LoweredTensor& image, const std::vector<ResizedAxis>& axes) {
  const LoweredTensor repeated = resize_operation(ctx, OperationCode::RESIZE_NEAREST_NEIGHBOR, image, axes, false);
  Pool pool{{1, 1}, {1, 1}, {0, 0}};
  Pool second{{1, 1}, {1, 1}, {0, 0}};
  PooledAxes same{{axes[0].output, axes[1].output}, {Dim(0), Dim(0)}};
  PooledAxes second_same = same;
  bool any_even = false;
  for (size_t i = 0; i < 2; ++i) {
    const int64_t growth = axes[i].whole_growth();
    pool.kernel[i] = growth;
    pool.padding[i] = growth / 2;
    same.padding_end[i] = Dim((growth - 1) / 2);
    if (growth % 2 != 0) continue;
    any_even = true;
    second.kernel[i] = 2;
    second_same.padding_end[i] = Dim(1);
  }
  const LoweredTensor averaged = averaged_apart(ctx, repeated, pool, same);
  return any_even ? emit_pool(ctx, OperationCode::AVERAGE_POOL_2D, averaged, second, second_same) : averaged;
}

// True if NNAPI's flags at level 4 give what PyTorch does.
bool agree_with_flags(const std::vector<ResizedAxis>& axes) {
  for (const ResizedAxis& axis : axes) {
    if (!axis.factor || axis.align_corners || axis.whole_growth() > 0 || axis.whole_shrinkage() > 0) continue;
    if (!axis.is_fixed()) return false;
    const float drift = std::abs(axis.step() - axis.step_by_sizes()) * static_cast<float>(axis.output.value());
    if (drift > 1e-4F) return false;
  }
  return true;
}

void lower_linear_resize(OpContext& ctx) {
  const LoweredTensor image = resized_image(ctx);
  const std::vector<ResizedAxis> axes = read_axes(ctx, ctx.tensor(input_name(ctx)));
  constexpr int kNearestLevel = 3;
  if (resized_axes(ctx) == 1 && axes[1].is_fixed()) return set_resized_sequence(ctx, axes[1], Interpolation::kLinear);
  if (ctx.can_use(OperationCode::RESIZE_BILINEAR, kHalfPixelLevel) && agree_with_flags(axes)) {
    return set_resized(ctx, resize_operation(ctx, OperationCode::RESIZE_BILINEAR, image, axes, true));
  }
  if (axes[0].whole_shrinkage() == 2 && axes[1].whole_shrinkage() == 2) {
    const Pool pool{{2, 2}, {2, 2}, {0, 0}};
    return set_resized(ctx, emit_pool(ctx, OperationCode::AVERAGE_POOL_2D, image, pool,
                                      {{axes[0].output, axes[1].output}, {Dim(0), Dim(0)}}));
  }
  if (ctx.can_use(OperationCode::RESIZE_NEAREST_NEIGHBOR, kNearestLevel) && axes[0].whole_growth() > 0 &&
      axes[1].whole_growth() > 0) {
    return set_resized(ctx, repeated_and_averaged(ctx, image, axes));
  }
  set_resized(ctx, resized_by_matrices(ctx, image, axes, Interpolation::kLinear));
}

void lower_cubic(OpContext& ctx) {
  const std::vector<ResizedAxis> axes = read_axes(ctx, ctx.tensor(input_name(ctx)));
  set_resized(ctx, resized_by_matrices(ctx, resized_image(ctx), axes, Interpolation::kCubic));
}

constexpr const char* kNearestNote = "float32 or quint8";
constexpr const char* kLinearNote =
    "float32 or quint8; below feature level 4 whole factors by AVERAGE_POOL_2D, others by constant matrices or "
    "weighted GATHERs for fixed sizes";
constexpr const char* kSequenceNote = "float32; fixed sizes, or whole factors";
constexpr const char* kCubicNote = "float32, fixed sizes; by constant matrices or weighted GATHERs";

}  // namespace

OpRules resize_rules() {
  constexpr auto lower_exact = lower_nearest<Interpolation::kNearestExact>;
  constexpr auto lower_plain = lower_nearest<Interpolation::kNearest>;
  return {
      {"aten::upsample_nearest1d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor", 3,
       "float32", resized_type<false>, lower_plain, row_wise(Rows::kSignals)},
      {"aten::upsample_nearest1d(Tensor self, SymInt[1] output_size, float? scales=None) -> Tensor", 3, "float32",
       resized_type<false>, lower_plain, row_wise(Rows::kSignals)},
      {"aten::upsample_nearest2d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor", 3,
       kNearestNote, resized_type<true>, lower_plain, row_wise(Rows::kImages)},
      {"aten::upsample_nearest2d(Tensor self, SymInt[2] output_size, float? scales_h=None, float? scales_w=None) -> "
       "Tensor",
       3, kNearestNote, resized_type<true>, lower_plain, row_wise(Rows::kImages)},
      {"aten::_upsample_nearest_exact1d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor", 3,
       "float32", resized_type<false>, lower_exact, kUnprovedRows},
      {"aten::_upsample_nearest_exact1d(Tensor self, SymInt[1] output_size, float? scales=None) -> Tensor", 3,
       "float32", resized_type<false>, lower_exact, kUnprovedRows},
      {"aten::_upsample_nearest_exact2d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor", 3,
       kNearestNote, resized_type<true>, lower_exact, kUnprovedRows},
      {"aten::_upsample_nearest_exact2d(Tensor self, SymInt[2] output_size, float? scales_h=None, float? "
       "scales_w=None) -> Tensor",
       3, kNearestNote, resized_type<true>, lower_exact, kUnprovedRows},
      {"aten::upsample_linear1d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) "
       "-> Tensor",
       1, kSequenceNote, resized_type<false>, lower_linear_resize, row_wise(Rows::kSignals) | Fact::kSumsProducts},
      {"aten::upsample_linear1d(Tensor self, SymInt[1] output_size, bool align_corners, float? scales=None) -> Tensor",
       1, kSequenceNote, resized_type<false>, lower_linear_resize, row_wise(Rows::kSignals) | Fact::kSumsProducts},
      {"aten::upsample_bilinear2d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) "
       "-> Tensor",
       1, kLinearNote, resized_type<true>, lower_linear_resize, row_wise(Rows::kImages) | Fact::kSumsProducts},
      {"aten::upsample_bilinear2d(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? "
       "scales_w=None) -> Tensor",
       1, kLinearNote, resized_type<true>, lower_linear_resize, row_wise(Rows::kImages) | Fact::kSumsProducts},
      {"aten::upsample_bicubic2d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) "
       "-> Tensor",
       2, kCubicNote, resized_type<false>, lower_cubic, kUnprovedRows},
      {"aten::upsample_bicubic2d(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? "
       "scales_w=None) -> Tensor",
       2, kCubicNote, resized_type<false>, lower_cubic, kUnprovedRows},
  };
}

}  // namespace nnapi_convert
