// SPDX-License-Identifier: BSD-3-Clause
// Adaptive pools: bin i of n goes from floor(i * size / n) to ceil((i + 1) * size / n). Bins of one size at one
// distance are a window of a pool.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "lib/ops/factor.h"
#include "lib/ops/families.h"
#include "lib/ops/matmul.h"
#include "lib/ops/pooling.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

struct Bins {
  std::vector<int64_t> begin, end;

  size_t count() const { return begin.size(); }
  int64_t size(size_t i) const { return end[i] - begin[i]; }
  int64_t smallest() const {
    int64_t found = size(0);
    for (size_t i = 1; i < count(); ++i) found = std::min(found, size(i));
    return found;
  }
  int64_t stride() const { return count() > 1 ? begin[1] - begin[0] : size(0); }
  // True for bins that are the windows of a pool. If there are more bins than cells, bins share cells: several begin at
  // one place, without a stride.
  bool are_even() const {
    if (stride() < 1) return false;
    for (size_t i = 0; i < count(); ++i) {
      if (size(i) != size(0) || begin[i] != static_cast<int64_t>(i) * stride()) return false;
    }
    return true;
  }
};

Bins bins_of(int64_t size, int64_t count) {
  Bins bins;
  for (int64_t i = 0; i < count; ++i) {
    bins.begin.push_back(i * size / count);
    bins.end.push_back(((i + 1) * size + count - 1) / count);
  }
  return bins;
}

// Returns the argument output_size; None in it keeps the input's size.
Dims wanted_sizes(const OpArguments& args, const Dims& image) {
  const size_t spatial = pooled_spatial_axes(args);
  std::vector<int64_t> wanted = args.integers("output_size", spatial, 1);
  if (spatial == 1) wanted.insert(wanted.begin(), 1);
  for (const int64_t size : wanted) {
    args.require(size >= 1, fmt::format("output_size = {}", size), "at least 1");
  }
  return {image[0], image[1], Dim(wanted[0]), Dim(wanted[1])};
}

bool is_global(const Dims& output) {
  return output[2] == Dim(1) && output[3] == Dim(1);
}

TensorType adaptive_output(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  const size_t spatial = pooled_spatial_axes(args);
  require_pool_input(args, self, spatial);
  const Dims image = as_image(self.dims, spatial);
  const Dims output = wanted_sizes(args, image);
  for (size_t i = 2; i < 4; ++i) {
    args.require(is_global(output) || image[i].is_fixed(),
                 fmt::format("output_size = {} of a flexible size", to_text(output)),
                 "output_size = 1, or a fixed input size", "give every size of the input with --input");
  }
  Dims dims(self.dims.begin(), self.dims.end() - static_cast<std::ptrdiff_t>(spatial));
  dims.insert(dims.end(), output.end() - static_cast<std::ptrdiff_t>(spatial), output.end());
  return self.with_dims(dims);
}

std::vector<ValueType> adaptive_type(const OpArguments& args) {
  return {adaptive_output(args)};
}

std::vector<ValueType> adaptive_with_indices_type(const OpArguments& args) {
  const TensorType values = adaptive_output(args);
  require_float(args, values);  // as PyTorch
  args.require(args.node().output(1)->uses().empty(), "indices that are used", "values only",
               "NNAPI's pools give no indices");
  return {values, TensorType{at::kLong, values.dims, {}}};
}

// The image and the bins of its height and width, where its sizes are known.
struct Adaptive {
  LoweredTensor image;
  TensorType output;  // [N, C, rows, columns]
  Bins rows, columns;

  bool is_even() const { return rows.are_even() && columns.are_even(); }
};

Adaptive read_adaptive(OpContext& ctx) {
  const LoweredTensor self = ctx.operand("self");
  const size_t spatial = pooled_spatial_axes(ctx);
  Adaptive adaptive;
  adaptive.image = reshaped(ctx, self, as_image(self.type.dims, spatial));
  adaptive.output = ctx.output_type().with_dims(as_image(ctx.output_type().dims, spatial));
  const Dims& image = adaptive.image.type.dims;
  if (image[2].is_fixed() && image[3].is_fixed()) {
    adaptive.rows = bins_of(image[2].value(), adaptive.output.dims[2].value());
    adaptive.columns = bins_of(image[3].value(), adaptive.output.dims[3].value());
  }
  return adaptive;
}

void set_adaptive(OpContext& ctx, const LoweredTensor& image) {
  ctx.set_output(reshaped(ctx, image, ctx.output_type().dims).id);
}

LoweredTensor even_pool(OpContext& ctx, OperationCode code, const Adaptive& adaptive) {
  const Pool pool{
      {adaptive.rows.size(0), adaptive.columns.size(0)}, {adaptive.rows.stride(), adaptive.columns.stride()}, {0, 0}};
  const Dims& output = adaptive.output.dims;
  return emit_pool(ctx, code, adaptive.image, pool, {{output[2], output[3]}, {Dim(0), Dim(0)}});
}

