// SPDX-License-Identifier: BSD-3-Clause
// Systems of equations, inverses and determinants of small matrices, and their triangular factors: unrolled, in as many
// steps as a matrix has rows. A matrix without an inverse gives infinite numbers or NaN, where PyTorch raises.
#include <ATen/ATen.h>

#include "lib/ops/formulas.h"
#include "lib/ops/matrix_steps.h"

namespace nnapi_convert {
namespace {

using at::Tensor;

Tensor transposed(const Tensor& x) {
  return x.transpose(-2, -1);
}

// Gives both matrices the batch axes of their product.
void broadcast_batch(Tensor& a, Tensor& b) {
  const auto batch = [](const Tensor& x) { return x.sizes().slice(0, static_cast<size_t>(x.dim()) - 2).vec(); };
  const auto expanded = [](const Tensor& x, std::vector<int64_t> sizes) {
    sizes.insert(sizes.end(), {x.size(-2), x.size(-1)});
    return x.sizes() == at::IntArrayRef(sizes) ? x : x.expand(sizes);
  };
  const std::vector<int64_t> sizes = at::infer_size(batch(a), batch(b));
  a = expanded(a, sizes);
  b = expanded(b, sizes);
}

// Returns the solution X of A X = B.
Tensor solution(Tensor a, Tensor b) {
  const int64_t rows = square_rows(a);
  broadcast_batch(a, b);
  const Elimination found = eliminate(at::cat({a, b}, -1), rows);
  return solve_triangular(found.rows.narrow(-1, 0, rows), found.rows.narrow(-1, rows, b.size(-1)), true, false);
}

Tensor identity_like(const Tensor& a) {
  return constant_of([&] { return at::eye(a.size(-1)).expand(a.sizes()).contiguous(); });
}

Tensor inverse_of(const Tensor& a) {
  return solution(a, identity_like(a));
}

bool is_vector(const Tensor& a, const Tensor& b) {
  return b.dim() == 1 || (a.dim() - 1 == b.dim() && b.sizes() == a.sizes().slice(0, static_cast<size_t>(a.dim()) - 1));
}

std::vector<Formed> solve(const FormulaArguments& args) {
  const Tensor a = args.tensor("A"), b = args.tensor("B");
  const bool is_left = !args.has("left") || args.boolean("left");
  Tensor result;
  if (is_vector(a, b)) {
    result = solution(a, b.unsqueeze(-1)).squeeze(-1);
  } else {
    result = is_left ? solution(a, b) : transposed(solution(transposed(a), transposed(b)));
  }
  if (args.schema().returns().size() == 1) return {result};
  return {result, eliminate(a, square_rows(a)).first_zero()};
}

std::vector<Formed> inverse(const FormulaArguments& args) {
  const Tensor a = args.first().real;
  if (args.schema().returns().size() == 1) return {inverse_of(a)};
  return {inverse_of(a), eliminate(a, square_rows(a)).first_zero()};
}

std::vector<Formed> det(const FormulaArguments& args) {
  const Tensor a = args.first().real;
  const Elimination found = eliminate(a, square_rows(a));
  return {found.sign() * found.diagonal().prod(-1)};
}

std::vector<Formed> slogdet(const FormulaArguments& args) {
  const Tensor a = args.first().real;
  const Elimination found = eliminate(a, square_rows(a));
  const Tensor diagonal = found.diagonal();
  const Tensor sign = found.sign() * at::sgn(diagonal).prod(-1), size = at::log(at::abs(diagonal)).sum(-1);
  if (args.schema().returns().size() == 2) return {sign, size};
  return {at::log(sign) + size};  // logdet: NaN for a negative determinant
}

std::vector<Formed> lu_factor(const FormulaArguments& args) {
  if (!args.boolean("pivot")) throw FormulaRefused("pivot=False", "True");
  const Tensor a = args.first().real;
  const Elimination found = eliminate(a, few_rows(a, std::min(a.size(-2), a.size(-1))));
  const std::vector<Formed> all = {found.rows, found.pivots(), found.first_zero()};
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(args.schema().returns().size())};
}

// Swaps row k of a matrix with the row that pivot k names, for each k; the last swap first if `is_last_first`.
Tensor swapped(Tensor x, const Tensor& pivots, bool is_last_first) {
  const int64_t count = pivots.size(-1);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t k = is_last_first ? count - 1 - i : i;
    x = with_swapped_rows(x, k, pivots.narrow(-1, k, 1).unsqueeze(-1));
  }
  return x;
}

