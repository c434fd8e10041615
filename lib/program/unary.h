// SPDX-License-Identifier: BSD-3-Clause
// Shared by functions of the elements of one tensor: their loops and rows.
#pragma once

#include "lib/program/mapping.h"

namespace nnapi_shim::program {

// Kernels that call a function for each element.
template <double (*kFunction)(double)>
bool call_double(size_t count, void* out, const void* const* in, const void*) {
  auto* results = static_cast<double*>(out);
  const auto* values = static_cast<const double*>(in[0]);
  for (size_t i = 0; i < count; ++i) results[i] = kFunction(values[i]);
  return true;
}
template <int64_t (*kFunction)(int64_t)>
bool call_int(size_t count, void* out, const void* const* in, const void*) {
  auto* results = static_cast<int64_t*>(out);
  const auto* values = static_cast<const int64_t*>(in[0]);
  for (size_t i = 0; i < count; ++i) results[i] = kFunction(values[i]);
  return true;
}

template <double (*kFunction)(double)>
constexpr MapOp floats_only() {
  return {{nullptr, call_double<kFunction>, nullptr}, MapResult::kSame, false};
}
// Makes an operation of a function that the compiler inlines into its loops.
template <typename F, int64_t (*kInteger)(int64_t)>
constexpr MapOp cheap(bool takes_bools) {
  return {{map_one<float, F>, map_one<double, F>, call_int<kInteger>}, MapResult::kSame, takes_bools};
}
// Makes an operation of a function with numbers: p[0] is the second argument, and so on.
template <typename F>
constexpr MapOp with_numbers(MapResult result = MapResult::kSame) {
  return {{nullptr, map_one_with<double, F>, nullptr}, result, result == MapResult::kFloat};
}

// Runs the operator on the first argument.
bool run_one(Call& call, const MapOp& op, const Parameters* parameters, bool in_place);

template <const MapOp& kOp>
bool of_one(Call& call) {
  return run_one(call, kOp, nullptr, false);
}
template <const MapOp& kOp>
bool of_one_in_place(Call& call) {
  return run_one(call, kOp, nullptr, true);
}

// Rows of an operator and of its form in place.
#define PROGRAM_ROWS_OF_ONE(name, op)            \
  {"aten::" name, 1, 1, of_one<op>}, {           \
    "aten::" name "_", 1, 1, of_one_in_place<op> \
  }

}  // namespace nnapi_shim::program