// Returns a matrix with a row for each bin: the weight of every cell in it.
at::Tensor shares(const Bins& bins, int64_t size) {
  at::Tensor result = at::zeros({static_cast<int64_t>(bins.count()), size});
  for (size_t i = 0; i < bins.count(); ++i) {
    result[static_cast<int64_t>(i)].slice(0, bins.begin[i], bins.end[i]).fill_(1 / static_cast<double>(bins.size(i)));
  }
  return result;
}

// Averages over bins of any size: multiplies the cells of each channel by a constant matrix.
LoweredTensor average_by_matrix(OpContext& ctx, const Adaptive& adaptive) {
  const Dims& image = adaptive.image.type.dims;
  const at::Tensor matrix =
      at::kron(shares(adaptive.rows, image[2].value()), shares(adaptive.columns, image[3].value()));
  LoweredTensor cells = adaptive.image;
  const TensorType real{at::kFloat, image, {}};
  if (cells.type.is_quantized()) cells = {ctx.emit_to(OperationCode::DEQUANTIZE, {cells.id}, real), real};
  const Factor rows = Factor(ctx, cells).reshaped({image[0] * image[1], image[2] * image[3]});
  const Factor means = row_product(ctx, rows, Factor(ctx, matrix)).reshaped(adaptive.output.dims);
  if (!adaptive.output.is_quantized()) return {means.operand(), adaptive.output};
  return {ctx.emit_to(OperationCode::QUANTIZE, {means.operand()}, adaptive.output), adaptive.output};
}

// Drivers with 8-bit arithmetic sum at most this many cells in AVERAGE_POOL_2D.
constexpr int64_t kMaxQuantizedCells = 256;
// A matrix of bins by cells may have this many numbers.
constexpr int64_t kMaxMatrix = 1 << 20;

// Averages over windows of the image's own height, width or both, which may be flexible.
LoweredTensor whole_pool(OpContext& ctx, const LoweredTensor& image, const Dim& rows, const Dim& columns) {
  TensorType type = image.type;
  if (rows == type.dims[2]) type.dims[2] = Dim(1);
  if (columns == type.dims[3]) type.dims[3] = Dim(1);
  std::vector<nnapi::OperandId> inputs{image.id};
  for (const Dim& value : {Dim(0), Dim(0), Dim(0), Dim(0), columns, rows, columns, rows, Dim(0)}) {
    inputs.push_back(ctx.builder().int32(value));
  }
  inputs.push_back(ctx.builder().boolean(true));
  return {ctx.emit_to(OperationCode::AVERAGE_POOL_2D, inputs, type), type};
}

void lower_adaptive_average(OpContext& ctx) {
  const Adaptive adaptive = read_adaptive(ctx);
  const bool is_fixed = adaptive.rows.count() != 0;
  const bool fits = is_fixed && (!adaptive.output.is_quantized() ||
                                 adaptive.rows.size(0) * adaptive.columns.size(0) <= kMaxQuantizedCells);
  if (!fits && is_global(adaptive.output.dims)) {
    return set_adaptive(ctx, image_average(ctx, adaptive.image));
  }
  if (adaptive.is_even()) return set_adaptive(ctx, even_pool(ctx, OperationCode::AVERAGE_POOL_2D, adaptive));
  const int64_t numbers = adaptive.image.type.dims[2].value() * adaptive.image.type.dims[3].value() *
                          adaptive.output.dims[2].value() * adaptive.output.dims[3].value();
  ctx.require(numbers <= kMaxMatrix,
              fmt::format("output_size {} x {} of an image {} x {}", adaptive.output.dims[2].text(),
                          adaptive.output.dims[3].text(), adaptive.image.type.dims[2].text(),
                          adaptive.image.type.dims[3].text()),
              fmt::format("bins of one size, or at most {} bins times cells", kMaxMatrix),
              "choose an output_size that divides the size");
  set_adaptive(ctx, average_by_matrix(ctx, adaptive));
}

// Returns the entries `indices` along an axis.
LoweredTensor gathered(OpContext& ctx, const LoweredTensor& image, int64_t axis, const std::vector<int64_t>& indices) {
  TensorType type = image.type;
  type.dims[static_cast<size_t>(axis)] = Dim(static_cast<int64_t>(indices.size()));
  const nnapi::OperandId positions = ctx.builder().int32_tensor(to_dims(indices));
  return {ctx.emit_to(OperationCode::GATHER, {image.id, ctx.builder().int32(axis), positions}, type), type};
}