struct Factors {
  Tensor lower, upper;
};

Factors unpacked(const Tensor& lu) {
  const int64_t count = std::min(lu.size(-2), lu.size(-1));
  const Tensor ones = constant_of([&] { return at::eye(lu.size(-2), count); });
  return {at::tril(lu.narrow(-1, 0, count), -1) + ones, at::triu(lu.narrow(-2, 0, count))};
}

Tensor permutation(const Tensor& lu, const Tensor& pivots) {
  std::vector<int64_t> sizes = lu.sizes().vec();
  sizes.back() = lu.size(-2);
  return swapped(constant_of([&] { return at::eye(lu.size(-2)).expand(sizes).contiguous(); }), pivots, true);
}

std::vector<Formed> lu(const FormulaArguments& args) {
  if (!args.boolean("pivot")) throw FormulaRefused("pivot=False", "True");
  const Tensor a = args.tensor("A");
  const Elimination found = eliminate(a, few_rows(a, std::min(a.size(-2), a.size(-1))));
  const Factors factors = unpacked(found.rows);
  return {permutation(a, found.pivots()), factors.lower, factors.upper};
}

std::vector<Formed> lu_unpack(const FormulaArguments& args) {
  const Tensor packed = args.tensor("LU_data");
  if (!args.boolean("unpack_data") || !args.boolean("unpack_pivots")) {
    throw FormulaRefused("a part that stays packed", "all unpacked");
  }
  (void)few_rows(packed, std::min(packed.size(-2), packed.size(-1)));
  const Factors factors = unpacked(packed);
  return {permutation(packed, args.tensor("LU_pivots")), factors.lower, factors.upper};
}

std::vector<Formed> lu_solve(const FormulaArguments& args) {
  const bool is_new = args.has("LU");
  Tensor packed = args.tensor(is_new ? "LU" : "LU_data"), b = args.tensor(is_new ? "B" : "self");
  const Tensor pivots = args.tensor(is_new ? "pivots" : "LU_pivots");
  const bool is_left = !is_new || args.boolean("left");
  // From the right, the transposed system is solved for the transposed matrix.
  const bool is_transposed = (is_new && args.boolean("adjoint")) == is_left;
  if (!is_left) b = transposed(b);
  (void)square_rows(packed);
  broadcast_batch(packed, b);
  Tensor x;
  if (is_transposed) {
    const Tensor turned = transposed(packed);
    x = solve_triangular(turned, solve_triangular(turned, b, false, false), true, true);
    x = swapped(x, pivots, true);
  } else {
    x = solve_triangular(packed, swapped(b, pivots, false), false, true);
    x = solve_triangular(packed, x, true, false);
  }
  return {is_left ? x : transposed(x)};
}

std::vector<Formed> triangular(const FormulaArguments& args) {
  const bool is_new = args.has("left");
  Tensor a = args.tensor(is_new ? "self" : "A"), b = args.tensor(is_new ? "B" : "self");
  const Tensor given = a;
  bool is_upper = args.boolean("upper");
  const bool is_left = !is_new || args.boolean("left");
  (void)square_rows(a);
  if (!is_left) b = transposed(b);
  if (!is_left || (!is_new && args.boolean("transpose"))) {
    a = transposed(a);
    is_upper = !is_upper;
  }
  broadcast_batch(a, b);
  const Tensor x = solve_triangular(a, b, is_upper, args.boolean("unitriangular"));
  if (args.schema().returns().size() == 2) return {x, given};
  return {is_left ? x : transposed(x)};
}

std::vector<Formed> cholesky(const FormulaArguments& args) {
  const Tensor a = args.tensor("self");
  (void)square_rows(a);
  const bool is_upper = args.boolean("upper");
  const Root root = root_of(is_upper ? transposed(a) : a);
  const Tensor factor = is_upper ? transposed(root.lower) : root.lower;
  if (args.schema().returns().size() == 1) return {factor};
  return {factor, root.first_failure};
}

