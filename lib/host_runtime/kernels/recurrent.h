// What the recurrent layers share: checks of extents and omitted values, weights in one matrix, sequences over time.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <string>
#include <vector>

#include "lib/host_runtime/kernel.h"

namespace nnapi_convert::host {

void require_dims(const OpContext& context, const std::string& name, const Dims& needed);
// An argument that has a value if and only if another one has one (`needed`). Returns `needed`.
bool require_presence(const OpContext& context, const std::string& name, bool needed, const std::string& other);

// The rows of several weights as Float, one below the other. Made once where all of them are constants.
at::Tensor stacked_weights(const OpContext& context, const std::vector<std::string>& names);
// The value as Float, or an undefined tensor for an omitted one.
at::Tensor optional_real(const OpContext& context, const std::string& name);

// Input [time, batch, features], or [batch, time, features] where the argument time_major says so.
struct SequenceExtents {
  int64_t time = 0, batch = 0, features = 0;
};
SequenceExtents sequence_extents(const OpContext& context, const char* name);
Dims sequence_dims(const OpContext& context, const SequenceExtents& extents, int64_t features);
// As [time, batch, features], and back.
at::Tensor read_sequence(const OpContext& context, const char* name);
void store_sequence(OpContext& context, const at::Tensor& sequence, std::size_t output);

// Calls `step` for each point of time [batch, features], forwards or backwards; its results in the order of time.
at::Tensor for_each_time(const at::Tensor& sequence, bool backwards,
                         const std::function<at::Tensor(const at::Tensor&)>& step);

// How a bidirectional layer uses its auxiliary input.
enum class Linking {
  kNone,      // there is none
  kParallel,  // in place of the input of the backward direction
  kCross,     // with weights of its own, beside the input of both directions
};
// `forward` and `backward` are weights of the auxiliary input.
Linking linking_of(const OpContext& context, const char* forward, const char* backward);
// The extents of the backward direction's input, after a check of the auxiliary input.
SequenceExtents backward_extents(const OpContext& context, const SequenceExtents& input, Linking linking);

struct BidirectionalInputs {
  at::Tensor forward, backward;
  at::Tensor auxiliary;  // undefined but for Linking::kCross
};
BidirectionalInputs read_bidirectional_inputs(const OpContext& context, Linking linking);

// The outputs of a bidirectional layer: sequences, joined where the argument merge_outputs says so, and the final
// states where the caller asks for them; `state` is the name of the first.
void set_bidirectional_outputs(OpContext& context, const SequenceExtents& input, int64_t forward, int64_t backward,
                               const char* state, const std::vector<Dims>& states);
void store_bidirectional_outputs(OpContext& context, const at::Tensor& forward, const at::Tensor& backward,
                                 const char* state, const std::vector<at::Tensor>& states);

}  // namespace nnapi_convert::host
