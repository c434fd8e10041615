// SPDX-License-Identifier: BSD-3-Clause
// The gamma function's logarithm and its derivatives: asymptotic series for arguments of 7 and more, to which smaller
// ones are shifted, and the reflection formula below 1/2.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "lib/ops/families.h"
#include "lib/ops/formula.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr int kShift = 7;

// Maps x < 1/2 to 1 - x, for the reflection formula.
Expression reflected(const Expression& x) {
  return choose(is_less(x, 0.5), 1 - x, x);
}

// Returns the distance to the nearest whole number.
Expression from_whole(const Expression& x) {
  return x - round_to_even(x);
}

// Computes log(gamma(x)) for x >= 3.
Expression lgamma_of_large(const Expression& x) {
  const Expression is_shifted = is_less(x, kShift);
  const Expression product = x * (x + 1) * (x + 2) * (x + 3);
  const Expression z = choose(is_shifted, x + 4, x);
  const Expression series = polynomial(1 / square(z), {1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680}) / z;
  const Expression stirling = (z - 0.5) * log(z) - z + 0.91893853320467274 + series;
  return stirling - choose(is_shifted, log(product), 0);
}

// Computes lgamma for 1 to 3: the factors of its zeros 1 and 2, times a fit of the rest within 6e-9.
Expression lgamma_of_middle(const Expression& x) {
  const Expression u = x - 2;
  return u * (x - 1) *
         polynomial(
             u, {0.422784336, -0.100317273, 0.0329649469, -0.0123849749, 0.00499947932, -0.0021020633, 0.000910512605,
                 -0.000425566947, 0.000195785318, -5.24243562e-05, 2.02636321e-05, -3.8732244e-05, 1.93034626e-05});
}

// Computes lgamma for x >= 1/2; below 1 as lgamma(x + 1) - log(x).
Expression lgamma_of_positive(const Expression& x) {
  const Expression is_small = is_less(x, 1);
  const Expression middle = lgamma_of_middle(choose(is_small, x + 1, x)) - choose(is_small, log(x), 0);
  return choose(is_less(x, 3), middle, lgamma_of_large(x));
}

Expression lgamma(const Expression& x) {
  const Expression positive = lgamma_of_positive(reflected(x));
  const Expression sine = abs(sin(from_whole(x) * M_PI));
  const Expression found = choose(is_less(x, 0.5), std::log(M_PI) - log(sine) - positive, positive);
  return choose(is_equal(abs(x), kInfinite), kInfinite, found);
}

Expression cotangent(const Expression& x) {
  const Expression angle = from_whole(x) * M_PI;
  return sin(angle + M_PI_2) / sin(angle);
}

Expression digamma_of_positive(const Expression& x) {
  const Expression is_shifted = is_less(x, kShift);
  const Expression z = choose(is_shifted, x + kShift, x);
  const Expression inverse = 1 / square(z);
  const Expression series = polynomial(inverse, {1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240}) * inverse;
  Expression sum = 1 / x;
  for (int k = 1; k < kShift; ++k) sum = sum + 1 / (x + k);
  return log(z) - 0.5 / z - series - choose(is_shifted, sum, 0);
}

// Computes digamma: infinite at 0, with a sign by the zero's sign, and NaN at whole numbers below 0.
Expression digamma(const Expression& x) {
  const Expression positive = digamma_of_positive(reflected(x));
  const Expression found = choose(is_less(x, 0.5), positive - cotangent(x) * M_PI, positive);
  const Expression is_pole = compare(OperationCode::LOGICAL_AND, is_less(x, 0), is_equal(from_whole(x), 0));
  const Expression with_poles = choose(is_pole, std::numeric_limits<double>::quiet_NaN(), found);
  return choose(is_equal(x, 0), -1 / x, with_poles);
}

Expression whole_power(const Expression& x, int64_t exponent) {
  Expression result = x;
  for (int64_t i = 1; i < exponent; ++i) result = result * x;
  return result;
}

