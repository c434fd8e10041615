// SPDX-License-Identifier: BSD-3-Clause
// Pools with a sliding window. NNAPI's average divides by the cells inside the input, which is PyTorch's
// count_include_pad=False.
#include "lib/ops/pooling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lib/ops/expression.h"
#include "lib/ops/factor.h"
#include "lib/ops/families.h"
#include "lib/ops/padding.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

constexpr auto kUnfused = static_cast<int64_t>(FuseCode::NONE);

struct PooledAxis {
  Dim output;
  Dim padding_end;
};

// Returns an axis of the result. ceil_mode lets the last window reach past the padding; a window that would start past
// the input's end is dropped.
PooledAxis pooled_axis(const OpArguments& args, const Pool& pool, size_t i, const Dim& input) {
  const int64_t kernel = pool.dilation[i] * (pool.kernel[i] - 1) + 1;
  const int64_t stride = pool.stride[i], padding = pool.padding[i];
  const Dim padded = input + Dim(2 * padding);
  if (!pool.ceil_mode) return {window_output(input, 2 * padding, 1, kernel, stride), Dim(padding)};
  Dim output = (padded + Dim(stride - 1 - kernel)).floor_div(stride) + Dim(1);
  if (padding + stride > kernel) {
    args.require(input.is_fixed(), "ceil_mode with padding + stride > kernel_size on a flexible size", "a fixed size",
                 "give every size of the input with --input");
    if ((output.value() - 1) * stride >= input.value() + padding) output = output - Dim(1);
  }
  const Dim reached = (output - Dim(1)) * Dim(stride) + Dim(kernel);
  Dim extra = reached - padded;
  if (extra.is_fixed() && extra.value() < 0) extra = Dim(0);
  return {output, Dim(padding) + extra};
}

}  // namespace

PooledAxes pooled_axes(const OpArguments& args, const Pool& pool, const Dims& image) {
  PooledAxes axes;
  for (size_t i = 0; i < 2; ++i) {
    const PooledAxis axis = pooled_axis(args, pool, i, image[2 + i]);
    axes.output.push_back(axis.output);
    axes.padding_end.push_back(axis.padding_end);
  }
  return axes;
}

