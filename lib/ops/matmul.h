// SPDX-License-Identifier: BSD-3-Clause
// Lowers matrix products for all rules that need them: linear layers, matmul, einsum, attention.
#pragma once

#include <optional>

#include "lib/ops/factor.h"

namespace nnapi_convert {

// Multiplies the rows of `left` [..., K] (rank 2 to 4) by `weights` [N, K]; returns a matrix [rows, N]. Appends
// FULLY_CONNECTED, whose weights and bias may be computed; for a flexible N BATCH_MATMUL (feature level 6), or MUL and
// REDUCE_SUM.
Factor row_product(OpContext& ctx, const Factor& left, const Factor& weights,
                   std::optional<nnapi::OperandId> bias = std::nullopt);

// Multiplies left [B, M, K] by right [B, K, N], or [B, N, K] if `right_is_transposed`; returns [B, M, N]. Appends
// BATCH_MATMUL at feature level 6; below it a FULLY_CONNECTED for each matrix of a fixed B (lib/nnapi/passes/
// group_products.h may join them), or MUL and REDUCE_SUM for a flexible B or N.
Factor batch_product(OpContext& ctx, const Factor& left, const Factor& right, bool right_is_transposed);

// Computes PyTorch's matmul of operands of rank 1 or more, with batches broadcast against each other. The result's
// sizes are PyTorch's, except that the axis of size 1 of a vector stays.
Factor matrix_product(OpContext& ctx, Factor left, Factor right);

// Exchanges the last two axes.
Factor transposed(const Factor& factor);

// Returns the sizes of matmul's result.
Dims matmul_dims(const OpArguments& args, const Dims& left, const Dims& right);

}  // namespace nnapi_convert
