// SPDX-License-Identifier: BSD-3-Clause
// GATHER, EMBEDDING_LOOKUP, FILL and RANK.
#include "lib/host_runtime/axes.h"
#include "lib/host_runtime/kernels.h"
#include "lib/host_runtime/quantization_rules.h"

namespace nnapi_convert::host {
void gather_rule(OpContext& context) {
  require_same_quantization(context, "input", "output");
  Dims output = context.dims("input");
  const int64_t axis = axis_of(context, "axis", context.rank("input"));
  const Dims& indices = context.dims("indices");
  output.erase(output.begin() + axis);
  output.insert(output.begin() + axis, indices.begin(), indices.end());
  context.set_output(output);
}

void gather(OpContext& context) {
  const int64_t axis = axis_of(context, "axis", context.rank("input"));
  const at::Tensor indices = checked_indices(context, "indices", context.dims("input")[static_cast<std::size_t>(axis)]);
  context.put(at::index_select(context.stored("input"), axis, indices).reshape(context.dims("output")));
}

void embedding_lookup_rule(OpContext& context) {
  require_same_quantization(context, "values", "output");
  Dims output = context.dims("values");
  output[0] = context.dims("lookups")[0];
  context.set_output(output);
}

void embedding_lookup(OpContext& context) {
  const at::Tensor indices = checked_indices(context, "lookups", context.dims("values")[0]);
  context.put(at::index_select(context.stored("values"), 0, indices));
}

void fill_rule(OpContext& context) {
  const Dims dims = context.integers("dimensions");
  for (const int64_t extent : dims) {
    if (extent < 1) context.refuse("dimensions", "{} found, at least 1 each needed", to_string(dims));
  }
  context.number("value");
  context.set_output(dims);
}

void fill(OpContext& context) {
  context.store(at::full(context.dims("output"), context.number("value"), at::TensorOptions(at::kDouble)));
}

void rank_rule(OpContext& context) {
  context.dims("input");
  context.set_output({});
}

void rank(OpContext& context) {
  context.put(at::full({}, context.rank("input"), at::TensorOptions(at::kInt)));
}

}  // namespace nnapi_convert::host
