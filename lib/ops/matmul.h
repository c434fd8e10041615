// Products of matrices for every rule that contracts axes: linear layers, matmul, einsum, attention.
#pragma once

#include <optional>

#include "lib/ops/factor.h"

namespace nnapi_convert {

// Rows of `left` [..., K] (rank 2 to 4) by `weights` [N, K]: a matrix [rows, N]. FULLY_CONNECTED, whose weights and
// bias may be computed at run time; for a flexible N BATCH_MATMUL (feature level 6), or MUL and REDUCE_SUM.
Factor row_product(OpContext& ctx, const Factor& left, const Factor& weights,
                   std::optional<nnapi::OperandId> bias = std::nullopt);

// left [B, M, K] by right [B, K, N], or [B, N, K] if `right_is_transposed`: [B, M, N]. BATCH_MATMUL at feature level 6;
// below it a FULLY_CONNECTED for each of a fixed B, or MUL and REDUCE_SUM for flexible B or N.
Factor batch_product(OpContext& ctx, const Factor& left, const Factor& right, bool right_is_transposed);

// PyTorch's matmul of operands of any rank from 1, batches broadcast against each other. The result's sizes are those
// of PyTorch's but for vectors, whose axis of size 1 stays.
Factor matrix_product(OpContext& ctx, Factor left, Factor right);

// The last two axes exchanged.
Factor transposed(const Factor& factor);

// The sizes of matmul's result.
Dims matmul_dims(const OpArguments& args, const Dims& left, const Dims& right);

}  // namespace nnapi_convert
