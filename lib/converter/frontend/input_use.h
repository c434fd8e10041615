// SPDX-License-Identifier: BSD-3-Clause
// Finds the use of a model's inputs, as far as its operators tell it: numbers of rows, masks. Made-up inputs keep to
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/converter/frontend/index_range.h"
#include "lib/converter/frontend/mask_use.h"
#include "lib/converter/load/load.h"

namespace nnapi_convert {

struct InputUse {
  std::optional<IndexRange> range = {};  // of indices
  MaskUse mask = {};
  std::vector<int64_t> compared = {};  // from compared_with()

  // True for indices that stand for words: each chooses a row of a table, and may be one that stands for padding.
  bool is_word() const { return range && range->is_row; }
};

// Returns the use of each of forward's tensors of these names and types; nothing of a tensor whose use can't be found.
std::vector<InputUse> input_uses(const LoadedModel& loaded, const std::vector<std::string>& names,
                                 const std::vector<TensorType>& types);

}  // namespace nnapi_convert
