// SPDX-License-Identifier: BSD-3-Clause
// Lowers pools, for all rules that pool.
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

// The result's sizes, and the padding after the end that the windows cover.
struct PooledAxes {
  Dims output;
  Dims padding_end;
};

// Appends MAX_POOL_2D, AVERAGE_POOL_2D or L2_POOL_2D for an [N, C, H, W].
LoweredTensor emit_pool(OpContext& ctx, OperationCode code, const LoweredTensor& image, const Pool& pool,
                        const PooledAxes& axes);

PooledAxes pooled_axes(const OpArguments& args, const Pool& pool, const Dims& image);
// Lower an average or max pool of an [N, C, H, W], with further operations if its arguments need them.
LoweredTensor average_pool(OpContext& ctx, const LoweredTensor& image, const Pool& pool, const PooledAxes& axes);
LoweredTensor max_pool(OpContext& ctx, const LoweredTensor& image, const Pool& pool, const PooledAxes& axes);

// The window of an adaptive pool along one axis whose `count` bins have equal sizes and distances.
struct Window {
  int64_t size, stride;
};
std::optional<Window> even_window(int64_t size, int64_t count);

// Averages a quint8 [N, C, H, W] over height and width to [N, C, 1, 1]. MEAN is not used, as it cuts off the fraction
// of quantised averages: over a whole network this adds a bias.
LoweredTensor quantized_image_average(OpContext& ctx, const LoweredTensor& image);
// Return the average and the maximum over height and width of an [N, C, H, W] of any sizes, as [N, C, 1, 1].
LoweredTensor image_average(OpContext& ctx, const LoweredTensor& image);
LoweredTensor image_maximum(OpContext& ctx, const LoweredTensor& image);

// Refuses everything but float32 or quint8 with `spatial` axes after the channels, with or without a batch.
void require_pool_input(const OpArguments& args, const TensorType& self, size_t spatial);
// Returns 1 or 2, by the operation's name.
size_t pooled_spatial_axes(const OpArguments& args);

// Returns the rules of adaptive_pooling.cpp, which pooling_rules() includes.
OpRules adaptive_pooling_rules();
// Returns the pooling rules among recognised_rules().
OpRules recognised_pooling_rules();
// Returns the rules of pooling_3d.cpp, which pooling_rules() includes.
OpRules volume_pooling_rules();

}  // namespace nnapi_convert
