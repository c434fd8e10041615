// SPDX-License-Identifier: BSD-3-Clause
// LSH_PROJECTION and HASHTABLE_LOOKUP.
#include <farmhash.h>

#include <algorithm>
#include <cstring>

#include "lib/host_runtime/kernels.h"
#include "lib/host_runtime/quantization_rules.h"
#include "lib/host_runtime/recurrent.h"

namespace nnapi_convert::host {
namespace {

// The types of LSH_PROJECTION: the form of the bits of each hash function in the output.
constexpr int64_t kSparseWithoutOffset = 1;  // one number
constexpr int64_t kDense = 2;                // one element for each bit
constexpr int64_t kSparse = 3;               // one number, in a range of its own for each hash function

int64_t projection_type(const OpContext& context) {
  const int64_t type = context.integer("type");
  if (type < kSparseWithoutOffset || type > kSparse) context.refuse("type", "{} found, 1 to 3 needed", type);
  if (type == kSparse && context.feature_level() < 3) {
    context.refuse("type", "{} found, 1 or 2 needed below feature level 3", type);
  }
  return type;
}

// Returns the least number of bits that can number `count` things.
int64_t bits_for(int64_t count) {
  int64_t bits = 0;
  while (int64_t{1} << bits < count) ++bits;
  return bits;
}

// Returns one bit of a projection: the sign of the weighted sum of the items' fingerprints. The seed precedes each
// item.
int32_t projected_bit(const at::Tensor& input, const double* weights, float seed) {
  const int64_t items = input.size(0);
  const std::size_t item_bytes = input.nbytes() / static_cast<std::size_t>(items);
  std::vector<char> key(sizeof seed + item_bytes);
  std::memcpy(key.data(), &seed, sizeof seed);
  double score = 0;
  for (int64_t i = 0; i < items; ++i) {
    const auto* item = static_cast<const uint8_t*>(input.data_ptr()) + static_cast<std::size_t>(i) * item_bytes;
    if (item_bytes > 0) std::memcpy(key.data() + sizeof seed, item, item_bytes);
    const auto signature = static_cast<int64_t>(NAMESPACE_FOR_HASH_FUNCTIONS::Fingerprint64(key.data(), key.size()));
    score += weights[i] * static_cast<double>(signature);
  }
  return score > 0 ? 1 : 0;
}

// Turns bits [hash functions, bits of each] into one number for each function; the first bit is the highest.
at::Tensor signatures(const at::Tensor& bits, bool offset) {
  const int64_t functions = bits.size(0), width = bits.size(1);
  at::Tensor numbers = at::zeros({functions}, at::TensorOptions(at::kLong));
  for (int64_t i = 0; i < width; ++i) numbers.mul_(2).add_(bits.select(1, i));
  if (offset) numbers.add_(at::arange(functions, at::TensorOptions(at::kLong)).mul_(int64_t{1} << width));
  return numbers.to(at::kInt);
}

}  // namespace

void lsh_projection_rule(OpContext& context) {
  const int64_t type = projection_type(context);
  const Dims& hash = context.dims("hash");
  const int64_t bits = hash[1] + (type == kDense ? 0 : bits_for(hash[0]));
  if (bits > 32) context.refuse("hash", "dimensions {} found, at most 32 bits of signature needed", to_string(hash));
  const int64_t items = context.dims("input")[0];
  context.set_output({type == kDense ? hash[0] * hash[1] : hash[0]});
  if (context.has("weights")) require_dims(context, "weights", {items});
}

void lsh_projection(OpContext& context) {
  const at::Tensor seeds = context.real("hash").contiguous(), input = context.stored("input").contiguous();
  at::Tensor weights = at::ones({input.size(0)}, at::TensorOptions(at::kDouble));
  if (context.has("weights")) weights = context.real("weights").to(at::kDouble);
  at::Tensor bits = at::zeros(seeds.sizes(), at::TensorOptions(at::kInt));
  for (int64_t i = 0; i < seeds.numel() && input.numel() > 0; ++i) {
    bits.data_ptr<int32_t>()[i] = projected_bit(input, weights.data_ptr<double>(), seeds.data_ptr<float>()[i]);
  }
  const int64_t type = projection_type(context);
  context.put(type == kDense ? bits.reshape({-1}) : signatures(bits, type == kSparse));
}

void hashtable_lookup_rule(OpContext& context) {
  require_same_quantization(context, "values", "output");
  require_quantization(context, "hits", 1, 0);
  Dims output = context.dims("values");
  require_dims(context, "keys", {output[0]});
  output[0] = context.dims("lookups")[0];
  context.set_output(output, 0);
  context.set_output({output[0]}, 1);
  const Dims keys = context.integers("keys");
  const auto falling = std::is_sorted_until(keys.begin(), keys.end());
  if (falling != keys.end()) context.refuse("keys", "{} after {} found, ascending ones needed", *falling, falling[-1]);
}

void hashtable_lookup(OpContext& context) {
  const Dims keys = context.integers("keys"), lookups = context.integers("lookups");
  const at::Tensor values = context.stored("values");
  // A key that is not found gives zero bytes, whatever the zero point.
  at::Tensor output = at::zeros(context.dims("output"), values.options());
  at::Tensor hits = at::zeros(context.dims("hits"), at::TensorOptions(at::kByte));
  for (std::size_t i = 0; i < lookups.size(); ++i) {
    const auto found = std::lower_bound(keys.begin(), keys.end(), lookups[i]);
    if (found == keys.end() || *found != lookups[i]) continue;
    output[static_cast<int64_t>(i)].copy_(values[found - keys.begin()]);
    hits.data_ptr<uint8_t>()[i] = 1;
  }
  context.put(output, 0);
  context.put(hits, 1);
}

}  // namespace nnapi_convert::host
