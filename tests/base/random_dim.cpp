// SPDX-License-Identifier: BSD-3-Clause
#include "tests/base/random_dim.h"

namespace nnapi_convert::testing {
namespace {

int64_t pick(std::mt19937& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

RandomDim random_leaf(std::mt19937& random) {
  if (pick(random, 0, 3) == 0) {
    const int64_t number = pick(random, -4, 9);
    return {Dim(number), [number](const Sizes&) { return number; }};
  }
  const int input = static_cast<int>(pick(random, 0, kInputs - 1));
  const int axis = static_cast<int>(pick(random, 0, kAxes - 1));
  return {Dim::of_input(input, axis), [input, axis](const Sizes& sizes) { return sizes(input, axis); }};
}

}  // namespace

int64_t floor_by_remainder(int64_t a, int64_t b) {
  const int64_t remainder = ((a % b) + b) % b;  // the Euclidean one, 0 <= remainder < b
  return (a - remainder) / b;                   // exact
}

Sizes random_sizes(std::mt19937& random) {
  Sizes sizes{};
  for (auto& input : sizes.at) {
    for (int64_t& size : input) size = pick(random, 1, 40);
  }
  return sizes;
}

RandomDim random_dim(std::mt19937& random, int depth) {
  if (depth == 0) return random_leaf(random);
  const RandomDim a = random_dim(random, depth - 1);
  const RandomDim b = random_dim(random, static_cast<int>(pick(random, 0, depth - 1)));
  switch (pick(random, 0, 4)) {
    case 0:
      return {a.dim + b.dim, [=](const Sizes& sizes) { return a.direct(sizes) + b.direct(sizes); }};
    case 1:
      return {a.dim - b.dim, [=](const Sizes& sizes) { return a.direct(sizes) - b.direct(sizes); }};
    case 2:
      return {a.dim * b.dim, [=](const Sizes& sizes) { return a.direct(sizes) * b.direct(sizes); }};
    default: {
      const int64_t divisor = pick(random, 1, 6);
      return {a.dim.floor_div(divisor),
              [=](const Sizes& sizes) { return floor_by_remainder(a.direct(sizes), divisor); }};
    }
  }
}

}  // namespace nnapi_convert::testing
