// SPDX-License-Identifier: BSD-3-Clause
#include "lib/host_runtime/recurrent.h"

#include <algorithm>

namespace nnapi_convert::host {
namespace {

bool merges_outputs(const OpContext& context) {
  const bool merged = context.flag("merge_outputs");
  const bool separate = context.count("bw_output") == 1;
  if (merged && separate) context.refuse("bw_output", "an output found, none needed as merge_outputs is true");
  if (!merged && !separate) context.refuse("merge_outputs", "false found, true needed without the output bw_output");
  return merged;
}

// Returns the position of the first state among the outputs; 0 if the caller asks for no states.
std::size_t first_state(const OpContext& context, bool merged, const char* state) {
  if (context.count(state) == 0) return 0;
  return merged ? 1 : 2;
}

}  // namespace

void require_dims(const OpContext& context, const std::string& name, const Dims& needed) {
  const Dims& found = context.dims(name.c_str());
  if (found == needed) return;
  context.refuse(name.c_str(), "dimensions {} found, {} needed", to_string(found), to_string(needed));
}

bool require_presence(const OpContext& context, const std::string& name, bool needed, const std::string& other) {
  const bool found = context.has(name.c_str());
  if (found && !needed) context.refuse(name.c_str(), "a value found, none needed without one of {}", other);
  if (!found && needed) context.refuse(name.c_str(), "no value found, one needed beside that of {}", other);
  return needed;
}

at::Tensor stacked_weights(const OpContext& context, const std::vector<std::string>& names) {
  const auto make = [&] {
    std::vector<at::Tensor> weights;
    for (const std::string& name : names) weights.push_back(context.real(name.c_str()));
    return weights.size() == 1 ? weights[0] : at::cat(weights);
  };
  const bool constant = std::all_of(names.begin(), names.end(),
                                    [&](const std::string& name) { return context.is_constant(name.c_str()); });
  return constant ? context.cached(names[0].c_str(), names[0], make) : make();
}

at::Tensor optional_real(const OpContext& context, const std::string& name) {
  return context.has(name.c_str()) ? context.real(name.c_str()) : at::Tensor();
}

SequenceExtents sequence_extents(const OpContext& context, const char* name) {
  const Dims& dims = context.dims(name);
  const bool time_major = context.flag("time_major");
  if (dims[time_major ? 0 : 1] == 0) context.refuse(name, "0 points of time found, at least 1 needed");
  return {dims[time_major ? 0 : 1], dims[time_major ? 1 : 0], dims[2]};
}

Dims sequence_dims(const OpContext& context, const SequenceExtents& extents, int64_t features) {
  if (context.flag("time_major")) return {extents.time, extents.batch, features};
  return {extents.batch, extents.time, features};
}

at::Tensor read_sequence(const OpContext& context, const char* name) {
  const at::Tensor sequence = context.real(name);
  return context.flag("time_major") ? sequence : sequence.transpose(0, 1).contiguous();
}

void store_sequence(OpContext& context, const at::Tensor& sequence, std::size_t output) {
  context.store(context.flag("time_major") ? sequence : sequence.transpose(0, 1), output);
}

at::Tensor for_each_time(const at::Tensor& sequence, bool backwards,
                         const std::function<at::Tensor(const at::Tensor&)>& step) {
  const int64_t times = sequence.size(0);
  std::vector<at::Tensor> results(static_cast<std::size_t>(times));
  for (int64_t i = 0; i < times; ++i) {
    const int64_t time = backwards ? times - 1 - i : i;
    results[static_cast<std::size_t>(time)] = step(sequence.select(0, time));
  }
  return at::stack(results);
}

Linking linking_of(const OpContext& context, const char* forward, const char* backward) {
  const bool weighted = require_presence(context, backward, context.has(forward), forward);
  if (!context.has("aux_input")) {
    if (weighted) context.refuse("aux_input", "no value found, one needed beside that of {}", forward);
    return Linking::kNone;
  }
  return weighted ? Linking::kCross : Linking::kParallel;
}

SequenceExtents backward_extents(const OpContext& context, const SequenceExtents& input, Linking linking) {
  if (linking == Linking::kNone) return input;
  const SequenceExtents auxiliary = sequence_extents(context, "aux_input");
  require_dims(context, "aux_input", sequence_dims(context, input, auxiliary.features));
  return linking == Linking::kParallel ? auxiliary : input;
}

BidirectionalInputs read_bidirectional_inputs(const OpContext& context, Linking linking) {
  const at::Tensor input = read_sequence(context, "input");
  if (linking == Linking::kNone) return {input, input, {}};
  const at::Tensor auxiliary = read_sequence(context, "aux_input");
  if (linking == Linking::kParallel) return {input, auxiliary, {}};
  return {input, input, auxiliary};
}

void set_bidirectional_outputs(OpContext& context, const SequenceExtents& input, int64_t forward, int64_t backward,
                               const char* state, const std::vector<Dims>& states) {
  const bool merged = merges_outputs(context);
  context.set_output(sequence_dims(context, input, merged ? forward + backward : forward), 0);
  if (!merged) context.set_output(sequence_dims(context, input, backward), 1);
  const std::size_t first = first_state(context, merged, state);
  for (std::size_t i = 0; first > 0 && i < states.size(); ++i) context.set_output(states[i], first + i);
}

void store_bidirectional_outputs(OpContext& context, const at::Tensor& forward, const at::Tensor& backward,
                                 const char* state, const std::vector<at::Tensor>& states) {
  const bool merged = merges_outputs(context);
  store_sequence(context, merged ? at::cat({forward, backward}, 2) : forward, 0);
  if (!merged) store_sequence(context, backward, 1);
  const std::size_t first = first_state(context, merged, state);
  for (std::size_t i = 0; first > 0 && i < states.size(); ++i) context.store(states[i], first + i);
}

}  // namespace nnapi_convert::host
