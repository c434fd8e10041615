// SPDX-License-Identifier: BSD-3-Clause
// Operators that draw random numbers. They have PyTorch's distributions but other numbers: each context begins with the
// same state at each start of the app.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "lib/program/arguments.h"
#include "lib/program/operator_table.h"
#include "lib/program/ordering.h"

namespace nnapi_shim::program {

namespace {

// Returns 64 random bits: a counter whose bits are mixed (SplitMix64).
uint64_t draw_bits(Context& context) {
  uint64_t bits = context.random_state += 0x9e3779b97f4a7c15U;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
  return bits ^ (bits >> 31);
}

// Returns a number from 0 on, below 1; as float32, too, it is below 1.
double draw_uniform(Context& context) {
  return static_cast<double>(draw_bits(context) >> 40) * 0x1p-24;
}

// Returns a number above 0 and at most 1.
double draw_positive(Context& context) {
  return static_cast<double>((draw_bits(context) >> 11) + 1) * 0x1p-53;
}

double draw_normal(Context& context) {
  constexpr double kTurn = 6.283185307179586;
  const double radius = std::sqrt(-2 * std::log(draw_positive(context)));
  return radius * std::cos(kTurn * draw_uniform(context));
}

// Returns a whole number from `low` on, below `high`.
int64_t draw_int(Context& context, int64_t low, int64_t high) {
  const uint64_t count = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  return static_cast<int64_t>(static_cast<uint64_t>(low) + draw_bits(context) % count);
}

// Calls draw() for each element.
template <typename Draw>
void fill_by(const Tensor& tensor, const Draw& draw) {
  Cursor cursor;
  cursor.start(tensor);
  const int64_t count = tensor.numel();
  for (int64_t i = 0; i < count; ++i) {
    const auto value = draw();
    cursor.write(1, std::is_same_v<decltype(draw()), int64_t> ? Compute::kInt : Compute::kDouble, &value);
  }
}

enum class Distribution { kUniform, kNormal };

bool fill_real(Call& call, const Tensor& tensor, Distribution distribution, double first, double second) {
  if (!need_floating(call, tensor)) return false;
  Context& context = call.context;
  if (distribution == Distribution::kNormal) {
    if (!(second >= 0)) return context.fail("a standard deviation of %g, needs 0 or more", second);
    fill_by(tensor, [&] { return first + second * draw_normal(context); });
    return true;
  }
  if (!(first <= second)) return context.fail("uniform numbers from %g to %g", first, second);
  fill_by(tensor, [&] { return first + (second - first) * draw_uniform(context); });
  return true;
}

// Runs rand and randn; the arguments are sizes, then the dtype.
template <Distribution kDistribution>
bool random_of_sizes(Call& call) {
  int64_t sizes[kMostAxes];
  uint32_t rank;
  ScalarType dtype;
  if (!ints_at(call, 0, kMostAxes, sizes, &rank) || !dtype_at(call, 1, ScalarType::kFloat32, &dtype)) return false;
  Tensor* tensor = make_tensor(call.context.pool, dtype, rank, sizes);
  return give(call, 0, tensor) && fill_real(call, *tensor, kDistribution, 0, 1);
}

template <Distribution kDistribution>
bool random_like(Call& call) {
  Tensor* like;
  ScalarType dtype;
  if (!tensor_at(call, 0, &like) || !dtype_at(call, 1, like->dtype, &dtype)) return false;
  Tensor* tensor = make_tensor_like(call.context.pool, dtype, like->rank, like->sizes, *like);
  return give(call, 0, tensor) && fill_real(call, *tensor, kDistribution, 0, 1);
}

// Runs normal_ with mean and deviation, and uniform_ with least and most.
template <Distribution kDistribution>
bool random_in_place(Call& call) {
  Tensor* tensor;
  double first, second;
  if (!tensor_at(call, 0, &tensor) || !number_at(call, 1, &first) || !number_at(call, 2, &second)) return false;
  return need_writable(call, *tensor) && give_argument(call, 0) &&
         fill_real(call, *tensor, kDistribution, first, second);
}

bool normal_of_sizes(Call& call) {
  double mean, deviation;
  int64_t sizes[kMostAxes];
  uint32_t rank;
  ScalarType dtype;
  if (!number_at(call, 0, &mean) || !number_at(call, 1, &deviation)) return false;
  if (!ints_at(call, 2, kMostAxes, sizes, &rank) || !dtype_at(call, 4, ScalarType::kFloat32, &dtype)) return false;
  Tensor* tensor = make_tensor(call.context.pool, dtype, rank, sizes);
  return give(call, 0, tensor) && fill_real(call, *tensor, Distribution::kNormal, mean, deviation);
}

// Runs randint; the arguments are the least number (with `has_low`), the most, sizes and dtype.
bool run_randint(Call& call, bool has_low) {
  int64_t low = 0, high;
  int64_t sizes[kMostAxes];
  uint32_t rank;
  ScalarType dtype;
  const uint32_t at = has_low ? 1 : 0;
  if ((has_low && !int_at(call, 0, &low)) || !int_at(call, at, &high)) return false;
  if (!ints_at(call, at + 1, kMostAxes, sizes, &rank) || !dtype_at(call, at + 2, ScalarType::kInt64, &dtype))
    return false;
  if (low >= high) {
    return call.context.fail("whole numbers from %lld to %lld", static_cast<long long>(low),
                             static_cast<long long>(high));
  }
  Tensor* tensor = make_tensor(call.context.pool, dtype, rank, sizes);
  if (!give(call, 0, tensor)) return false;
  fill_by(*tensor, [&] { return draw_int(call.context, low, high); });
  return true;
}
template <bool kHasLow>
bool randint(Call& call) {
  return run_randint(call, kHasLow);
}

bool randperm(Call& call) {
  int64_t count;
  ScalarType dtype;
  if (!int_at(call, 0, &count) || !dtype_at(call, 1, ScalarType::kInt64, &dtype)) return false;
  const Value order(make_tensor(call.context.pool, ScalarType::kInt64, 1, &count));
  if (order.is_none()) return call.context.fail_memory();
  auto* numbers = order.tensor().data<int64_t>();
  for (int64_t i = 0; i < count; ++i) numbers[i] = i;
  for (int64_t i = count - 1; i > 0; --i) std::swap(numbers[i], numbers[draw_int(call.context, 0, i + 1)]);
  return give(call, 0, converted_tensor(call.context.pool, order.tensor(), dtype));
}

bool fail_share(Call& call, double share) {
  return call.context.fail("a probability of %g, needs 0 to 1", share);
}

// Runs bernoulli: ones with the probabilities in the tensor.
bool bernoulli(Call& call) {
  Tensor* shares;
  if (!tensor_at(call, 0, &shares) || !need_floating(call, *shares)) return false;
  Tensor* tensor = make_tensor_like(call.context.pool, shares->dtype, shares->rank, shares->sizes, *shares);
  if (!give(call, 0, tensor)) return false;
  Cursor from, to;
  from.start(*shares);
  to.start(*tensor);
  const int64_t count = shares->numel();
  for (int64_t i = 0; i < count; ++i) {
    double share;
    from.read(1, Compute::kDouble, &share);
    if (!(share >= 0 && share <= 1)) return fail_share(call, share);
    const double value = draw_uniform(call.context) < share ? 1 : 0;
    to.write(1, Compute::kDouble, &value);
  }
  return true;
}

// Runs bernoulli.p and bernoulli_.float: ones with one probability.
bool run_bernoulli_of(Call& call, bool in_place) {
  Tensor* tensor;
  double share;
  if (!tensor_at(call, 0, &tensor) || !number_at(call, 1, &share)) return false;
  if (!(share >= 0 && share <= 1)) return fail_share(call, share);
  if (in_place) {
    if (!need_writable(call, *tensor) || !give_argument(call, 0)) return false;
  } else {
    tensor = make_tensor_like(call.context.pool, tensor->dtype, tensor->rank, tensor->sizes, *tensor);
    if (!give(call, 0, tensor)) return false;
  }
  fill_by(*tensor, [&]() -> int64_t { return draw_uniform(call.context) < share ? 1 : 0; });
  return true;
}
template <bool kInPlace>
bool bernoulli_of(Call& call) {
  return run_bernoulli_of(call, kInPlace);
}

// Reads a row's weights, and counts those above 0.
bool read_weights(Call& call, Cursor& cursor, int64_t categories, double* weights, int64_t* above_0) {
  double sum = 0;
  cursor.read(static_cast<size_t>(categories), Compute::kDouble, weights);
  for (int64_t i = 0; i < categories; ++i) {
    if (!(weights[i] >= 0)) {
      return call.context.fail("multinomial() with a weight of %g, needs 0 or more", weights[i]);
    }
    if (weights[i] > 0) ++*above_0;
    sum += weights[i];
  }
  return std::isfinite(sum) || call.context.fail("multinomial() of weights whose sum is %g", sum);
}

// Draws categories of one row that may come again. The weights become their sums.
void draw_with_replacement(Context& context, double* weights, int64_t categories, int64_t samples, int64_t* drawn) {
  for (int64_t i = 1; i < categories; ++i) weights[i] += weights[i - 1];
  for (int64_t i = 0; i < samples; ++i) {
    const double place = draw_positive(context) * weights[categories - 1];
    drawn[i] = std::lower_bound(weights, weights + categories, place) - weights;
  }
}

// Draws categories of one row, each at most once: those whose waiting times, with the weights as rates, are shortest.
void draw_without_replacement(Context& context, const double* weights, int64_t categories, int64_t samples,
                              OrderEntry* entries, int64_t* drawn) {
  for (int64_t i = 0; i < categories; ++i) {
    const double time =
        weights[i] > 0 ? -std::log(draw_positive(context)) / weights[i] : std::numeric_limits<double>::infinity();
    entries[i] = {order_key(time), i};
  }
  order_entries(entries, categories);
  for (int64_t i = 0; i < samples; ++i) drawn[i] = entries[i].number;
}

bool multinomial(Call& call) {
  Tensor* weights;
  int64_t samples;
  bool again;
  if (!tensor_at(call, 0, &weights) || !int_at(call, 1, &samples) || !bool_at(call, 2, &again)) return false;
  if (!need_floating(call, *weights)) return false;
  if (weights->rank != 1 && weights->rank != 2) {
    return call.context.fail("multinomial() of %u axes, needs 1 or 2", weights->rank);
  }
  const int64_t categories = weights->sizes[weights->rank - 1], rows = weights->rank == 2 ? weights->sizes[0] : 1;
  if (samples < 1 || (!again && samples > categories)) {
    return call.context.fail("multinomial() draws %lld of %lld categories", static_cast<long long>(samples),
                             static_cast<long long>(categories));
  }
  const int64_t sizes[2] = {weights->rank == 2 ? rows : samples, samples};
  Tensor* result = make_tensor(call.context.pool, ScalarType::kInt64, weights->rank, sizes);
  const Value row_weights(make_tensor(call.context.pool, ScalarType::kFloat64, 1, &categories));
  OrderEntry* entries = nullptr;
  const Value memory(make_entries(call, categories, &entries));
  if (!give(call, 0, result)) return false;
  if (row_weights.is_none() || memory.is_none()) return call.context.fail_memory();
  auto* of_row = row_weights.tensor().data<double>();
  Cursor cursor;
  cursor.start(*weights);
  for (int64_t row = 0; row < rows; ++row) {
    int64_t above_0 = 0;
    if (!read_weights(call, cursor, categories, of_row, &above_0)) return false;
    if (above_0 < (again ? 1 : samples)) {
      return call.context.fail("multinomial() draws %lld of %lld categories with weights above 0",
                               static_cast<long long>(samples), static_cast<long long>(above_0));
    }
    int64_t* const drawn = result->data<int64_t>() + row * samples;
    if (again) {
      draw_with_replacement(call.context, of_row, categories, samples, drawn);
    } else {
      draw_without_replacement(call.context, of_row, categories, samples, entries, drawn);
    }
  }
  return true;
}

constexpr OperatorRow kRows[] = {
    {"aten::rand", 5, 1, random_of_sizes<Distribution::kUniform>},
    {"aten::randn", 5, 1, random_of_sizes<Distribution::kNormal>},
    {"aten::rand_like", 6, 1, random_like<Distribution::kUniform>},
    {"aten::randn_like", 6, 1, random_like<Distribution::kNormal>},
    {"aten::uniform_", 4, 1, random_in_place<Distribution::kUniform>},
    {"aten::normal_", 4, 1, random_in_place<Distribution::kNormal>},
    {"aten::normal.float_float", 8, 1, normal_of_sizes},
    {"aten::randint", 6, 1, randint<false>},
    {"aten::randint.low", 7, 1, randint<true>},
    {"aten::randperm", 5, 1, randperm},
    {"aten::bernoulli", 2, 1, bernoulli},
    {"aten::bernoulli.p", 3, 1, bernoulli_of<false>},
    {"aten::bernoulli_.float", 3, 1, bernoulli_of<true>},
    {"aten::multinomial", 4, 1, multinomial},
};

}  // namespace

const OperatorTable random_operators = operator_table<kRows>();

}  // namespace nnapi_shim::program
