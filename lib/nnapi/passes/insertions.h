// SPDX-License-Identifier: BSD-3-Clause
// Collects operations that a pass adds, so that the numbers and addresses of the others stay while it runs.
#pragma once

#include <map>
#include <vector>

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

class Insertions {
 public:
  // The operation comes before the one with this number, after those that were added there earlier.
  void add_before(size_t number, Operation operation) { added_[number].push_back(std::move(operation)); }

  bool empty() const { return added_.empty(); }

  // Puts the operations into the model, and takes out those that the pass left without outputs.
  void apply(Model& model);

 private:
  std::map<size_t, std::vector<Operation>> added_;
};

}  // namespace nnapi_convert::nnapi
