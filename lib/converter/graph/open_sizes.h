// Sizes that aren't known: axes of the model's inputs that are flexible, and sizes that depend on values (how many
// boxes nms keeps, how many elements a mask has). Each is a Dim of its own, equal to no other, so that nothing is
// concluded from a size that may be any number, 0 too.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "lib/ops/op_arguments.h"

namespace nnapi_convert {

// What is expected of a size that depends on values: for estimates of cost, never for types.
struct RuntimeSize {
  enum class Source {
    kNominal,  // nothing is known of it
    kBound,    // the largest that slices, topk and known sizes on the way allow
    kSamples,  // the largest in runs on samples
  };
  static constexpr int64_t kNominal = 100;
  int64_t estimate = kNominal;
  Source source = Source::kNominal;
};
// "nominal", "bound", "samples".
const char* name_of(RuntimeSize::Source source);
using RuntimeSizeList = std::vector<RuntimeSize>;

// A size that isn't known: axis `second` of input `first`, which is none of the model's for a size that depends on
// values.
using OpenSize = std::pair<int, int>;

Dim to_dim(const OpenSize& size);
// Number `number` of the sizes that depend on values, and which one it is.
OpenSize runtime_size(size_t number);
size_t number_of(const OpenSize& size);
// True if it depends on values.
bool is_runtime_size(const OpenSize& size);
// What the Dim depends on.
std::set<OpenSize> open_sizes_in(const Dim& dim);
// What is expected of a size; 1 for one of the model's inputs.
RuntimeSize expected(const OpenSize& size, const RuntimeSizeList& sizes);
// From samples.
void count_as(const OpenSize& size, int64_t count, RuntimeSizeList& sizes);
// The number for sizes as expected.
int64_t estimated(const Dim& dim, const RuntimeSizeList& sizes);

// A number, list or tensor of sizes, as the value's type has it.
c10::IValue sizes_constant(const TorchValue& value, const std::vector<int64_t>& sizes);

}  // namespace nnapi_convert