namespace {

std::vector<int64_t> pooled_pair(const OpArguments& args, const std::string& name, int64_t fallback) {
  std::vector<int64_t> values = args.integers(name, pooled_spatial_axes(args), fallback);
  if (values.size() == 1) values.insert(values.begin(), fallback);
  return values;
}

Pool read_pool(const OpArguments& args) {
  Pool pool;
  pool.kernel = pooled_pair(args, "kernel_size", 1);
  pool.stride = args.integers("stride").empty() ? pool.kernel : pooled_pair(args, "stride", 1);
  if (args.has("padding")) pool.padding = pooled_pair(args, "padding", 0);
  pool.ceil_mode = args.boolean("ceil_mode");
  if (args.has("dilation")) pool.dilation = pooled_pair(args, "dilation", 1);
  for (const std::vector<int64_t>& numbers : {pool.kernel, pool.stride, pool.dilation}) {
    for (const int64_t number : numbers) {
      args.require(number > 0 && number <= INT32_MAX, fmt::format("a window's size, stride or dilation {}", number),
                   "1 or more");
    }
  }
  if (args.has("count_include_pad")) pool.counts_padding = args.boolean("count_include_pad");
  if (args.has("divisor_override") && !args.is_none("divisor_override")) {
    pool.divisor = args.integer("divisor_override");
    args.require(pool.divisor != 0, "divisor_override = 0", "another number");
  }
  return pool;
}

// True if the window has the image's own, flexible sizes, as in avg_pool2d(x, x.shape[2:]): it covers the whole image.
bool pools_flexible_image(const OpArguments& args, const TensorType& self) {
  const size_t spatial = pooled_spatial_axes(args);
  const Dims kernel = args.sizes("kernel_size");
  const auto is_zero = [](const std::vector<int64_t>& numbers) {
    return std::all_of(numbers.begin(), numbers.end(), [](int64_t number) { return number == 0; });
  };
  const bool has_divisor = args.has("divisor_override") && !args.is_none("divisor_override");
  return !all_fixed(kernel) && kernel.size() == spatial && self.rank() > spatial &&
         std::equal(kernel.begin(), kernel.end(), self.dims.end() - static_cast<std::ptrdiff_t>(spatial)) &&
         is_zero(args.integers("padding")) && !has_divisor &&
         (!args.has("dilation") || args.integers("dilation", spatial, 1) == std::vector<int64_t>(spatial, 1));
}

Dims pool_dims(const OpArguments& args, const TensorType& self) {
  const size_t spatial = pooled_spatial_axes(args);
  require_pool_input(args, self, spatial);
  if (pools_flexible_image(args, self)) {
    Dims dims = self.dims;
    std::fill(dims.end() - static_cast<std::ptrdiff_t>(spatial), dims.end(), Dim(1));
    return dims;
  }
  const PooledAxes axes = pooled_axes(args, read_pool(args), as_image(self.dims, spatial));
  Dims dims(self.dims.begin(), self.dims.end() - static_cast<std::ptrdiff_t>(spatial));
  dims.insert(dims.end(), axes.output.end() - static_cast<std::ptrdiff_t>(spatial), axes.output.end());
  require_positive(args, dims);
  return dims;
}

std::vector<ValueType> pool_type(const OpArguments& args) {
  const TensorType self = args.tensor(tensor_name(args));
  return {self.with_dims(pool_dims(args, self))};
}

std::vector<ValueType> pool_with_indices_type(const OpArguments& args) {
  const TensorType self = args.tensor(tensor_name(args));
  const Dims dims = pool_dims(args, self);
  args.require(args.node().output(1)->uses().empty(), "indices that are used", "values only",
               "NNAPI's pools give no indices");
  return {self.with_dims(dims), TensorType{at::kLong, dims, {}}};
}

LoweredTensor image_of(OpContext& ctx) {
  const LoweredTensor self = ctx.operand(tensor_name(ctx));
  return reshaped(ctx, self, as_image(self.type.dims, pooled_spatial_axes(ctx)));
}

void set_pooled(OpContext& ctx, const LoweredTensor& image) {
  ctx.set_output(reshaped(ctx, image, ctx.output_type().dims).id);
}

// Returns the image with cells of the lowest float32 (`lowest`) or of 0 added before and after height and width.
LoweredTensor with_border(OpContext& ctx, const LoweredTensor& image, const Dims& before, const Dims& after,
                          bool lowest) {
  return padded(ctx, image, {0, 0, 0, 0, before[0], after[0], before[1], after[1]},
                lowest ? std::numeric_limits<float>::lowest() : 0);
}

// Pools with a dilated window: SPACE_TO_BATCH_ND brings its rows and columns side by side. Pools all windows of stride
// 1, and picks those of the pool's stride.
LoweredTensor dilated_max_pool(OpContext& ctx, const LoweredTensor& image, const Pool& pool, const PooledAxes& axes) {
  nnapi::Builder& builder = ctx.builder();
  Dims before, after, end;
  TensorType dense = image.type, apart = image.type, pooled = image.type, picked = image.type;
  for (size_t i = 0; i < 2; ++i) {
    const Dim block(pool.dilation[i]);
    const Dim all = (axes.output[i] - Dim(1)) * Dim(pool.stride[i]) + Dim(1);  // windows of stride 1
    const Dim reach = all + block * Dim(pool.kernel[i] - 1);
    const Dim longest = image.type.dims[2 + i] + Dim(pool.padding[i]);
    const Dim needed = reach.is_fixed() && longest.is_fixed() && reach.value() < longest.value() ? longest : reach;
    const Dim blocks = (needed + block - Dim(1)).floor_div(block.value());
    before.emplace_back(pool.padding[i]);
    after.push_back(blocks * block - longest);
    apart.dims[2 + i] = blocks;
    pooled.dims[2 + i] = blocks - Dim(pool.kernel[i] - 1);
    dense.dims[2 + i] = pooled.dims[2 + i] * block;
    picked.dims[2 + i] = axes.output[i];
    end.push_back(all);
  }
  apart.dims[0] *= Dim(pool.dilation[0] * pool.dilation[1]);
  pooled.dims[0] = apart.dims[0];
  const nnapi::OperandId block = builder.int32_tensor(to_dims(pool.dilation));
  const nnapi::OperandId no_padding = builder.int32_tensor({0, 0, 0, 0}, {2, 2});
  const LoweredTensor room = with_border(ctx, image, before, after, true);
  const LoweredTensor batches{
      ctx.emit_to(OperationCode::SPACE_TO_BATCH_ND, {room.id, block, no_padding, builder.boolean(true)}, apart), apart};
  const Pool plain{pool.kernel, {1, 1}, {0, 0}};
  const LoweredTensor maxima =
      emit_pool(ctx, OperationCode::MAX_POOL_2D, batches, plain, {{pooled.dims[2], pooled.dims[3]}, {Dim(0), Dim(0)}});
  const nnapi::OperandId joined =
      ctx.emit_to(OperationCode::BATCH_TO_SPACE_ND, {maxima.id, block, builder.boolean(true)}, dense);
  if (dense.dims == picked.dims) return {joined, dense};
  const nnapi::OperandId no_mask = builder.int32(0);
  return {ctx.emit_to(OperationCode::STRIDED_SLICE,
                      {joined, builder.int32_tensor({0, 0, 0, 0}),
                       builder.int32_tensor({dense.dims[0], dense.dims[1], end[0], end[1]}),
                       builder.int32_tensor({1, 1, pool.stride[0], pool.stride[1]}), no_mask, no_mask, no_mask},
                      picked),
          picked};
}

// Returns the sums of windows, with the zeros around the image, divided by one number: a DEPTHWISE_CONV_2D.
LoweredTensor summed_windows(OpContext& ctx, const LoweredTensor& image, const Pool& pool, const PooledAxes& axes,
                             int64_t divisor) {
  nnapi::Builder& builder = ctx.builder();
  const int64_t channels = image.type.dims[1].value();
  const std::vector<int64_t> shape{1, pool.kernel[0], pool.kernel[1], channels};
  const auto cells = static_cast<size_t>(pool.kernel[0] * pool.kernel[1] * channels);
  const auto factor = 1 / static_cast<float>(divisor);
  nnapi::OperandId filter, bias;
  if (image.type.is_quantized()) {
    auto ones = std::make_shared<const std::vector<uint8_t>>(cells, uint8_t{1});
    const uint8_t* data = ones->data();
    filter = builder.tensor(nnapi::Constant(nnapi::DataType::kUInt8, shape, data, std::move(ones)), factor, 0);
    const auto scale =
        static_cast<float>(static_cast<double>(static_cast<float>(image.type.quantization.scale)) * factor);
    auto zeros = std::make_shared<const std::vector<int32_t>>(static_cast<size_t>(channels));
    const int32_t* zero_data = zeros->data();
    bias = builder.tensor(nnapi::Constant(nnapi::DataType::kInt32, {channels}, zero_data, std::move(zeros)), scale, 0);
  } else {
    filter = builder.tensor(nnapi::Constant::of_floats(std::vector<float>(cells, factor), shape));
    bias = builder.tensor(nnapi::Constant::of_floats(std::vector<float>(static_cast<size_t>(channels))));
  }
  std::vector<nnapi::OperandId> inputs{image.id, filter, bias};
  for (const Dim& value : {Dim(pool.padding[1]), axes.padding_end[1], Dim(pool.padding[0]), axes.padding_end[0],
                           Dim(pool.stride[1]), Dim(pool.stride[0]), Dim(1), Dim(kUnfused)}) {
    inputs.push_back(builder.int32(value));
  }
  inputs.push_back(builder.boolean(true));
  const TensorType type =
      image.type.with_dims({image.type.dims[0], image.type.dims[1], axes.output[0], axes.output[1]});
  return {ctx.emit_to(OperationCode::DEPTHWISE_CONV_2D, inputs, type), type};
}

// Averages with the zeros around the image added as cells: the average counts them.
LoweredTensor padded_average(OpContext& ctx, const LoweredTensor& image, Pool pool, PooledAxes axes) {
  const Dims padding = to_dims(pool.padding);
  for (size_t i = 0; i < 2; ++i) axes.padding_end[i] = axes.padding_end[i] - padding[i];
  pool.padding = {0, 0};
  return emit_pool(ctx, OperationCode::AVERAGE_POOL_2D, with_border(ctx, image, padding, padding, false), pool, axes);
}

}  // namespace

