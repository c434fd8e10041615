// A part of a model's graph as a model of its own.
#pragma once

#include <vector>

#include "lib/converter/nnapi_part.h"
#include "lib/converter/normalise.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

// Nodes that only put values together for others, and are copied to where those are: lists, tuples and dicts that
// nothing changes.
bool is_glue(const torch::jit::Node& node);

struct Segment {
  NormalisedModel model;  // forward takes the inputs and returns the outputs: one tensor, or a tuple
  std::vector<TensorType> input_types;
  std::vector<torch::jit::Value*> inputs, outputs;  // of the whole graph
};

// Copies `nodes`, which come in the graph's order and are all that lies between each other. Throws ConvertError
// (kNotConvertible) where a value that goes in or out is no tensor of known type.
Segment extract_segment(const std::vector<torch::jit::Node*>& nodes, const TypeMap& types);

// From the copied nodes to an optimised NNAPI model, which check_part() has to judge yet. Throws ConvertError; refusals
// are in `diagnostics`.
NnapiPart lower_segment(Segment& segment, const ConvertOptions& options, Diagnostics& diagnostics);

}  // namespace nnapi_convert
