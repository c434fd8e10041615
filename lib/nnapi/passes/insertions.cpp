// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/insertions.h"

#include <utility>

namespace nnapi_convert::nnapi {

void Insertions::apply(Model& model) {
  std::vector<Operation> operations = std::exchange(model.operations, {});
  for (size_t i = 0; i < operations.size(); ++i) {
    const auto added = added_.find(i);
    if (added != added_.end()) {
      for (Operation& operation : added->second) model.operations.push_back(std::move(operation));
    }
    if (!operations[i].outputs.empty()) model.operations.push_back(std::move(operations[i]));
  }
  added_.clear();
}

}  // namespace nnapi_convert::nnapi
