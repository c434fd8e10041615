// SPDX-License-Identifier: BSD-3-Clause
// RANDOM_MULTINOMIAL.
#include <algorithm>
#include <random>

#include "lib/host_runtime/kernels.h"
#include "lib/host_runtime/recurrent.h"

namespace nnapi_convert::host {
namespace {

std::mt19937_64 generator_of(const OpContext& context) {
  const Dims seeds = context.integers("seeds");
  if (std::any_of(seeds.begin(), seeds.end(), [](int64_t seed) { return seed != 0; })) {
    std::seed_seq sequence(seeds.begin(), seeds.end());
    return std::mt19937_64(sequence);
  }
  std::random_device device;
  std::seed_seq sequence{device(), device()};
  return std::mt19937_64(sequence);
}

}  // namespace

void random_multinomial_rule(OpContext& context) {
  require_dims(context, "seeds", {2});
  const int64_t samples = context.integer("sample_count");
  if (samples < 1) context.refuse("sample_count", "{} found, at least 1 needed", samples);
  const Dims& input = context.dims("input");
  if (input[1] == 0) context.refuse("input", "0 classes found, at least 1 needed");
  context.set_output({input[0], samples});
}

void random_multinomial(OpContext& context) {
  const Dims& output = context.dims("output");
  const at::Tensor sums = at::softmax(context.real("input").to(at::kDouble), 1).cumsum(1);
  const int64_t classes = sums.size(1);
  at::Tensor samples = at::empty(output, at::TensorOptions(at::kInt));
  int32_t* to = samples.data_ptr<int32_t>();
  std::mt19937_64 generator = generator_of(context);
  for (int64_t row = 0; row < output[0]; ++row) {
    const double* begin = sums.data_ptr<double>() + row * classes;
    if (!(begin[classes - 1] > 0)) context.refuse("input", "row {} has no probabilities: finite numbers needed", row);
    // Rounding may make the sum of all probabilities differ from 1.
    std::uniform_real_distribution<double> distribution(0, begin[classes - 1]);
    for (int64_t i = 0; i < output[1]; ++i) {
      const auto found = std::upper_bound(begin, begin + classes, distribution(generator)) - begin;
      *to++ = static_cast<int32_t>(std::min(found, classes - 1));
    }
  }
  context.put(samples);
}

}  // namespace nnapi_convert::host
