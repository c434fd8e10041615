// SPDX-License-Identifier: BSD-3-Clause
// A map from constants that finds equal ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <utility>

#include "lib/nnapi/constant.h"

namespace nnapi_convert::nnapi {

template <typename Value>
class ConstantMap {
 public:
  // Returns the value with which an equal constant was added, or nullptr; valid until clear().
  const Value* find(const Constant& constant) const {
    const auto [begin, end] = entries_.equal_range(constant.sample_hash());
    const auto found = std::find_if(begin, end, [&](const auto& each) { return each.second.first == constant; });
    return found == end ? nullptr : &found->second.second;
  }
  // Adds a constant that find() does not find.
  void add(const Constant& constant, Value value) {
    entries_.emplace(constant.sample_hash(), std::make_pair(constant, std::move(value)));
  }
  void clear() { entries_.clear(); }

 private:
  std::unordered_multimap<size_t, std::pair<Constant, Value>> entries_;  // by sample_hash()
};

}  // namespace nnapi_convert::nnapi