LoweredTensor max_pool(OpContext& ctx, const LoweredTensor& image, const Pool& pool, const PooledAxes& axes) {
  const bool is_dilated = pool.dilation[0] != 1 || pool.dilation[1] != 1;
  if (is_dilated) return dilated_max_pool(ctx, image, pool, axes);
  return emit_pool(ctx, OperationCode::MAX_POOL_2D, image, pool, axes);
}

LoweredTensor average_pool(OpContext& ctx, const LoweredTensor& image, const Pool& pool, const PooledAxes& axes) {
  const bool has_padding = pool.padding[0] != 0 || pool.padding[1] != 0;
  const bool stays_in_padding = axes.padding_end == to_dims(pool.padding);
  const int64_t cells = pool.kernel[0] * pool.kernel[1];
  if (pool.divisor != 0) {
    ctx.require(image.type.dims[1].is_fixed(), "divisor_override for flexible channels", "a fixed number",
                "give every size of the input with --input");
    ctx.require(!image.type.is_quantized() || pool.divisor > 1, fmt::format("divisor_override = {}", pool.divisor),
                "2 or more for quint8");
    return summed_windows(ctx, image, pool, axes, pool.divisor);
  }
  if (!pool.counts_padding || !has_padding) {
    return emit_pool(ctx, OperationCode::AVERAGE_POOL_2D, image, pool, axes);
  }
  if (stays_in_padding && image.type.dims[1].is_fixed()) {
    return summed_windows(ctx, image, pool, axes, cells);
  }
  return padded_average(ctx, image, pool, axes);
}

