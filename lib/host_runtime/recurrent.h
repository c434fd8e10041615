// SPDX-License-Identifier: BSD-3-Clause
// Serves all recurrent layers: checks extents and omitted values, stacks weights, and reads and writes sequences.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <string>
#include <vector>

#include "lib/host_runtime/kernel.h"

namespace nnapi_convert::host {

void require_dims(const OpContext& context, const std::string& name, const Dims& needed);
// Checks that the argument `name` has a value if and only if `other` has one, which `needed` tells. Returns `needed`.
bool require_presence(const OpContext& context, const std::string& name, bool needed, const std::string& other);

// Returns the rows of several weights as Float, one below the other. Makes them once if all weights are constants.
at::Tensor stacked_weights(const OpContext& context, const std::vector<std::string>& names);
// Returns the value as Float, or an undefined tensor if it is omitted.
at::Tensor optional_real(const OpContext& context, const std::string& name);

// The extents of an input [time, batch, features], or [batch, time, features] if the argument time_major is false.
struct SequenceExtents {
  int64_t time = 0, batch = 0, features = 0;
};
SequenceExtents sequence_extents(const OpContext& context, const char* name);
Dims sequence_dims(const OpContext& context, const SequenceExtents& extents, int64_t features);
// Reads a sequence as [time, batch, features]; store_sequence stores such a sequence in the operation's own order.
at::Tensor read_sequence(const OpContext& context, const char* name);
void store_sequence(OpContext& context, const at::Tensor& sequence, std::size_t output);

// Calls `step` for each point of time [batch, features], forwards or backwards. Returns its results in the order of
// time.
at::Tensor for_each_time(const at::Tensor& sequence, bool backwards,
                         const std::function<at::Tensor(const at::Tensor&)>& step);

// How a bidirectional layer uses its auxiliary input.
enum class Linking {
  kNone,      // the layer has no auxiliary input
  kParallel,  // the backward direction reads it in place of the input
  kCross,     // both directions read it beside the input, with weights of its own
};
// Returns the linking; `forward` and `backward` name the weights of the auxiliary input.
Linking linking_of(const OpContext& context, const char* forward, const char* backward);
// Checks the auxiliary input, and returns the extents of the backward direction's input.
SequenceExtents backward_extents(const OpContext& context, const SequenceExtents& input, Linking linking);

struct BidirectionalInputs {
  at::Tensor forward, backward;
  at::Tensor auxiliary;  // defined only for Linking::kCross
};
BidirectionalInputs read_bidirectional_inputs(const OpContext& context, Linking linking);

// Set and store the outputs of a bidirectional layer: sequences, joined if the argument merge_outputs is true, and the
// final states if the caller asks for them. `state` names the first state.
void set_bidirectional_outputs(OpContext& context, const SequenceExtents& input, int64_t forward, int64_t backward,
                               const char* state, const std::vector<Dims>& states);
void store_bidirectional_outputs(OpContext& context, const at::Tensor& forward, const at::Tensor& backward,
                                 const char* state, const std::vector<at::Tensor>& states);

}  // namespace nnapi_convert::host
