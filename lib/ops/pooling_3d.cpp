// SPDX-License-Identifier: BSD-3-Clause
// Pools of volumes: first of height and width of all frames, then of depth, the height of columns (frames.h). The
// maximum (or average) of a box is the maximum (or average) of its planes' maxima (averages).
#include <fmt/format.h>

#include "lib/ops/expression.h"
#include "lib/ops/factor.h"
#include "lib/ops/frames.h"
#include "lib/ops/pooling.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

struct VolumePool {
  Pool plane;  // height and width
  Pool depth;  // depth, and 1 for all cells of a plane
};

VolumePool read_pools(const OpArguments& args) {
  const auto read = [&](const std::string& name, int64_t fallback) {
    return args.integers(name, kVolumeAxes, fallback);
  };
  const std::vector<int64_t> kernel = read("kernel_size", 1), padding = read("padding", 0);
  const std::vector<int64_t> stride = args.integers("stride").empty() ? kernel : read("stride", 1);
  const std::vector<int64_t> dilation =
      args.has("dilation") ? read("dilation", 1) : std::vector<int64_t>(kVolumeAxes, 1);
  const bool has_divisor = args.has("divisor_override") && !args.is_none("divisor_override");
  args.require(!has_divisor, "a divisor_override", "None", "multiply the result instead");
  VolumePool pools;
  pools.plane = {{kernel[1], kernel[2]}, {stride[1], stride[2]}, {padding[1], padding[2]}, {dilation[1], dilation[2]}};
  pools.depth = {{kernel[0], 1}, {stride[0], 1}, {padding[0], 0}, {dilation[0], 1}};
  for (Pool* pool : {&pools.plane, &pools.depth}) {
    pool->ceil_mode = args.boolean("ceil_mode");
    pool->counts_padding = args.has("count_include_pad") && args.boolean("count_include_pad");
  }
  return pools;
}

std::vector<ValueType> volume_pool_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  require_pool_input(args, self, kVolumeAxes);
  const VolumePool pools = read_pools(args);
  const Dims dims = volume_dims(self.dims);
  const Dims plane = pooled_axes(args, pools.plane, {dims[0], dims[1], dims[3], dims[4]}).output;
  const Dims depth = pooled_axes(args, pools.depth, {dims[0], dims[1], dims[2], Dim(1)}).output;
  Dims result(self.dims.begin(), self.dims.end() - static_cast<std::ptrdiff_t>(kVolumeAxes));
  result.insert(result.end(), {depth[0], plane[0], plane[1]});
  require_positive(args, result);
  return {self.with_dims(result)};
}

bool changes_nothing(const Pool& pool) {
  const std::vector<int64_t> ones{1, 1}, zeros{0, 0};
  return pool.kernel == ones && pool.stride == ones && pool.padding == zeros;
}

using PoolImage = LoweredTensor (*)(OpContext&, const LoweredTensor&, const Pool&, const PooledAxes&);

Frames pool_planes(OpContext& ctx, const Frames& frames, const Pool& pool, PoolImage pool_image) {
  if (changes_nothing(pool)) return frames;
  const PooledAxes axes = pooled_axes(ctx, pool, frames.dims());
  return {pool_image(ctx, frames.image, pool, axes), frames.batch, frames.depth};
}

Frames pool_depth(OpContext& ctx, const Frames& frames, const Pool& pool, PoolImage pool_image) {
  if (changes_nothing(pool)) return frames;
  const LoweredTensor columns = to_columns(ctx, frames);
  const PooledAxes axes = pooled_axes(ctx, pool, columns.type.dims);
  return from_columns(ctx, pool_image(ctx, columns, pool, axes), frames.batch, {frames.dims()[2], frames.dims()[3]});
}

// Pools a volume of one channel: its depths become the channels of an image, by a reshape that moves nothing.
void pool_single_channel(OpContext& ctx, const Dims& dims, const Pool& pool, PoolImage pool_image) {
  const LoweredTensor image = reshaped(ctx, ctx.operand("self"), {dims[0], dims[2], dims[3], dims[4]});
  const LoweredTensor result = pool_image(ctx, image, pool, pooled_axes(ctx, pool, image.type.dims));
  ctx.set_output(reshaped(ctx, result, ctx.output_type().dims).id);
}

void emit_pools(OpContext& ctx, const VolumePool& pools, PoolImage pool_image) {
  const Dims dims = volume_dims(ctx.tensor("self").dims);
  if (dims[1] == Dim(1) && changes_nothing(pools.depth)) {
    return pool_single_channel(ctx, dims, pools.plane, pool_image);
  }
  const Frames planes = pool_planes(ctx, to_frames(ctx, ctx.operand("self")), pools.plane, pool_image);
  const Frames result = pool_depth(ctx, planes, pools.depth, pool_image);
  ctx.set_output(to_volume(ctx, result, ctx.output_type().dims).id);
}

