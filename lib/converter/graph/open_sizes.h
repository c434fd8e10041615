// SPDX-License-Identifier: BSD-3-Clause
// Open sizes: the flexible axes of the model's inputs, and sizes that depend on values (how many boxes nms keeps, how
// many elements a mask selects). Each open size is a Dim that equals no other Dim, as it may be any number, even 0.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "lib/ops/op_arguments.h"

namespace nnapi_convert {

// The estimate of a size that depends on values. Estimates of cost use it; types never do.
struct RuntimeSize {
  enum class Source {
    kNominal,  // nothing is known of the size
    kBound,    // the largest size that slices, topk and known sizes before it allow
    kSamples,  // the largest size in runs on samples
  };
  static constexpr int64_t kNominal = 100;
  int64_t estimate = kNominal;
  Source source = Source::kNominal;
};
// Returns "nominal", "bound" or "samples".
const char* name_of(RuntimeSize::Source source);
using RuntimeSizeList = std::vector<RuntimeSize>;

// An open size: axis `second` of input `first`. For a size that depends on values, `first` is no input of the model.
using OpenSize = std::pair<int, int>;

Dim to_dim(const OpenSize& size);
// Return the open size for number `number` of the sizes that depend on values, and the number of such an open size.
OpenSize runtime_size(size_t number);
size_t number_of(const OpenSize& size);
// True if the size depends on values.
bool is_runtime_size(const OpenSize& size);
// Returns the open sizes that the Dim depends on.
std::set<OpenSize> open_sizes_in(const Dim& dim);
// True if the Dim depends on a size that depends on values.
bool is_of_values(const Dim& dim);
// Returns the estimate of a size; of an axis of the model's inputs the nominal one, and 1 for the first, the batch.
RuntimeSize expected(const OpenSize& size, const RuntimeSizeList& sizes);
// Records that the size was `count` in a run on samples.
void count_as(const OpenSize& size, int64_t count, RuntimeSizeList& sizes);
// Returns the Dim's value when each open size has its estimate.
int64_t estimated(const Dim& dim, const RuntimeSizeList& sizes);

// Returns the sizes as a number, list or tensor, by the value's type.
c10::IValue sizes_constant(const TorchValue& value, const std::vector<int64_t>& sizes);

}  // namespace nnapi_convert
