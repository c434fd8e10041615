// SPDX-License-Identifier: BSD-3-Clause
// RESHAPE, SQUEEZE, EXPAND_DIMS, TRANSPOSE, CONCATENATION, PACK and SPLIT.
#include <algorithm>

#include "lib/host_runtime/axes.h"
#include "lib/host_runtime/kernels.h"
#include "lib/host_runtime/quantization.h"
#include "lib/host_runtime/quantization_rules.h"

namespace nnapi_convert::host {
namespace {

constexpr std::size_t kMaxRank = 4;

// More elements than any tensor has.
constexpr int64_t kTooMany = int64_t{1} << 33;

// Returns the product of numbers from 0 to 2^32; kTooMany if it is more.
int64_t product(const Dims& dims) {
  int64_t result = 1;
  for (const int64_t extent : dims) {
    if (extent == 0) return 0;
    result = result > kTooMany / extent ? kTooMany : result * extent;
  }
  return result;
}

void require_same_dims_but(const OpContext& context, int64_t axis) {
  const Dims& first = context.dims("inputs");
  for (std::size_t n = 1; n < context.count("inputs"); ++n) {
    Dims dims = context.dims("inputs", n);
    const std::string found = to_string(dims);
    if (dims.size() == first.size() && axis >= 0)
      dims[static_cast<std::size_t>(axis)] = first[static_cast<std::size_t>(axis)];
    if (dims != first) context.refuse("inputs", "dimensions {} and {} found, they disagree", to_string(first), found);
  }
}

Dims permutation_of(const OpContext& context) {
  const int64_t rank = context.rank("input");
  Dims perm;
  if (!context.has("perm")) {
    for (int64_t i = rank; i-- > 0;) perm.push_back(i);
    return perm;
  }
  perm = context.integers("perm");
  Dims sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  bool valid = static_cast<int64_t>(sorted.size()) == rank;
  for (std::size_t i = 0; valid && i < sorted.size(); ++i) valid = sorted[i] == static_cast<int64_t>(i);
  if (!valid) context.refuse("perm", "{} found, a permutation of {} axes needed", to_string(perm), rank);
  return perm;
}

}  // namespace

void reshape_rule(OpContext& context) {
  require_same_quantization(context, "input", "output");
  Dims shape = context.integers("shape");
  const int64_t elements = product(context.dims("input"));
  if (shape.empty() || shape.size() > kMaxRank) {
    context.refuse("shape", "{} entries found, 1 to {} needed", shape.size(), kMaxRank);
  }
  const std::string found = fmt::format("[{}]", fmt::join(shape, ", "));
  Dims known;
  for (const int64_t extent : shape) {
    if (extent < -1) context.refuse("shape", "{} found, one -1 at most needed", found);
    if (extent >= 0) known.push_back(extent);
  }
  if (known.size() + 1 < shape.size()) context.refuse("shape", "{} found, one -1 at most needed", found);
  for (int64_t& extent : shape) {
    if (extent == -1) extent = elements / std::max<int64_t>(1, product(known));
  }
  if (product(shape) != elements) context.refuse("shape", "{} found, {} elements needed", found, elements);
  context.set_output(shape);
}

void squeeze_rule(OpContext& context) {
  require_same_quantization(context, "input", "output");
  const Dims& input = context.dims("input");
  const bool listed = context.has("axes");
  const Dims axes = listed ? axes_of(context, "axes", context.rank("input")) : Dims();
  Dims output;
  for (std::size_t i = 0; i < input.size(); ++i) {
    const bool named = std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) != axes.end();
    if (named && input[i] != 1) context.refuse("axes", "axis {} of extent {} found, extent 1 needed", i, input[i]);
    if (!named && (listed || input[i] != 1)) output.push_back(input[i]);
  }
  context.set_output(output.empty() ? Dims{1} : output);
}

void expand_dims_rule(OpContext& context) {
  require_same_quantization(context, "input", "output");
  Dims output = context.dims("input");
  output.insert(output.begin() + axis_of(context, "axis", context.rank("input") + 1), 1);
  context.set_output(output);
}

