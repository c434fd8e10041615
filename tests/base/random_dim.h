// SPDX-License-Identifier: BSD-3-Clause
// Makes random size expressions, each with a function that computes the same number with plain integers.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "lib/base/dim.h"

namespace nnapi_convert::testing {

// Random expressions use the sizes of input 0 and 1, axes 0 to 2.
constexpr int kInputs = 2;
constexpr int kAxes = 3;
struct Sizes {
  int64_t at[kInputs][kAxes];
  int64_t operator()(int input, int axis) const { return at[input][axis]; }
};
Sizes random_sizes(std::mt19937& random);

struct RandomDim {
  Dim dim;
  std::function<int64_t(const Sizes&)> direct;
};
// Returns an expression of at most `depth` levels of +, -, * and floor division.
RandomDim random_dim(std::mt19937& random, int depth);

// Returns floor(a / b) for b > 0, computed from the remainder.
int64_t floor_by_remainder(int64_t a, int64_t b);

}  // namespace nnapi_convert::testing