namespace {

// Warns where QNNPACK pools otherwise than PyTorch defines. When the converter runs the original, PoolingAsDefined
// (lib/converter/graph/quantised_engine.h) makes it pool as defined.
void warn_of_qnnpack(OpContext& ctx, const Pool& pool, bool is_maximum) {
  const auto is_other = [](const std::vector<int64_t>& numbers, int64_t number) {
    return std::any_of(numbers.begin(), numbers.end(), [&](int64_t each) { return each != number; });
  };
  const bool has_padding = is_other(pool.padding, 0);
  const std::string sentence =
      "PyTorch's engine for quantised models on phones, QNNPACK, pools otherwise than PyTorch defines it, as the "
      "converted model does: it ";
  if (is_maximum && has_padding && is_other(pool.dilation, 1)) {
    ctx.warn(sentence + "takes numbers from beyond the padding of a dilated window");
  }
  if (!is_maximum && pool.divisor != 0) ctx.warn(sentence + "ignores divisor_override");
  if (!is_maximum && has_padding && !pool.counts_padding) ctx.warn(sentence + "ignores count_include_pad=False");
}

template <LoweredTensor (*pool_image)(OpContext&, const LoweredTensor&, const Pool&, const PooledAxes&)>
void lower_pool(OpContext& ctx) {
  const LoweredTensor image = image_of(ctx);
  if (pools_flexible_image(ctx, ctx.tensor(tensor_name(ctx)))) {
    const auto pool_whole = pool_image == max_pool ? image_maximum : image_average;
    return set_pooled(ctx, pool_whole(ctx, image));
  }
  const Pool pool = read_pool(ctx);
  if (image.type.is_quantized()) warn_of_qnnpack(ctx, pool, pool_image == max_pool);
  set_pooled(ctx, pool_image(ctx, image, pool, pooled_axes(ctx, pool, image.type.dims)));
}

// L2 pool: PyTorch takes the square root of the sum of squares, NNAPI of their mean.
LoweredTensor l2_pool(OpContext& ctx, const LoweredTensor& image, const Pool& pool, const PooledAxes& axes) {
  const Expression mean(ctx, emit_pool(ctx, OperationCode::L2_POOL_2D, image, pool, axes));
  const Expression sum = mean * std::sqrt(static_cast<double>(pool.kernel[0] * pool.kernel[1]));
  return {sum.id(), sum.type()};
}

constexpr LowerRule kMaxPool = lower_pool<max_pool>;
constexpr LowerRule kAveragePool = lower_pool<average_pool>;

constexpr const char* kMaxPoolNote = "float32 or quint8; dilation: feature level 3; NCHW: feature level 3";
constexpr const char* kIndicesNote = "float32 or quint8; the values only";

}  // namespace

