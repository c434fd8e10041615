// Sizes that are known only as the model runs: how many boxes nms keeps, how many elements a mask has. Each is a Dim of
// its own, equal to no other, so that nothing is concluded from a size that may be any number, 0 too.
#pragma once

#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lib/ops/op_context.h"

namespace nnapi_convert {

// What is expected of such a size: for estimates of cost, never for types.
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

// Types values whose sizes depend on values. One object goes over a graph in program order.
class RuntimeSizes {
 public:
  // The types of what the node gives; nothing where they can't be told for sure. Inputs may be of unknown type, which
  // matters to few operators: zeros of an unknown number of rows has rows, and a rank.
  std::optional<std::vector<ValueType>> types_of(const TorchNode& node, const TypeMap& types);

  const RuntimeSizeList& sizes() const { return sizes_; }

  // A size of its own, for what has about as many rows as `like`.
  Dim fresh(const TorchValue* like, const TypeMap& types);
  // The same for a number that isn't known; one number is one size.
  Dim number(const TorchValue* value, const TypeMap& types);

 private:
  RuntimeSizeList sizes_;
  std::unordered_map<const TorchValue*, Dim> numbers_;
};

// A number, list or tensor of sizes, as the value's type has it.
c10::IValue sizes_constant(const TorchValue& value, const std::vector<int64_t>& sizes);

// True if the node reads a tensor or number whose sizes aren't known, or gives one from tensors of known sizes
// (nonzero, nms, a mask as index).
bool has_open_sizes(const TorchNode& node, const TypeMap& types);

}  // namespace nnapi_convert
