// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/whole_rows.h"

#include <numeric>
#include <utility>

#include "lib/nnapi/copy_permuted.h"
#include "lib/nnapi/passes/moves.h"
#include "lib/nnapi/permutation.h"

namespace nnapi_convert::nnapi {
namespace {

// The number of each element of a tensor.
using Numbers = std::vector<int32_t>;

void transpose(Numbers& numbers, const std::vector<int64_t>& shape, const std::vector<int64_t>& order) {
  Numbers result(numbers.size());
  copy_permuted(reinterpret_cast<const uint8_t*>(numbers.data()), reinterpret_cast<uint8_t*>(result.data()),
                sizeof(int32_t), shape, order);
  numbers = std::move(result);
}

}  // namespace

std::optional<std::vector<int32_t>> rows_after_moves(const Model& model, const std::vector<const Operation*>& moves,
                                                     const std::vector<int64_t>& last_order) {
  const Dims& base = model.at(moves.front()->inputs[0]).dims;
  const int64_t width = base.back().value();
  Numbers numbers(static_cast<size_t>(product(base).value()));
  std::iota(numbers.begin(), numbers.end(), 0);
  for (const Operation* move : moves) {
    if (move->code == OperationCode::RESHAPE) continue;
    transpose(numbers, fixed_values(model.at(move->inputs[0]).dims), order_of(model, *move));
  }
  std::vector<int64_t> shape = fixed_values(model.at(moves.back()->outputs[0]).dims);
  if (!last_order.empty()) {
    transpose(numbers, shape, last_order);
    shape = permute(shape, last_order);
  }
  if (shape.back() % width != 0) return std::nullopt;
  std::vector<int32_t> rows;
  for (size_t i = 0; i < numbers.size(); i += static_cast<size_t>(width)) {
    if (numbers[i] % width != 0) return std::nullopt;
    for (size_t j = 1; j < static_cast<size_t>(width); ++j) {
      if (numbers[i + j] != numbers[i] + static_cast<int32_t>(j)) return std::nullopt;
    }
    rows.push_back(numbers[i] / static_cast<int32_t>(width));
  }
  return rows;
}

}  // namespace nnapi_convert::nnapi