size_t pooled_spatial_axes(const OpArguments& args) {
  const std::string kind = args.node().kind().toQualString();
  return kind.find("1d") != std::string::npos ? 1 : 2;
}

void require_pool_input(const OpArguments& args, const TensorType& self, size_t spatial) {
  require_rank(args, self, spatial + 1, spatial + 2);
  args.require(self.dtype == at::kFloat || self.dtype == at::kQUInt8, "a tensor " + to_text(self), "float32 or quint8");
}

LoweredTensor emit_pool(OpContext& ctx, OperationCode code, const LoweredTensor& image, const Pool& pool,
                        const PooledAxes& axes) {
  std::vector<nnapi::OperandId> inputs{image.id};
  for (const Dim& value :
       {Dim(pool.padding[1]), axes.padding_end[1], Dim(pool.padding[0]), axes.padding_end[0], Dim(pool.stride[1]),
        Dim(pool.stride[0]), Dim(pool.kernel[1]), Dim(pool.kernel[0]), Dim(kUnfused)}) {
    inputs.push_back(ctx.builder().int32(value));
  }
  inputs.push_back(ctx.builder().boolean(true));
  const TensorType type =
      image.type.with_dims({image.type.dims[0], image.type.dims[1], axes.output[0], axes.output[1]});
  return {ctx.emit_to(code, inputs, type), type};
}

OpRules recognised_pooling_rules() {
  return {{"nnapi_convert::l2_pool2d(Tensor self, int[2] kernel_size, int[2] stride, bool ceil_mode) -> Tensor", 1, "",
           pool_type, lower_pool<l2_pool>, kUnprovedRows}};
}

OpRules pooling_rules() {
  OpRules rules = {
      {"aten::max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], int[1] dilation=[1], "
       "bool "
       "ceil_mode=False) -> Tensor",
       2, kMaxPoolNote, pool_type, kMaxPool, row_wise(Rows::kSignals)},
      {"aten::max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool "
       "ceil_mode=False) -> Tensor",
       1, kMaxPoolNote, pool_type, kMaxPool,
       row_wise(Rows::kImages) | Memory::kFresh | Quantised::kKept | Fact::kKeepsChannels},
      {"quantized::max_pool1d(Tensor qx, int[] kernel_size, int[] stride, int[] padding, int[] dilation, bool "
       "ceil_mode) "
       "-> Tensor",
       2, kMaxPoolNote, pool_type, kMaxPool, kUnprovedRows},
      {"quantized::max_pool2d(Tensor qx, int[] kernel_size, int[] stride, int[] padding, int[] dilation, bool "
       "ceil_mode) "
       "-> Tensor",
       1, kMaxPoolNote, pool_type, kMaxPool, kUnprovedRows},
      {"aten::max_pool1d_with_indices(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], int[1] "
       "dilation=[1], bool ceil_mode=False) -> (Tensor, Tensor)",
       2, kIndicesNote, pool_with_indices_type, kMaxPool, kUnprovedRows},
      {"aten::max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] "
       "dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
       1, kIndicesNote, pool_with_indices_type, kMaxPool, kUnprovedRows},
      {"aten::avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], bool ceil_mode=False, "
       "bool count_include_pad=True) -> Tensor",
       2, "float32 or quint8", pool_type, kAveragePool, row_wise(Rows::kSignals)},
      {"aten::avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False, "
       "bool "
       "count_include_pad=True, int? divisor_override=None) -> Tensor",
       1, "float32 or quint8; count_include_pad with padding and ceil_mode costs a PAD (feature level 2)", pool_type,
       kAveragePool, row_wise(Rows::kImages) | Quantised::kKept | Fact::kKeepsChannels},
  };
  for (const OpRules& more : {adaptive_pooling_rules(), volume_pooling_rules()}) {
    rules.insert(rules.end(), more.begin(), more.end());
  }
  return rules;
}

}  // namespace nnapi_convert
