// SPDX-License-Identifier: BSD-3-Clause
// Finds the range of values of an input that the model reads as indices of a table's rows or of an axis.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "lib/converter/frontend/freeze.h"
#include "lib/converter/graph/normalised_model.h"
#include "lib/converter/load/load.h"
#include "lib/ops/op_arguments.h"

namespace nnapi_convert {

struct IndexRange {
  static constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max() / 4;
  int64_t lowest = 0;
  int64_t highest = kUnlimited;       // kUnlimited: the size is unknown
  const TorchNode* reader = nullptr;  // the first operator that reads the values as indices
  bool is_cast = false;               // the model casts the input before it reads the indices: any dtype will do
  bool is_row = false;                // an index is the number of a table's row, as a word's is

  bool has_limit() const { return highest < kUnlimited; }
};

// Returns the range of a value that operators read as indices, directly or through casts, reshapes and arithmetic with
// constants; nothing for other values. Sizes that neither constants nor `types` tell are unknown.
std::optional<IndexRange> index_range(const TorchValue& value, const TypeMap& types);

// A range for each of several tensors; nothing for one that may have any values, or whose range can't be found.
using IndexRanges = std::vector<std::optional<IndexRange>>;

// Returns the ranges of forward's tensors of these names and types, for random inputs. `frozen` is that of `loaded`;
// null: it is made where it is needed.
IndexRanges index_ranges(const LoadedModel& loaded, const std::vector<std::string>& names,
                         const std::vector<TensorType>& types, const FrozenModule* frozen = nullptr);

// False for a module none of whose methods reads indices.
bool may_read_indices(const torch::jit::Module& module);
// Returns the ranges of the model's inputs, which are of these types. Infers types, and changes the graph thereby.
// Throws ConvertError where the types can't be inferred.
IndexRanges ranges_of_inputs(NormalisedModel& model, const std::vector<TensorType>& types);

}  // namespace nnapi_convert
