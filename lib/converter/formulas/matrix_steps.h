// The steps that direct methods for matrices are unrolled into, one for each row. A batch of matrices is a tensor whose
// last two axes are rows and columns.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "lib/ops/op_context.h"

namespace nnapi_convert {

// The first argument is one, or a batch of them.
bool is_float_matrix(const OpArguments& args);

// As many rows, if that is few enough to unroll; throws FormulaRefused else.
int64_t few_rows(const at::Tensor& matrix, int64_t rows);
// The rows of a square matrix.
int64_t square_rows(const at::Tensor& matrix);

// Gauss's elimination with the largest element of each column as pivot: U on and above the diagonal, the factors of the
// rows below, and the columns beyond those that were eliminated, which go through the same steps.
struct Elimination {
  at::Tensor rows;
  std::vector<at::Tensor> diagonals;  // [batch, 1, 1] each
  std::vector<at::Tensor> places;     // the rows below that are swapped with the first one; likewise, int64

  at::Tensor diagonal() const;    // [batch, steps]
  at::Tensor sign() const;        // [batch]: of the permutation
  at::Tensor pivots() const;      // [batch, steps]: int32, rows counted from 1
  at::Tensor first_zero() const;  // [batch]: int32, the step whose pivot is 0, counted from 1; 0 for none
};

Elimination eliminate(const at::Tensor& matrix, int64_t steps);

// X of T X = B, of which one triangle is read.
at::Tensor solve_triangular(const at::Tensor& triangle, const at::Tensor& b, bool is_upper, bool has_unit_diagonal);

// Row k and the one at a computed place [batch, 1, 1], counted from 1, in each other's place.
at::Tensor with_swapped_rows(const at::Tensor& matrix, int64_t k, const at::Tensor& place);

// Cholesky's factor of a matrix whose lower triangle is read.
struct Root {
  at::Tensor lower;
  at::Tensor first_failure;  // [batch]: int32, the step whose pivot isn't above 0, counted from 1; 0 for none
};

Root root_of(const at::Tensor& matrix);

}  // namespace nnapi_convert
