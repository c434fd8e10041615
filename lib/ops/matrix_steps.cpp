// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/matrix_steps.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "lib/ops/formulas.h"

namespace nnapi_convert {
namespace {

using at::Tensor;

constexpr int64_t kMostRows = 16;  // each takes 20 operations

// Returns the numbers 0, 1, 2... as a column.
Tensor row_numbers(int64_t rows) {
  return constant_of([&] { return at::arange(rows, at::TensorOptions(at::kLong)).unsqueeze(1); });
}

// Returns the one marked row.
Tensor picked(const Tensor& rows, const Tensor& is_it) {
  return (rows * is_it.to(at::kFloat)).sum({-2}, true);
}

// Returns the elements from `begin` to before `end` along the axis; an undefined tensor stands for none.
Tensor part(const Tensor& x, int64_t axis, int64_t begin, int64_t end) {
  return begin < end ? x.narrow(axis, begin, end - begin) : Tensor();
}

Tensor from(const Tensor& x, int64_t axis, int64_t begin) {
  return part(x, axis, begin, x.size(axis));
}

Tensor joined(const std::vector<Tensor>& parts, int64_t axis) {
  std::vector<Tensor> wanted;
  for (const Tensor& each : parts) {
    if (each.defined()) wanted.push_back(each);
  }
  return wanted.size() == 1 ? wanted[0] : at::cat(wanted, axis);
}

// Returns, as [batch], the first marked step of marks [batch, 1, 1], counted from 1; 0 for none.
Tensor first_marked(const std::vector<Tensor>& marks) {
  Tensor found;
  for (size_t k = marks.size(); k-- > 0;) {
    const Tensor mark = marks[k].to(at::kFloat);
    const Tensor here = mark * static_cast<double>(k + 1);
    found = found.defined() ? here + found * (1 - mark) : here;
  }
  return found.squeeze(-1).squeeze(-1).to(at::kInt);
}

Tensor without_zero(const Tensor& x) {
  return x + at::eq(x, 0).to(at::kFloat);
}

}  // namespace

bool is_float_matrix(const OpArguments& args) {
  const TensorType type = args.tensor(args.node().schema().arguments().at(0).name());
  return type.dtype == at::kFloat && type.rank() >= 2;
}

int64_t few_rows(const Tensor& matrix, int64_t rows) {
  if (rows > kMostRows) {
    throw FormulaRefused(fmt::format("matrices [{}, {}], which take {} steps", matrix.size(-2), matrix.size(-1), rows),
                         fmt::format("{} steps at most", kMostRows),
                         "NNAPI has no such operation: compute it in the app");
  }
  return rows;
}

int64_t square_rows(const Tensor& matrix) {
  const int64_t rows = matrix.size(-1);
  if (matrix.size(-2) != rows) {
    throw FormulaRefused(fmt::format("matrices [{}, {}]", matrix.size(-2), rows), "square ones");
  }
  return few_rows(matrix, rows);
}

// Eliminates step by step. Each step takes the pivot's row out of the remaining rows; the first of them takes its
// place.
Elimination eliminate(const Tensor& matrix, int64_t steps) {
  Elimination result;
  std::vector<Tensor> done;
  Tensor left = matrix;
  for (int64_t k = 0; k < steps; ++k) {
    const int64_t count = left.size(-2);
    Tensor pivot_row = left;
    Tensor place = constant_of([&] {
      std::vector<int64_t> sizes = matrix.sizes().vec();
      sizes[sizes.size() - 2] = sizes.back() = 1;
      return at::zeros(sizes, at::TensorOptions(at::kLong));
    });
    if (count > 1) {
      place = at::argmax(at::abs(left.narrow(-1, k, 1)), -2, true);
      const Tensor is_pivot = at::eq(row_numbers(count), place);
      pivot_row = picked(left, is_pivot);
      left = from(at::where(is_pivot, left.narrow(-2, 0, 1), left), -2, 1);
    }
    const Tensor pivot = pivot_row.narrow(-1, k, 1);
    done.push_back(pivot_row);
    result.diagonals.push_back(pivot);
    result.places.push_back(place);
    if (count == 1) {
      left = Tensor();
      break;
    }
    const Tensor factors = left.narrow(-1, k, 1) / without_zero(pivot);
    Tensor rest = from(left, -1, k + 1);
    if (rest.defined()) rest = rest - factors * from(pivot_row, -1, k + 1);
    left = joined({part(left, -1, 0, k), factors, rest}, -1);
  }
  done.push_back(left);
  result.rows = joined(done, -2);
  return result;
}

Tensor Elimination::diagonal() const {
  return joined(diagonals, -1).squeeze(-2);
}

Tensor Elimination::sign() const {
  const Tensor is_swapped = at::ne(joined(places, -1).squeeze(-2), 0).to(at::kFloat);
  return (1 - is_swapped * 2).prod(-1);
}

Tensor Elimination::pivots() const {
  const auto steps = static_cast<int64_t>(places.size());
  const Tensor own = constant_of([&] { return at::arange(1, steps + 1, at::TensorOptions(at::kLong)); });
  return (joined(places, -1).squeeze(-2) + own).to(at::kInt);
}

Tensor Elimination::first_zero() const {
  std::vector<Tensor> marks;
  for (const Tensor& each : diagonals) marks.push_back(at::eq(each, 0));
  return first_marked(marks);
}

Tensor solve_triangular(const Tensor& triangle, const Tensor& b, bool is_upper, bool has_unit_diagonal) {
  const int64_t rows = triangle.size(-1);
  std::vector<Tensor> found;
  Tensor left = b;
  for (int64_t step = 0; step < rows; ++step) {
    const int64_t k = is_upper ? rows - 1 - step : step;
    const int64_t count = rows - step;
    Tensor row = left.narrow(-2, is_upper ? count - 1 : 0, 1);
    const Tensor column = triangle.narrow(-1, k, 1);
    if (!has_unit_diagonal) row = row / column.narrow(-2, k, 1);
    found.push_back(row);
    if (count == 1) break;
    const Tensor factors = is_upper ? column.narrow(-2, 0, k) : from(column, -2, k + 1);
    left = left.narrow(-2, is_upper ? 0 : 1, count - 1) - factors * row;
  }
  if (is_upper) std::reverse(found.begin(), found.end());
  return joined(found, -2);
}

Tensor with_swapped_rows(const Tensor& matrix, int64_t k, const Tensor& place) {
  const int64_t rows = matrix.size(-2);
  const Tensor is_it = at::eq(constant_of([&] { return row_numbers(rows) + 1; }), place);
  const Tensor other = picked(matrix, is_it);
  const Tensor changed = at::where(is_it, matrix.narrow(-2, k, 1), matrix);
  return joined({part(changed, -2, 0, k), other, from(changed, -2, k + 1)}, -2);
}

Root root_of(const Tensor& matrix) {
  std::vector<Tensor> columns, marks;
  Tensor left = matrix;
  const int64_t rows = matrix.size(-1);
  for (int64_t k = 0; k < rows; ++k) {
    const Tensor pivot = left.narrow(-2, 0, 1).narrow(-1, 0, 1);
    const Tensor column = left.narrow(-1, 0, 1) * at::rsqrt(pivot);
    marks.push_back(at::le(pivot, 0));
    columns.push_back(k == 0 ? column : at::constant_pad_nd(column, {0, 0, k, 0}, 0));
    if (k + 1 == rows) break;
    const Tensor rest = from(column, -2, 1);
    left = from(from(left, -2, 1), -1, 1) - rest * rest.transpose(-2, -1);
  }
  return {joined(columns, -1), first_marked(marks)};
}

}  // namespace nnapi_convert
