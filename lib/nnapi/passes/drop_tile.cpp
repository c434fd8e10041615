// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/drop_tile.h"

#include <algorithm>

#include "lib/format/operation_table.h"

namespace nnapi_convert::nnapi {
namespace {

// Returns whether the operation broadcasts its inputs. SELECT does not: its inputs have one shape.
bool broadcasts(const Operation& operation) {
  return has_trait(operation.code, OperationTrait::kElementwise) && operation.inputs.size() >= 2 &&
         operation.code != OperationCode::SELECT;
}

// Returns true if `a` and `b` broadcast to `to`.
bool give(const Dims& a, const Dims& b, const Dims& to) {
  for (size_t i = 0; i < to.size(); ++i) {  // counted from the last axis
    const auto at = [&](const Dims& dims) { return i < dims.size() ? dims[dims.size() - 1 - i] : Dim(1); };
    const Dim& size = to[to.size() - 1 - i];
    const bool first = at(a) == size, second = at(b) == size;
    if (!(first && (second || at(b) == Dim(1))) && !(second && at(a) == Dim(1))) return false;
  }
  return true;
}

}  // namespace

void drop_tile(Model& model) {
  const Uses uses(model);
  for (Operation& operation : model.operations) {
    if (!broadcasts(operation)) continue;
    for (size_t i = 0; i < 2; ++i) {
      const int producer = uses.producer[static_cast<size_t>(operation.inputs[i])];
      if (producer < 0) continue;
      const Operation& tile = model.operations[static_cast<size_t>(producer)];
      if (tile.code != OperationCode::TILE) continue;
      const Dims& source = model.at(tile.inputs[0]).dims;
      const Dims& other = model.at(operation.inputs[1 - i]).dims;
      if (give(source, other, model.at(operation.outputs[0]).dims)) operation.inputs[i] = tile.inputs[0];
    }
  }
}

}  // namespace nnapi_convert::nnapi
