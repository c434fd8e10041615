// SPDX-License-Identifier: BSD-3-Clause
// Reads what torch.export took for granted of sizes. It follows one way through a model, and notes what that way asks
// of sizes as guards, Python's comparisons of sizes: "(L['x'].size()[1] % 2) == 0". PyTorch refuses a call that breaks
// one.
#pragma once

#include <string>
#include <vector>

#include "lib/converter/load/load_exported.h"
#include "lib/types/size_condition.h"
#include "lib/types/tensor_type.h"

namespace nnapi_convert {

// The guards that don't hold for each size of the ranges.
struct GuardConditions {
  SizeConditions checked;         // at each call
  std::vector<std::string> told;  // those of another form, for people: "max(size 1 of x, 3) == 8"; the shortest first
};

// Returns the conditions that guards ask. A guard that holds at many sizes of the ranges is taken for one that always
// does; one that isn't understood is left out, and so are those with !=, of which torch.export notes many for no
// branch. `types` are those of the inputs of these names.
GuardConditions conditions_of(const std::vector<std::string>& guards, const std::vector<ExportedTensor>& stated,
                              const std::vector<std::string>& names, const std::vector<TensorType>& types);

}  // namespace nnapi_convert