// Computes the sum of 1 / (x + k)^s over all k >= 0, for x >= 1/2, by the Euler-Maclaurin formula.
Expression zeta_of_positive(const Expression& x, int64_t s) {
  constexpr double kBernoulli[] = {1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600, 1.0 / 47900160};
  const auto order = static_cast<double>(s);
  const double border = kShift + order;
  const Expression is_shifted = is_less(x, border);
  const Expression z = choose(is_shifted, x + border, x);
  const Expression inverse = 1 / z;
  std::vector<double> series{0.5};
  double rising = order;  // s (s + 1) ... (s + 2k)
  for (int k = 0; k < 5; ++k) {
    series.insert(series.end(), {kBernoulli[k] * rising, 0});
    rising *= (order + 2 * k + 1) * (order + 2 * k + 2);
  }
  series.pop_back();
  const Expression power = whole_power(inverse, s - 1);
  const Expression tail = power * (polynomial(inverse, series) * inverse + 1 / (order - 1));
  Expression sum = whole_power(1 / x, s);
  for (int k = 1; k < static_cast<int>(border); ++k) sum = sum + whole_power(1 / (x + k), s);
  return tail + choose(is_shifted, sum, 0);
}

// Returns the coefficients of the n-th derivative of cot(x) as a polynomial in cot(x): each derivative is the
// derivative of the previous polynomial times -(1 + cot^2). All have the same sign, so that poles stay infinite.
std::vector<double> cotangent_derivative(int64_t n) {
  std::vector<double> coefficients{0, 1};
  for (int64_t i = 0; i < n; ++i) {
    std::vector<double> next(coefficients.size() + 1);
    for (size_t power = 1; power < coefficients.size(); ++power) {
      const double factor = static_cast<double>(power) * coefficients[power];
      next[power - 1] -= factor;
      next[power + 1] -= factor;
    }
    coefficients = next;
  }
  return coefficients;
}

constexpr int64_t kHighestOrder = 8;  // the sum has as many terms of as many factors

std::vector<ValueType> polygamma_type(const OpArguments& args) {
  const int64_t n = args.integer("n");
  args.require(n >= 0 && n <= kHighestOrder, fmt::format("n = {}", n), fmt::format("0 to {}", kHighestOrder));
  return formula_type(args);
}

void lower_polygamma(OpContext& ctx) {
  const int64_t n = ctx.integer("n");
  const Expression x = argument_as(ctx, "self", at::kFloat);
  if (n == 0) return digamma(x).set_output();
  const double sign = n % 2 == 0 ? 1 : -1;
  const Expression positive = zeta_of_positive(reflected(x), n + 1) * (-sign * std::tgamma(static_cast<double>(n + 1)));
  const Expression waves =
      polynomial(cotangent(x), cotangent_derivative(n)) * std::pow(M_PI, static_cast<double>(n + 1));
  choose(is_less(x, 0.5), positive * sign - waves, positive).set_output();
}

constexpr int64_t kMostFactors = 16;

std::vector<ValueType> mvlgamma_type(const OpArguments& args) {
  const int64_t p = args.integer("p");
  args.require(p >= 1 && p <= kMostFactors, fmt::format("p = {}", p), fmt::format("1 to {}", kMostFactors));
  return formula_type(args);
}

void lower_mvlgamma(OpContext& ctx) {
  const int64_t p = ctx.integer("p");
  const Expression x = argument_as(ctx, "self", at::kFloat);
  Expression sum = lgamma(x) + static_cast<double>(p * (p - 1)) * 0.25 * std::log(M_PI);
  for (int64_t i = 1; i < p; ++i) sum = sum + lgamma(x - static_cast<double>(i) * 0.5);
  sum.set_output();
}

}  // namespace

OpRules gamma_rules() {
  const char* note = "within 2e-6";
  return {
      {"aten::lgamma(Tensor self) -> Tensor", 3, note, formula_type, lower_formula<lgamma>, kUnprovedRows},
      {"aten::digamma(Tensor self) -> Tensor", 3, note, formula_type, lower_formula<digamma>, kUnprovedRows},
      {"aten::polygamma(int n, Tensor self) -> Tensor", 3, "within 2e-6; n up to 8", polygamma_type, lower_polygamma,
       kUnprovedRows},
      {"aten::mvlgamma(Tensor self, int p) -> Tensor", 3, "within 2e-6; p up to 16", mvlgamma_type, lower_mvlgamma,
       kUnprovedRows},
  };
}

}  // namespace nnapi_convert
