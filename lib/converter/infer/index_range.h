// Which values an input may have where the model reads it as indices: of rows of a table, or of an axis.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "lib/converter/load/load.h"
#include "lib/ops/op_arguments.h"

namespace nnapi_convert {

struct IndexRange {
  static constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max() / 4;
  int64_t lowest = 0;
  int64_t highest = kUnlimited;       // kUnlimited: the size isn't known
  const TorchNode* reader = nullptr;  // the first operator that takes them for indices
  bool is_cast = false;               // the model casts the input on the way there: its dtype is open

  bool has_limit() const { return highest < kUnlimited; }
};

// Nothing where no operator reads the value as indices, also by way of casts, reshapes and arithmetic with constants.
// Sizes that neither constants nor `types` tell are unknown.
std::optional<IndexRange> index_range(const TorchValue& value, const TypeMap& types);

// The ranges of forward's tensors of these names and types, for random inputs: nothing for those that may have any
// values, or of which nothing can be proved.
std::vector<std::optional<IndexRange>> index_ranges(const LoadedModel& loaded, const std::vector<std::string>& names,
                                                    const std::vector<TensorType>& types);

}  // namespace nnapi_convert
