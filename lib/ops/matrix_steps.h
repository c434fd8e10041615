// SPDX-License-Identifier: BSD-3-Clause
// Unrolls direct methods for matrices (elimination, Cholesky) into one step for each row. A batch of matrices is a
// tensor whose last two axes are rows and columns.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "lib/ops/op_context.h"

namespace nnapi_convert {

// True if the first argument is a float matrix or a batch of float matrices.
bool is_float_matrix(const OpArguments& args);

// Returns `rows` if the number is small enough to unroll; else throws FormulaRefused.
int64_t few_rows(const at::Tensor& matrix, int64_t rows);
// Returns the number of rows of a square matrix.
int64_t square_rows(const at::Tensor& matrix);

// The result of Gaussian elimination with the largest element of each column as pivot. `rows` has U on and above the
// diagonal and the factors of L below it; columns that are not eliminated go through the same steps.
struct Elimination {
  at::Tensor rows;
  std::vector<at::Tensor> diagonals;  // [batch, 1, 1] each
  std::vector<at::Tensor> places;     // [batch, 1, 1] each: int64, the row that each step swaps with its first row

  at::Tensor diagonal() const;    // [batch, steps]
  at::Tensor sign() const;        // [batch]: the sign of the permutation
  at::Tensor pivots() const;      // [batch, steps]: int32, rows counted from 1
  at::Tensor first_zero() const;  // [batch]: int32, the step whose pivot is 0, counted from 1; 0 for none
};

Elimination eliminate(const at::Tensor& matrix, int64_t steps);

// Returns the solution X of T X = B; reads only one triangle of T.
at::Tensor solve_triangular(const at::Tensor& triangle, const at::Tensor& b, bool is_upper, bool has_unit_diagonal);

// Swaps row k with the row at a computed place [batch, 1, 1], counted from 1.
at::Tensor with_swapped_rows(const at::Tensor& matrix, int64_t k, const at::Tensor& place);

// The Cholesky factor of a matrix. Only the matrix's lower triangle is read.
struct Root {
  at::Tensor lower;
  at::Tensor first_failure;  // [batch]: int32, the first step whose pivot isn't above 0, counted from 1; 0 for none
};

Root root_of(const at::Tensor& matrix);

}  // namespace nnapi_convert
