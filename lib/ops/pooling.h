// Windows of pools, for all rules that pool.
#pragma once

#include <optional>

#include "lib/ops/op_rule.h"

namespace nnapi_convert {

// The window of a 2-D pool, height before width; 1-D ones have height 1.
struct Pool {
  std::vector<int64_t> kernel, stride, padding = {0, 0}, dilation = {1, 1};
  bool ceil_mode = false;
  bool counts_padding = false;  // an average divides by the cells of the padding too
  int64_t divisor = 0;          // an average divides by this number; 0: by the cells counted
};

// The result's sizes, and the padding after the end that windows reach.
struct PooledAxes {
  Dims output;
  Dims padding_end;
};

// Appends MAX_POOL_2D, AVERAGE_POOL_2D or L2_POOL_2D of an [N, C, H, W].
LoweredTensor emit_pool(OpContext& ctx, OperationCode code, const LoweredTensor& image, const Pool& pool,
                        const PooledAxes& axes);

PooledAxes pooled_axes(const OpArguments& args, const Pool& pool, const Dims& image);
// The pools themselves, of an [N, C, H, W], with what their arguments cost.
LoweredTensor average_pool(OpContext& ctx, const LoweredTensor& image, const Pool& pool, const PooledAxes& axes);
LoweredTensor max_pool(OpContext& ctx, const LoweredTensor& image, const Pool& pool, const PooledAxes& axes);

// The window of an adaptive pool along one axis, where its `count` bins have one size and one distance.
struct Window {
  int64_t size, stride;
};
std::optional<Window> even_window(int64_t size, int64_t count);

// The average over height and width of a quint8 [N, C, H, W]: [N, C, 1, 1]. Not by MEAN, which cuts off the fraction of
// quantised averages: over a whole net that is a bias.
LoweredTensor quantized_image_average(OpContext& ctx, const LoweredTensor& image);

// float32 or quint8 with `spatial` axes after the channels, and maybe without a batch.
void require_pool_input(const OpArguments& args, const TensorType& self, size_t spatial);
// 1 or 2, by the operation's name.
size_t pooled_spatial_axes(const OpArguments& args);

// The rules of adaptive_pooling.cpp, which pooling_rules() includes.
OpRules adaptive_pooling_rules();
// The part of recognised_rules() that pools.
OpRules recognised_pooling_rules();
// Those of pooling_3d.cpp, the same.
OpRules volume_pooling_rules();

}  // namespace nnapi_convert