template <PoolImage pool_image>
void lower_volume_pool(OpContext& ctx) {
  emit_pools(ctx, read_pools(ctx), pool_image);
}

std::vector<int64_t> wanted_sizes(const OpArguments& args) {
  std::vector<int64_t> wanted = args.integers("output_size", kVolumeAxes, 1);
  for (const int64_t size : wanted) {
    args.require(size >= 1, fmt::format("output_size = {}", size), "at least 1");
  }
  return wanted;
}

bool is_global(const std::vector<int64_t>& wanted) {
  return wanted == std::vector<int64_t>(kVolumeAxes, 1);
}

TensorType adaptive_volume(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  require_pool_input(args, self, kVolumeAxes);
  require_float(args, self);
  const std::vector<int64_t> wanted = wanted_sizes(args);
  Dims dims(self.dims.begin(), self.dims.end() - static_cast<std::ptrdiff_t>(kVolumeAxes));
  for (size_t i = 0; i < kVolumeAxes; ++i) {
    const Dim& size = self.dims[self.rank() - kVolumeAxes + i];
    args.require(size.is_fixed() || is_global(wanted), fmt::format("output_size = {} of a flexible size", wanted[i]),
                 "output_size = 1 along all axes, or a fixed input size", "give every size of the input with --input");
    args.require(!size.is_fixed() || even_window(size.value(), wanted[i]),
                 fmt::format("output_size = {} of size {}", wanted[i], size.text()), "bins of one size",
                 "choose an output_size that divides the size");
    dims.emplace_back(wanted[i]);
  }
  return self.with_dims(dims);
}

std::vector<ValueType> adaptive_volume_type(const OpArguments& args) {
  return {adaptive_volume(args)};
}

std::vector<ValueType> adaptive_volume_with_indices_type(const OpArguments& args) {
  const TensorType values = adaptive_volume(args);
  args.require(args.node().output(1)->uses().empty(), "indices that are used", "values only",
               "NNAPI's pools give no indices");
  return {values, TensorType{at::kLong, values.dims, {}}};
}

// Reduces all cells of a volume, whose sizes may be flexible: first height and width, then depth.
void reduce_volume(OpContext& ctx, OperationCode code) {
  const Frames frames = to_frames(ctx, ctx.operand("self"));
  const Expression planes = reduce(code, Expression(ctx, frames.image), {2, 3}, true);
  const Expression depths = reshape(planes, {frames.depth, frames.batch * frames.dims()[1]});
  reshape(reduce(code, depths, {0}, false), ctx.output_type().dims).set_output();
}

template <PoolImage pool_image, OperationCode reduce_code>
void lower_adaptive(OpContext& ctx) {
  const std::vector<int64_t> wanted = wanted_sizes(ctx);
  const Dims dims = volume_dims(ctx.tensor("self").dims);
  if (!all_fixed({dims[2], dims[3], dims[4]})) return reduce_volume(ctx, reduce_code);
  std::vector<Window> windows;
  for (size_t i = 0; i < kVolumeAxes; ++i) windows.push_back(*even_window(dims[2 + i].value(), wanted[i]));
  VolumePool pools;
  pools.plane = {{windows[1].size, windows[2].size}, {windows[1].stride, windows[2].stride}};
  pools.depth = {{windows[0].size, 1}, {windows[0].stride, 1}};
  emit_pools(ctx, pools, pool_image);
}

constexpr const char* kAdaptiveNote = "float32; bins of one size; flexible inputs: output size 1";

}  // namespace

OpRules volume_pooling_rules() {
  return {
      {"aten::avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, bool ceil_mode=False, "
       "bool count_include_pad=True, int? divisor_override=None) -> Tensor",
       2, "float32 or quint8; pools of height and width, then of depth", volume_pool_type,
       lower_volume_pool<average_pool>, kUnprovedRows},
      {"aten::max_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, bool "
       "ceil_mode=False) -> Tensor",
       2, "float32 or quint8; dilation: feature level 3", volume_pool_type, lower_volume_pool<max_pool>, kUnprovedRows},
      {"aten::adaptive_avg_pool3d(Tensor self, int[3] output_size) -> Tensor", 2, kAdaptiveNote, adaptive_volume_type,
       lower_adaptive<average_pool, OperationCode::MEAN>, kUnprovedRows},
      {"aten::adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, Tensor)", 2, kAdaptiveNote,
       adaptive_volume_with_indices_type, lower_adaptive<max_pool, OperationCode::REDUCE_MAX>, kUnprovedRows},
  };
}

}  // namespace nnapi_convert
