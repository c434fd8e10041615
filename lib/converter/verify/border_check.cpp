// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/verify/border_check.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "lib/base/error.h"

namespace nnapi_convert {
namespace {

constexpr double kMillionth = 1e-6;
constexpr double kNumberForNan = 0.5;
constexpr double kMoreRounding = 10;  // sums of tiny and large numbers round more than ordinary ones

bool is_float(const at::Tensor& tensor) {
  return c10::isFloatingType(tensor.scalar_type());
}

// Describes the first integer or bool that differs; empty if none does.
std::string integer_problem(const at::Tensor& expected, const at::Tensor& found) {
  const at::Tensor one = expected.reshape({-1}), other = found.reshape({-1});
  const at::Tensor wrong = one.ne(other).nonzero();
  if (wrong.numel() == 0) return "";
  const int64_t place = wrong[0].item().toLong();
  return fmt::format("{} found, {} needed", other[place].item().toLong(), one[place].item().toLong());
}

std::string float_problem(const at::Tensor& expected, const at::Tensor& found, double tolerance) {
  const at::Tensor one = expected.to(at::kDouble), other = found.to(at::kDouble);
  const at::Tensor finite = one.isfinite();
  const at::Tensor same = one.eq(other).logical_or(one.isnan().logical_and(other.isnan()));
  if (finite.logical_not().logical_and(same.logical_not()).any().item().toBool()) {
    return "another value where the original gives an infinite one or NaN";
  }
  const at::Tensor values = one.masked_select(finite);
  if (values.numel() == 0) return "";
  const double range = (values.max() - values.min()).item().toDouble();
  const double scale = range > 0 ? range : std::max(values.abs().max().item().toDouble(), 1.0);
  const double error = (other.masked_select(finite) - values).abs().max().item().toDouble();
  return error <= tolerance * scale ? "" : fmt::format("off by {:.3g} of the range", error / scale);
}

std::string problem_of(const at::Tensor& expected, const at::Tensor& found, double tolerance) {
  if (expected.scalar_type() != found.scalar_type()) return "another dtype";
  if (expected.sizes() != found.sizes()) return "another shape";
  if (expected.numel() == 0 || expected.is_quantized() || expected.is_complex()) return "";
  return is_float(expected) ? float_problem(expected, found, tolerance) : integer_problem(expected, found);
}

struct Problem {
  std::string text;
  bool is_of_floats = true;
};

std::optional<Problem> problem_of(const Tensors& expected, const Tensors& found, double tolerance) {
  if (expected.size() != found.size()) return Problem{"another number of tensors", false};
  std::optional<Problem> first;
  for (size_t i = 0; i < expected.size(); ++i) {
    const std::string text = problem_of(expected[i], found[i], tolerance);
    if (text.empty()) continue;
    if (!first) first = Problem{fmt::format("output {}: {}", i, text), true};
    first->is_of_floats = first->is_of_floats && is_float(expected[i]);
  }
  return first;
}

Values copies(const Values& values) {
  return with_tensors(values, [](size_t, const at::Tensor& tensor) { return tensor.clone(); });
}

// Runs the model on copies of the values, as the original may write into them. Returns nothing if it fails.
std::optional<Tensors> results_of(const std::function<Tensors(const Values&)>& run, const Values& values) {
  try {
    return run(copies(values));
  } catch (const ConvertError&) {
    return std::nullopt;
  }
}

// Runs the converted model. Throws ConvertError if it fails.
Tensors converted_results(const BorderRuns& runs, const Values& values, const Tensors& expected) {
  Tensors results = runs.converted(copies(values));
  return runs.is_without_torch ? with_numbers_of(expected, std::move(results)) : results;
}

// Returns 1 or -1 for each element, without a pattern along any axis.
at::Tensor signs_like(const at::Tensor& tensor) {
  const at::Tensor numbers = at::arange(tensor.numel(), at::TensorOptions(at::kLong)).mul(7919).remainder(101);
  return numbers.remainder(2).mul(2).sub(1).to(at::kDouble).reshape(tensor.sizes());
}

// Returns the least and greatest number of an integer dtype; for int64 as far as float64 holds them.
std::pair<double, double> bounds_of(at::ScalarType dtype) {
  switch (dtype) {
    case at::kByte:
      return {0, UINT8_MAX};
    case at::kChar:
      return {INT8_MIN, INT8_MAX};
    case at::kShort:
      return {INT16_MIN, INT16_MAX};
    case at::kInt:
      return {INT32_MIN, INT32_MAX};
    default:
      return {static_cast<double>(INT64_MIN), 9223372036854774784.0};
  }
}

// Moves each element up or down by a millionth: a sum of products that all grow alike would show nothing.
Values moved_by_a_millionth(const Values& values) {
  return with_tensors(values, [](size_t, const at::Tensor& tensor) {
    if (tensor.scalar_type() == at::kBool || tensor.is_quantized()) return tensor;
    const at::Tensor moved = tensor.to(at::kDouble).mul(signs_like(tensor).mul(kMillionth).add(1));
    if (is_float(tensor)) return moved.to(tensor.scalar_type());
    const auto [least, greatest] = bounds_of(tensor.scalar_type());
    return moved.round().clamp(least, greatest).to(tensor.scalar_type());
  });
}

// True if a tiny change of the inputs changes the original's results as much: they say little of how exact the
// converted ones are.
bool is_sensitive(const BorderSample& sample, const Tensors& expected, const BorderRuns& runs) {
  const auto moved = results_of(runs.original, moved_by_a_millionth(sample.values));
  return !moved || problem_of(expected, *moved, runs.tolerance);
}

bool all_finite(const Tensors& results) {
  const auto is_finite = [](const at::Tensor& tensor) {
    return is_float(tensor) && tensor.isfinite().all().item().toBool();
  };
  return std::all_of(results.begin(), results.end(), is_finite);
}

bool exceeds_32_bits(const Tensors& results) {
  return std::any_of(results.begin(), results.end(), [](const at::Tensor& tensor) {
    if (tensor.scalar_type() != at::kLong || tensor.numel() == 0) return false;
    return tensor.max().item().toLong() > std::numeric_limits<int32_t>::max() ||
           tensor.min().item().toLong() < std::numeric_limits<int32_t>::min();
  });
}

// True if the two models differ, too, where the sample's NaN are ordinary numbers: NNAPI makes numbers of NaN, as its
// RELU does.
bool differ_without_nan(const BorderSample& sample, const BorderRuns& runs, double tolerance) {
  const Values values = with_tensors(sample.values, [](size_t, const at::Tensor& tensor) {
    return is_float(tensor) ? tensor.masked_fill(tensor.isnan(), kNumberForNan) : tensor;
  });
  const auto expected = results_of(runs.original, values);
  if (!expected || !all_finite(*expected)) return false;
  try {
    return problem_of(*expected, converted_results(runs, values, *expected), tolerance).has_value();
  } catch (const ConvertError&) {
    return false;
  }
}

bool has_infinite_floats(const Tensors& results) {
  return std::any_of(results.begin(), results.end(), [](const at::Tensor& tensor) {
    return is_float(tensor) && !tensor.isfinite().all().item().toBool();
  });
}

// Returns false for a difference that comes from NNAPI's dtypes or rounding, or that is between values that mean
// nothing. `found` is nothing where the converted model fails.
bool is_fault(const BorderSample& sample, const Tensors& expected, const std::optional<Tensors>& found,
              const Problem& problem, const BorderRuns& runs, double tolerance) {
  const bool converted_runs = found.has_value();
  // Infinite results come from inputs that mean nothing, as of a mask that is multiplied by the lowest float: only 0
  // and 1 mean something.
  if (converted_runs && problem.is_of_floats && has_infinite_floats(expected)) return false;
  if (converted_runs && sample.is_float && runs.orders_sums) return false;
  // An approximation changes a large sum a little, which takes a sigmoid of it from 0 to 1.
  const bool may_be_approximate = runs.is_approximate && sample.is_float && problem.is_of_floats;
  if (converted_runs && may_be_approximate && !has_infinite_floats(*found)) return false;
  if (sample.is_infinite) {
    return converted_runs && all_finite(expected) && differ_without_nan(sample, runs, tolerance);
  }
  return !sample.is_wide && !exceeds_32_bits(expected);
}

}  // namespace

std::vector<BorderFinding> check_borders(const std::vector<BorderSample>& samples, int first, const BorderRuns& runs) {
  std::vector<BorderFinding> findings;
  for (size_t i = 0; i < samples.size(); ++i) {
    const BorderSample& sample = samples[i];
    const auto expected = results_of(runs.original, sample.values);
    if (!expected) continue;
    std::optional<Problem> problem;
    std::optional<Tensors> found;
    const double tolerance = runs.tolerance * (sample.is_float ? kMoreRounding : 1);
    try {
      found = converted_results(runs, sample.values, *expected);
      problem = problem_of(*expected, *found, tolerance);
    } catch (const ConvertError& error) {
      problem = Problem{error.what(), false};
    }
    if (!problem) continue;
    const bool may_be_rounding = problem->is_of_floats || sample.is_float;
    if (may_be_rounding && !sample.is_infinite && is_sensitive(sample, *expected, runs)) continue;
    findings.push_back({fmt::format("sample {} ({})", first + static_cast<int>(i), sample.name), problem->text,
                        is_fault(sample, *expected, found, *problem, runs, tolerance)});
  }
  return findings;
}

}  // namespace nnapi_convert
