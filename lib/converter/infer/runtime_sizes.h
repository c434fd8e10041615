// Types values whose sizes are known only as the model runs (open_sizes.h).
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "lib/converter/graph/open_sizes.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

// Types values whose sizes depend on values. One object goes over a graph in program order.
class RuntimeSizes {
 public:
  // The types of what the node gives; nothing where they can't be told for sure. Inputs may be of unknown type, which
  // matters to few operators: zeros of an unknown number of rows has rows, and a rank.
  std::optional<std::vector<ValueType>> types_of(const TorchNode& node, const TypeMap& types);

  const RuntimeSizeList& sizes() const { return sizes_; }

  // A size of its own, for what has about as many rows as `like`.
  Dim fresh(const TorchValue* like, const TypeMap& types);
  // The same for a number that isn't known; one number is one size.
  Dim number(const TorchValue* value, const TypeMap& types);

 private:
  RuntimeSizeList sizes_;
  std::unordered_map<const TorchValue*, Dim> numbers_;
};

// True if the node reads a tensor or number whose sizes aren't known, or gives one from tensors of known sizes
// (nonzero, nms, a mask as index).
bool has_open_sizes(const TorchNode& node, const TypeMap& types);

}  // namespace nnapi_convert
