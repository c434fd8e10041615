// SPDX-License-Identifier: BSD-3-Clause
// Groups of operands that belong together.
#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

#include "lib/nnapi/model.h"

namespace nnapi_convert::quantise {

// Sets of operands, which can be joined.
class Groups {
 public:
  explicit Groups(size_t count) : parents_(count) { std::iota(parents_.begin(), parents_.end(), size_t{0}); }
  size_t find(nnapi::OperandId id) { return find(static_cast<size_t>(id)); }
  void join(nnapi::OperandId a, nnapi::OperandId b) { parents_[find(a)] = find(b); }

 private:
  size_t find(size_t at) {
    while (parents_[at] != at) at = parents_[at] = parents_[parents_[at]];
    return at;
  }
  std::vector<size_t> parents_;
};

}  // namespace nnapi_convert::quantise
