// SPDX-License-Identifier: BSD-3-Clause
// Relates sizes of an exported program's inputs that depend on each other, as its symbols tell.
#pragma once

#include <string>
#include <vector>

#include "lib/converter/load/load_exported.h"
#include "lib/types/options.h"
#include "lib/types/tensor_type.h"

namespace nnapi_convert {

// Expresses open sizes of one symbol by the first axis that is the symbol itself, or else by one that is factor *
// symbol + offset, which then is such a number for each call. `types` are those of the inputs of these names.
void relate_sizes(const std::vector<ExportedTensor>& stated, const std::vector<std::string>& names,
                  std::vector<TensorType>& types);

// Expresses open sizes by the names in --input, "1,3,32*n,32*n", and by the relations that a converted file records.
// `specs` are those of the inputs; null: the input has none. Throws ConvertError (kUsage) for a factor of 0 or above
// 2^20.
void relate_sizes(const std::vector<const InputSpec*>& specs, std::vector<TensorType>& types);

}  // namespace nnapi_convert
