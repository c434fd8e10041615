// SPDX-License-Identifier: BSD-3-Clause
// Copies a part of a model's graph into a separate model, and lowers it.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "lib/base/error.h"
#include "lib/converter/graph/normalised_model.h"
#include "lib/converter/graph/open_sizes.h"
#include "lib/converter/plan/nnapi_part.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

// Rows whose number is known only when the model runs: the segment is compiled for `per_call` rows, and called as often
// as needed.
struct SegmentRows {
  OpenSize size;
  int64_t per_call = 1;
};

struct Segment {
  NormalisedModel model;  // forward takes the inputs and returns the outputs: one tensor, or a tuple
  std::vector<TensorType> input_types;
  std::vector<Dims> model_sizes;                            // of the inputs, in open sizes of the whole model
  std::vector<torch::jit::Value*> inputs, outputs;          // values of the whole graph
  std::unordered_map<std::string, std::string> names = {};  // from value names in `model` to names in the whole graph
  size_t size_inputs = 0;  // the last of the inputs: the model's own, of which the segment reads the sizes alone
  std::optional<SegmentRows> rows;
  std::vector<TensorType> output_types;                                // the types of one call's outputs
  std::vector<std::optional<size_t>> input_row_axes, output_row_axes;  // nothing: the tensor has no rows
};

// Thrown if the segment reads a value of unknown type; since() names the operator from which on the type is unknown.
class UnknownType : public ConvertError {
 public:
  UnknownType(const std::string& message, std::string since)
      : ConvertError(ExitCode::kNotConvertible, message), since_(std::move(since)) {}
  // Returns the operator's line in the model's source; may be empty.
  const std::string& since() const { return since_; }

 private:
  std::string since_;
};

// Thrown if one node keeps the segment from being a model of its own: it reads or makes what no segment takes or gives.
class RefusedNode : public ConvertError {
 public:
  RefusedNode(const std::string& message, const torch::jit::Node& node)
      : ConvertError(ExitCode::kNotConvertible, message), node_(&node) {}
  const torch::jit::Node& node() const { return *node_; }

 private:
  const torch::jit::Node* node_;
};

// Copies `nodes`, which have to be in the graph's order, with no other node on a path between two of them. Throws
// RefusedNode if an input or output is no tensor of known type that NNAPI takes; UnknownType if an operator is the
// reason. With `rows`, all nodes have to work row by row along that size.
Segment extract_segment(const std::vector<torch::jit::Node*>& nodes, const TypeMap& types,
                        const std::optional<SegmentRows>& rows = std::nullopt);

// Infers, lowers and optimises the segment. The caller still has to check the model with refusal_of(). Throws
// ConvertError if anything but a rule refuses the segment.
Offer lower_segment(Segment& segment, const PlanOptions& options, Diagnostics& diagnostics);

}  // namespace nnapi_convert