void reshape(OpContext& context) {
  context.put(context.stored("input").reshape(context.dims("output")));
}

void transpose_rule(OpContext& context) {
  require_same_quantization(context, "input", "output");
  const Dims perm = permutation_of(context);
  const Dims& input = context.dims("input");
  Dims output;
  for (const int64_t axis : perm) output.push_back(input[static_cast<std::size_t>(axis)]);
  context.set_output(output);
}

void transpose(OpContext& context) {
  context.put(context.stored("input").permute(permutation_of(context)).contiguous());
}

void concatenation_rule(OpContext& context) {
  const Operand& output = context.operand("output");
  for (std::size_t n = 0; is_quantized_8bit(output.type) && context.feature_level() < 3 && n < context.count("inputs");
       ++n) {
    const Operand& input = context.operand("inputs", n);
    if (same_quantization(input, output)) continue;
    context.refuse("inputs", "scale {}, zero point {} found, those of the output needed below feature level 3: {}, {}",
                   input.scale, input.zero_point, output.scale, output.zero_point);
  }
  Dims dims = context.dims("inputs");
  const int64_t axis = axis_from_start(context, "axis", context.integer("axis"), context.rank("inputs"));
  require_same_dims_but(context, axis);
  for (std::size_t n = 1; n < context.count("inputs"); ++n) {
    dims[static_cast<std::size_t>(axis)] += context.dims("inputs", n)[static_cast<std::size_t>(axis)];
  }
  context.set_output(dims);
}

void concatenation(OpContext& context) {
  const int64_t axis = context.integer("axis");
  const Operand& output = context.operand("output");
  std::vector<at::Tensor> parts;
  for (std::size_t n = 0; n < context.count("inputs"); ++n) {
    const bool same = !is_quantized_8bit(output.type) || same_quantization(context.operand("inputs", n), output);
    parts.push_back(same ? context.stored("inputs", n) : to_codes(context.real("inputs", n), output));
  }
  context.put(at::cat(parts, axis));
}

void pack_rule(OpContext& context) {
  require_same_quantization(context, "inputs", "output");
  require_same_dims_but(context, -1);
  Dims output = context.dims("inputs");
  const int64_t axis = axis_from_start(context, "axis", context.integer("axis"), context.rank("inputs") + 1);
  output.insert(output.begin() + axis, static_cast<int64_t>(context.count("inputs")));
  context.set_output(output);
}

void pack(OpContext& context) {
  std::vector<at::Tensor> parts;
  for (std::size_t n = 0; n < context.count("inputs"); ++n) parts.push_back(context.stored("inputs", n));
  context.put(at::stack(parts, context.integer("axis")));
}

void split_rule(OpContext& context) {
  for (std::size_t n = 0; n < context.count("outputs"); ++n) {
    if (!is_quantized_8bit(context.type("input"))) break;
    if (!same_quantization(context.operand("input"), context.operand("outputs", n))) {
      context.refuse("outputs", "scale {} found, the input's {} needed", context.operand("outputs", n).scale,
                     context.operand("input").scale);
    }
  }
  Dims output = context.dims("input");
  int64_t& extent = output[static_cast<std::size_t>(axis_of(context, "axis", context.rank("input")))];
  const int64_t count = positive(context, "split_count");
  if (count != static_cast<int64_t>(context.count("outputs"))) {
    context.refuse("split_count", "{} found, {} outputs need as many", count, context.count("outputs"));
  }
  if (extent % count != 0) context.refuse("split_count", "{} found, a divisor of the extent {} needed", count, extent);
  extent /= count;
  for (std::size_t n = 0; n < context.count("outputs"); ++n) context.set_output(output, n);
}

void split(OpContext& context) {
  const int64_t axis = axis_of(context, "axis", context.rank("input"));
  const at::Tensor input = context.stored("input");
  const int64_t count = static_cast<int64_t>(context.count("outputs"));
  const int64_t extent = input.size(axis) / count;
  for (int64_t n = 0; n < count; ++n) {
    context.put(input.narrow(axis, n * extent, extent).contiguous(), static_cast<std::size_t>(n));
  }
}

}  // namespace nnapi_convert::host