// Returns the maxima of the bins from the maxima of all windows as large as the smallest bin: a bin's maximum is the
// larger of its first and its last window's.
LoweredTensor maxima_of_bins(OpContext& ctx, const LoweredTensor& windows, int64_t axis, const Bins& bins) {
  std::vector<int64_t> last = bins.end;
  for (int64_t& position : last) position -= bins.smallest();
  const LoweredTensor a = gathered(ctx, windows, axis, bins.begin);
  const LoweredTensor b = gathered(ctx, windows, axis, last);
  return {ctx.emit_to(OperationCode::MAXIMUM, {a.id, b.id}, a.type), a.type};
}

LoweredTensor uneven_max(OpContext& ctx, const Adaptive& adaptive) {
  Pool pool{{1, 1}, {1, 1}, {0, 0}};
  const Dims& image = adaptive.image.type.dims;
  Dims sizes;
  size_t i = 0;
  for (const Bins* bins : {&adaptive.rows, &adaptive.columns}) {
    pool.kernel[i] = bins->smallest();
    if (bins->are_even()) pool.stride[i] = bins->stride();
    sizes.push_back(window_output(image[2 + i], 0, 1, pool.kernel[i], pool.stride[i]));
    ++i;
  }
  LoweredTensor result = adaptive.image;
  if (pool.kernel != std::vector<int64_t>{1, 1} || pool.stride != std::vector<int64_t>{1, 1}) {
    result = emit_pool(ctx, OperationCode::MAX_POOL_2D, result, pool, {sizes, {Dim(0), Dim(0)}});
  }
  if (!adaptive.rows.are_even()) result = maxima_of_bins(ctx, result, 2, adaptive.rows);
  if (!adaptive.columns.are_even()) result = maxima_of_bins(ctx, result, 3, adaptive.columns);
  return result;
}

void lower_adaptive_max(OpContext& ctx) {
  const Adaptive adaptive = read_adaptive(ctx);
  if (adaptive.rows.count() == 0) return set_adaptive(ctx, image_maximum(ctx, adaptive.image));
  set_adaptive(ctx,
               adaptive.is_even() ? even_pool(ctx, OperationCode::MAX_POOL_2D, adaptive) : uneven_max(ctx, adaptive));
}

constexpr const char* kAverageNote =
    "float32 or quint8; flexible inputs: output size 1, float32 at feature level 2; uneven bins: a constant "
    "matrix";
constexpr const char* kMaxNote = "float32; the values only; uneven bins and flexible inputs: feature level 3";

}  // namespace

std::optional<Window> even_window(int64_t size, int64_t count) {
  const Bins bins = bins_of(size, count);
  if (!bins.are_even()) return std::nullopt;
  return Window{bins.size(0), bins.stride()};
}

LoweredTensor quantized_image_average(OpContext& ctx, const LoweredTensor& image) {
  const Dim rows = image.type.dims[2];
  const Dim columns = image.type.dims[3];
  const bool is_small = rows.is_fixed() && columns.is_fixed() && rows.value() * columns.value() <= kMaxQuantizedCells;
  if (is_small || !rows.is_fixed() || !columns.is_fixed()) return whole_pool(ctx, image, rows, columns);
  return whole_pool(ctx, whole_pool(ctx, image, rows, Dim(1)), Dim(1), columns);
}

LoweredTensor image_average(OpContext& ctx, const LoweredTensor& image) {
  if (image.type.is_quantized()) return quantized_image_average(ctx, image);
  const TensorType type = image.type.with_dims({image.type.dims[0], image.type.dims[1], Dim(1), Dim(1)});
  return {
      ctx.emit_to(OperationCode::MEAN, {image.id, ctx.builder().int32_tensor({2, 3}), ctx.builder().int32(1)}, type),
      type};
}

LoweredTensor image_maximum(OpContext& ctx, const LoweredTensor& image) {
  const TensorType type = image.type.with_dims({image.type.dims[0], image.type.dims[1], Dim(1), Dim(1)});
  return {ctx.emit_to(OperationCode::REDUCE_MAX,
                      {image.id, ctx.builder().int32_tensor({2, 3}), ctx.builder().boolean(true)}, type),
          type};
}

OpRules adaptive_pooling_rules() {
  return {
      {"aten::adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor", 1, kAverageNote, adaptive_type,
       lower_adaptive_average, row_wise(Rows::kSignals)},
      {"aten::adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor", 1, kAverageNote, adaptive_type,
       lower_adaptive_average, row_wise(Rows::kImages)},
      {"aten::_adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor", 1, kAverageNote, adaptive_type,
       lower_adaptive_average, kUnprovedRows},
      {"aten::adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor)", 2, kMaxNote,
       adaptive_with_indices_type, lower_adaptive_max, kUnprovedRows},
      {"aten::adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor)", 1, kMaxNote,
       adaptive_with_indices_type, lower_adaptive_max, row_wise(Rows::kImages)},
  };
}

}  // namespace nnapi_convert
