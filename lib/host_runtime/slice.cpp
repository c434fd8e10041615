// SPDX-License-Identifier: BSD-3-Clause
// SLICE, STRIDED_SLICE, TILE and REVERSE.
#include <algorithm>

#include "lib/host_runtime/axes.h"
#include "lib/host_runtime/kernels.h"
#include "lib/host_runtime/quantization_rules.h"

namespace nnapi_convert::host {
namespace {

Dims per_axis(const OpContext& context, const char* argument) {
  Dims result = context.integers(argument);
  if (static_cast<int64_t>(result.size()) != context.rank("input")) {
    context.refuse(argument, "{} entries found, {} needed", result.size(), context.rank("input"));
  }
  return result;
}

struct Range {
  int64_t begin = 0, stride = 1, count = 0;
  bool shrunk = false;
};

Range strided_range(const OpContext& context, std::size_t axis, int64_t begin, int64_t end, int64_t stride) {
  const int64_t extent = context.dims("input")[axis];
  const auto masked = [&](const char* mask) { return (context.integer(mask) >> axis & 1) != 0; };
  if (stride == 0) context.refuse("strides", "0 found for axis {}, another number needed", axis);
  const int64_t low = stride > 0 ? 0 : -1, high = stride > 0 ? extent : extent - 1;
  const auto bounded = [&](int64_t position) {
    return std::clamp(position < 0 ? position + extent : position, low, high);
  };
  Range range;
  range.stride = stride;
  range.begin = masked("begin_mask") ? (stride > 0 ? low : high) : bounded(begin);
  const int64_t stop = masked("end_mask") ? (stride > 0 ? high : low) : bounded(end);
  const int64_t distance = stride > 0 ? stop - range.begin : range.begin - stop;
  const int64_t step = std::abs(stride);
  range.count = distance <= 0 ? 0 : (distance + step - 1) / step;
  range.shrunk = masked("shrink_axis_mask");
  if (range.shrunk && stride < 0) context.refuse("strides", "{} found for the shrunk axis {}, 1 needed", stride, axis);
  if (range.shrunk && range.count != 1) {
    context.refuse("shrink_axis_mask", "axis {} with {} elements found, 1 needed", axis, range.count);
  }
  return range;
}

std::vector<Range> strided_ranges(const OpContext& context) {
  const Dims begin = per_axis(context, "begin"), end = per_axis(context, "end"), strides = per_axis(context, "strides");
  std::vector<Range> ranges;
  for (std::size_t i = 0; i < begin.size(); ++i) {
    ranges.push_back(strided_range(context, i, begin[i], end[i], strides[i]));
  }
  return ranges;
}

std::vector<Range> slice_ranges(const OpContext& context) {
  const Dims begin = per_axis(context, "begin"), size = per_axis(context, "size");
  const Dims& input = context.dims("input");
  std::vector<Range> ranges;
  for (std::size_t i = 0; i < begin.size(); ++i) {
    if (begin[i] < 0 || begin[i] > input[i]) {
      context.refuse("begin", "{} found for axis {}, 0 to {} needed", begin[i], i, input[i]);
    }
    const int64_t count = size[i] == -1 ? input[i] - begin[i] : size[i];
    if (count < 0 || count > input[i] - begin[i]) {
      context.refuse("size", "{} found for axis {}, -1 to {} needed", size[i], i, input[i] - begin[i]);
    }
    ranges.push_back({begin[i], 1, count, false});
  }
  return ranges;
}

at::Tensor sliced(const at::Tensor& input, const std::vector<Range>& ranges) {
  at::Tensor result = input;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const Range& range = ranges[i];
    const int64_t axis = static_cast<int64_t>(i);
    if (range.count == 0) {
      result = result.narrow(axis, 0, 0);
    } else if (range.stride > 0) {
      result = at::slice(result, axis, range.begin, range.begin + (range.count - 1) * range.stride + 1, range.stride);
    } else {
      const at::Tensor positions = at::arange(range.count, at::kLong).mul_(range.stride).add_(range.begin);
      result = at::index_select(result, axis, positions);
    }
  }
  return result.contiguous();
}

Dims multiples_of(const OpContext& context) {
  Dims multiples = per_axis(context, "multiples");
  for (const int64_t multiple : multiples) {
    if (multiple < 1) context.refuse("multiples", "{} found, at least 1 needed", multiple);
  }
  return multiples;
}

}  // namespace

void slice_rule(OpContext& context) {
  require_same_quantization(context, "input", "output");
  Dims output;
  for (const Range& range : slice_ranges(context)) output.push_back(range.count);
  context.set_output(output);
}

void slice(OpContext& context) {
  context.put(sliced(context.stored("input"), slice_ranges(context)));
}

void strided_slice_rule(OpContext& context) {
  require_same_quantization(context, "input", "output");
  Dims output;
  for (const Range& range : strided_ranges(context)) {
    if (!range.shrunk) output.push_back(range.count);
  }
  context.set_output(output.empty() ? Dims{1} : output);
}

void strided_slice(OpContext& context) {
  context.put(sliced(context.stored("input"), strided_ranges(context)).reshape(context.dims("output")));
}

void tile_rule(OpContext& context) {
  require_same_quantization(context, "input", "output");
  const Dims multiples = multiples_of(context);
  Dims output = context.dims("input");
  for (std::size_t i = 0; i < output.size(); ++i) output[i] *= multiples[i];
  context.set_output(output);
}

void tile(OpContext& context) {
  context.put(context.stored("input").repeat(multiples_of(context)));
}

void reverse_rule(OpContext& context) {
  require_same_quantization(context, "input", "output");
  const Dims axes = context.integers("axis");
  if (axes.size() != 1) context.refuse("axis", "{} entries found, 1 needed", axes.size());
  axis_from_start(context, "axis", axes[0], context.rank("input"));
  context.set_output(context.dims("input"));
}

void reverse(OpContext& context) {
  context.put(context.stored("input").flip(context.integers("axis")));
}

}  // namespace nnapi_convert::host
