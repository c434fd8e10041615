// SPDX-License-Identifier: BSD-3-Clause
// An array of values in memory of a pool.
#pragma once

#include <cstdint>
#include <new>

#include "lib/program/pool.h"
#include "lib/program/value.h"

namespace nnapi_shim::program {

// The values are None at first.
class Values {
 public:
  Values(Pool& pool, uint32_t count) : pool_(pool), count_(count) {
    values_ = static_cast<Value*>(pool.take(count * sizeof(Value)));
    for (uint32_t i = 0; values_ != nullptr && i < count; ++i) new (&values_[i]) Value();
  }
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;
  ~Values() {
    for (uint32_t i = 0; values_ != nullptr && i < count_; ++i) values_[i].~Value();
    pool_.give_back(values_);
  }

  bool is_there() const { return values_ != nullptr; }
  Value* data() { return values_; }
  Value& operator[](uint32_t number) { return values_[number]; }

 private:
  Pool& pool_;
  Value* values_;
  const uint32_t count_;
};

}  // namespace nnapi_shim::program
