// SPDX-License-Identifier: BSD-3-Clause
// Computes SVDF: a dense layer over the last few inputs; its weights are sums of products of feature and time filters.
#include "lib/host_runtime/kernels.h"
#include "lib/host_runtime/quantization.h"
#include "lib/host_runtime/quantization_rules.h"
#include "lib/host_runtime/recurrent.h"

namespace nnapi_convert::host {

void svdf_rule(OpContext& context) {
  activation_of(context);
  const int64_t rank = context.integer("rank");
  const Dims& input = context.dims("input");
  const int64_t filters = context.dims("weights_feature")[0], memory = context.dims("weights_time")[1];
  if (rank < 1 || filters % rank != 0) {
    context.refuse("rank", "{} found, a divisor of the {} filters needed", rank, filters);
  }
  if (memory < 1) context.refuse("weights_time", "{} columns found, at least 1 needed", memory);
  require_dims(context, "weights_feature", {filters, input[1]});
  require_dims(context, "weights_time", {filters, memory});
  require_dims(context, "state_in", {input[0], filters * memory});
  context.set_output({input[0], filters * memory}, 0);
  context.set_output({input[0], filters / rank}, 1);
  if (context.has("bias")) require_dims(context, "bias", {filters / rank});
}

void svdf(OpContext& context) {
  const Dims& input = context.dims("input");
  const int64_t filters = context.dims("weights_feature")[0], memory = context.dims("weights_time")[1];
  // The last place of a filter's memory is for the filter's result on this input.
  const at::Tensor newest = at::linear(context.real("input"), stacked_weights(context, {"weights_feature"}));
  const at::Tensor older = context.real("state_in").view({input[0], filters, memory}).narrow(2, 0, memory - 1);
  const at::Tensor state = at::cat({older, newest.unsqueeze(2)}, 2);
  const at::Tensor filtered = state.mul(stacked_weights(context, {"weights_time"})).sum(2);
  at::Tensor output = filtered.view({input[0], filters / context.integer("rank"), context.integer("rank")}).sum(2);
  if (context.has("bias")) output.add_(context.real("bias"));
  context.store(activate_state(output, activation_of(context)), 1);
  const at::Tensor room = at::zeros({input[0], filters, 1});
  context.store(at::cat({state.narrow(2, 1, memory - 1), room}, 2).reshape({input[0], filters * memory}), 0);
}

}  // namespace nnapi_convert::host