std::vector<Formed> cholesky_solve(const FormulaArguments& args) {
  const bool gives_inverse = !args.has("input2");
  Tensor lower = args.tensor(gives_inverse ? "self" : "input2");
  (void)square_rows(lower);
  if (args.boolean("upper")) lower = transposed(lower);
  Tensor b = gives_inverse ? identity_like(lower) : args.tensor("self");
  broadcast_batch(lower, b);
  return {solve_triangular(transposed(lower), solve_triangular(lower, b, false, false), true, false)};
}

std::vector<Formed> matrix_power(const FormulaArguments& args) {
  const Tensor base = inverse_of(args.tensor("self"));
  Tensor result = base;
  for (int64_t i = args.integer("n") + 1; i < 0; ++i) result = at::matmul(result, base);
  return {result};
}

std::vector<Formed> tensorinv(const FormulaArguments& args) {
  const Tensor a = args.tensor("self");
  const auto ind = static_cast<size_t>(args.integer("ind"));
  const std::vector<int64_t> front = a.sizes().slice(0, ind).vec();
  std::vector<int64_t> sizes = a.sizes().slice(ind).vec();
  sizes.insert(sizes.end(), front.begin(), front.end());
  return {inverse_of(a.reshape({c10::multiply_integers(front), -1})).reshape(sizes)};
}

std::vector<Formed> tensorsolve(const FormulaArguments& args) {
  Tensor a = args.tensor("self");
  const Tensor b = args.tensor("other");
  if (!args.is_none("dims")) {
    std::vector<int64_t> last(args.integers("dims").size());
    for (size_t i = 0; i < last.size(); ++i) last[i] = a.dim() - static_cast<int64_t>(last.size() - i);
    a = a.movedim(args.integers("dims"), last);
  }
  const std::vector<int64_t> sizes = a.sizes().slice(static_cast<size_t>(b.dim())).vec();
  return {solution(a.reshape({b.numel(), -1}), b.reshape({-1, 1})).reshape(sizes)};
}

bool is_inverse_power(const OpArguments& args) {
  constexpr int64_t kLeastPower = -8;
  const int64_t n = args.integer("n");
  return is_float_matrix(args) && n < 0 && n >= kLeastPower;
}

}  // namespace

Formulas matrix_formulas() {
  return {
      {"aten::linalg_solve", is_float_matrix, solve},
      {"aten::linalg_solve_ex", is_float_matrix, solve},
      {"aten::inverse", is_float_matrix, inverse},
      {"aten::linalg_inv", is_float_matrix, inverse},
      {"aten::linalg_inv_ex", is_float_matrix, inverse},
      {"aten::det", is_float_matrix, det},
      {"aten::linalg_det", is_float_matrix, det},
      {"aten::slogdet", is_float_matrix, slogdet},
      {"aten::linalg_slogdet", is_float_matrix, slogdet},
      {"aten::logdet", is_float_matrix, slogdet},
      {"aten::linalg_lu_factor", is_float_matrix, lu_factor},
      {"aten::linalg_lu_factor_ex", is_float_matrix, lu_factor},
      {"aten::_lu_with_info", is_float_matrix, lu_factor},
      {"aten::linalg_lu", is_float_matrix, lu},
      {"aten::lu_unpack", is_float_matrix, lu_unpack},
      {"aten::lu_solve", is_float_matrix, lu_solve},
      {"aten::linalg_lu_solve", is_float_matrix, lu_solve},
      {"aten::triangular_solve", is_float_matrix, triangular},
      {"aten::linalg_solve_triangular", is_float_matrix, triangular},
      {"aten::cholesky", is_float_matrix, cholesky},
      {"aten::linalg_cholesky", is_float_matrix, cholesky},
      {"aten::linalg_cholesky_ex", is_float_matrix, cholesky},
      {"aten::cholesky_solve", is_float_matrix, cholesky_solve},
      {"aten::cholesky_inverse", is_float_matrix, cholesky_solve},
      {"aten::linalg_matrix_power", is_inverse_power, matrix_power},
      {"aten::matrix_power", is_inverse_power, matrix_power},
      {"aten::linalg_tensorinv", is_float_matrix, tensorinv},
      {"aten::linalg_tensorsolve", is_float_matrix, tensorsolve},
  };
}

}  // namespace nnapi_convert
