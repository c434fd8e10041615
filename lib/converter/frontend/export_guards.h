// SPDX-License-Identifier: BSD-3-Clause
// What torch.export took for granted of sizes: it follows one way through a model, and notes what that way asks of
// sizes as guards, Python's comparisons of sizes: "(L['x'].size()[1] % 2) == 0". PyTorch refuses a call that breaks
// one.
#pragma once

#include <string>
#include <vector>

#include "lib/converter/load/load_exported.h"
#include "lib/types/tensor_type.h"

namespace nnapi_convert {

// Returns the conditions on open sizes of the inputs that don't hold for each size, for people: "size 1 of x >= 11".
// A guard that holds at many sizes of the ranges is taken for one that always does; one that isn't understood is left
// out, and so are those with !=, of which torch.export notes many for no branch. Ranges come first, then the shortest.
// `types` are those of the inputs of these names.
std::vector<std::string> conditions_on_sizes(const std::vector<std::string>& guards,
                                             const std::vector<ExportedTensor>& stated,
                                             const std::vector<std::string>& names,
                                             const std::vector<TensorType>& types);

}  // namespace nnapi_convert
