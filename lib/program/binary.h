// SPDX-License-Identifier: BSD-3-Clause
// Shared by operators on two tensors or numbers: their loops and rows.
#pragma once

#include "lib/program/arithmetic.h"
#include "lib/program/mapping.h"

namespace nnapi_shim::program {

// A function of two elements for kernels: PROGRAM_FUNCTION_OF_TWO(Add, a + b).
#define PROGRAM_FUNCTION_OF_TWO(name, result) \
  struct name {                               \
    template <typename T>                     \
    static T of(T a, T b) {                   \
      return static_cast<T>(result);          \
    }                                         \
  };

template <typename F>
constexpr MapOp all_classes(MapResult result, bool takes_bools = true) {
  return {{map_two<float, F>, map_two<double, F>, map_two<int64_t, F>}, result, takes_bools};
}

// Runs the operator on the first two arguments.
bool run_two(Call& call, const MapOp& op, const Parameters* parameters, bool in_place);

template <const MapOp& kOp>
bool of_two(Call& call) {
  return run_two(call, kOp, nullptr, false);
}
template <const MapOp& kOp>
bool of_two_in_place(Call& call) {
  return run_two(call, kOp, nullptr, true);
}

// Rows of an operator and of its form in place.
#define PROGRAM_ROWS_OF_TWO(name, op)                          \
  {"aten::" name ".Tensor,Scalar", 2, 1, of_two<op>}, {        \
    "aten::" name "_.Tensor,Scalar", 2, 1, of_two_in_place<op> \
  }

}  // namespace nnapi_shim::program
