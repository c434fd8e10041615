// Pools of volumes: first of height and width, then of depth. Maxima and averages of boxes are those of their planes'.
#include <fmt/format.h>

#include "lib/ops/factor.h"
#include "lib/ops/pooling.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

constexpr size_t kSpatial = 3;

struct VolumePool {
  Pool plane;  // height and width
  Pool depth;  // depth, and 1 for all cells of a plane
};

VolumePool read_pools(const OpArguments& args) {
  const auto read = [&](const std::string& name, int64_t fallback) { return args.integers(name, kSpatial, fallback); };
  const std::vector<int64_t> kernel = read("kernel_size", 1), padding = read("padding", 0);
  const std::vector<int64_t> stride = args.integers("stride").empty() ? kernel : read("stride", 1);
  const std::vector<int64_t> dilation = args.has("dilation") ? read("dilation", 1) : std::vector<int64_t>(kSpatial, 1);
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

// [N, C, D, H, W], with a batch of 1 where there is none.
Dims volume_dims(const TensorType& self) {
  Dims dims = self.dims;
  if (dims.size() == kSpatial + 1) dims.insert(dims.begin(), Dim(1));
  return dims;
}

std::vector<ValueType> pool_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  require_pool_input(args, self, kSpatial);
  const VolumePool pools = read_pools(args);
  const Dims dims = volume_dims(self);
  const Dims plane = pooled_axes(args, pools.plane, {dims[0], dims[1], dims[3], dims[4]}).output;
  const Dims depth = pooled_axes(args, pools.depth, {dims[0], dims[1], dims[2], Dim(1)}).output;
  Dims result(self.dims.begin(), self.dims.end() - static_cast<std::ptrdiff_t>(kSpatial));
  result.insert(result.end(), {depth[0], plane[0], plane[1]});
  require_positive(args, result);
  return {self.with_dims(result)};
}

bool changes_nothing(const Pool& pool) {
  const std::vector<int64_t> ones{1, 1}, zeros{0, 0};
  return pool.kernel == ones && pool.stride == ones && pool.padding == zeros;
}

using PoolImage = LoweredTensor (*)(OpContext&, const LoweredTensor&, const Pool&, const PooledAxes&);

template <PoolImage pool_image>
void lower_pool(OpContext& ctx) {
  const VolumePool pools = read_pools(ctx);
  const Dims dims = volume_dims(ctx.tensor("self"));
  LoweredTensor result = ctx.operand("self");
  Dims plane{dims[3], dims[4]};
  if (!changes_nothing(pools.plane)) {
    const LoweredTensor image = reshaped(ctx, result, {dims[0], dims[1] * dims[2], dims[3], dims[4]});
    const PooledAxes axes = pooled_axes(ctx, pools.plane, image.type.dims);
    plane = axes.output;
    result = pool_image(ctx, image, pools.plane, axes);
  }
  if (!changes_nothing(pools.depth)) {
    const LoweredTensor image = reshaped(ctx, result, {dims[0], dims[1], dims[2], product(plane)});
    result = pool_image(ctx, image, pools.depth, pooled_axes(ctx, pools.depth, image.type.dims));
  }
  ctx.set_output(reshaped(ctx, result, ctx.output_type().dims).id);
}

}  // namespace

OpRules volume_pooling_rules() {
  return {
      {"aten::avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, bool ceil_mode=False, "
       "bool count_include_pad=True, int? divisor_override=None) -> Tensor",
       2, "float32 or quint8; pools of height and width, then of depth", pool_type, lower_pool<average_pool>},
      {"aten::max_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, bool "
       "ceil_mode=False) -> Tensor",
       2, "float32 or quint8; dilation: feature level 3", pool_type, lower_pool<max_pool>},
  };
}

}  // namespace nnapi_convert
