// A part of a model's graph as a model of its own.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "lib/base/error.h"
#include "lib/converter/graph/normalised_model.h"
#include "lib/converter/graph/open_sizes.h"
#include "lib/converter/lower/nnapi_part.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

// Rows whose number is known only as the model runs: the segment is compiled for some, and called as often as needed.
struct SegmentRows {
  OpenSize size;
  int64_t per_call = 1;
};

struct Segment {
  NormalisedModel model;  // forward takes the inputs and returns the outputs: one tensor, or a tuple
  std::vector<TensorType> input_types;
  std::vector<torch::jit::Value*> inputs, outputs;          // of the whole graph
  std::unordered_map<std::string, std::string> names = {};  // of values in the whole graph by those in this one
  std::optional<SegmentRows> rows;
  std::vector<TensorType> output_types;                                // of one call
  std::vector<std::optional<size_t>> input_row_axes, output_row_axes;  // nothing: the same for all rows
};

// A value that is read is of unknown type since an operator.
class UnknownType : public ConvertError {
 public:
  UnknownType(const std::string& message, std::string since)
      : ConvertError(ExitCode::kNotConvertible, message), since_(std::move(since)) {}
  // The operator's line in the model's source; may be empty.
  const std::string& since() const { return since_; }

 private:
  std::string since_;
};

// Copies `nodes`, which come in the graph's order and are all that lies between each other. Throws ConvertError
// (kNotConvertible) where a value that goes in or out is no tensor of known type, UnknownType where it is known why.
// With `rows`, all nodes have to be row by row along that size.
Segment extract_segment(const std::vector<torch::jit::Node*>& nodes, const TypeMap& types,
                        const std::optional<SegmentRows>& rows = std::nullopt);

// From the copied nodes to an optimised NNAPI model, which refusal_of() has to judge yet. Throws ConvertError where
// something else than a rule refuses it.
Offer lower_segment(Segment& segment, const ConvertOptions& options, Diagnostics& diagnostics);

}  // namespace nnapi_convert
