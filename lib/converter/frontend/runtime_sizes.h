// SPDX-License-Identifier: BSD-3-Clause
// Types values whose sizes are known only as the model runs (open_sizes.h).
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "lib/converter/graph/open_sizes.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

// Types results whose sizes depend on values. The caller visits the nodes of a graph in program order with one object.
class RuntimeSizes {
 public:
  // Returns the types of the node's results; nothing if they are uncertain. Inputs may be of unknown type: torch.zeros
  // with an unknown number of rows still has a known rank.
  std::optional<std::vector<ValueType>> types_of(const TorchNode& node, const TypeMap& types);

  const RuntimeSizeList& sizes() const { return sizes_; }

  // Returns a new open size, whose estimate is the number of rows of `like`.
  Dim fresh(const TorchValue* like, const TypeMap& types);
  // Returns the open size of an unknown number; the same size each time for the same number.
  Dim number(const TorchValue* value, const TypeMap& types);

 private:
  RuntimeSizeList sizes_;
  std::unordered_map<const TorchValue*, Dim> numbers_;
};

// True if the node reads a tensor or number with sizes that depend on values, or if its result has such sizes (nonzero,
// nms, a mask as index).
bool has_sizes_of_values(const TorchNode& node, const TypeMap& types);

}  // namespace nnapi_convert
