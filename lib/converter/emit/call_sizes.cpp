// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/emit/call_sizes.h"

#include <algorithm>
#include <map>

#include "lib/converter/graph/open_sizes.h"

namespace nnapi_convert {

CallSizes call_sizes_of(const ModuleInterface& interface, const LoadedModel& loaded) {
  std::map<OpenSize, int64_t> sizes;
  for (size_t i = 0; i < interface.inputs.size(); ++i) {
    const ExportedTensor* stated = find_tensor(loaded.stated, interface.inputs[i].name);
    if (stated == nullptr || stated->sizes.size() != interface.inputs[i].type.rank()) continue;
    for (size_t axis = 0; axis < stated->sizes.size(); ++axis) {
      const ExportedTensor::Size& range = stated->sizes[axis];
      const OpenSize own{static_cast<int>(i), static_cast<int>(axis)};
      const int64_t usual = usual_open_size(own.first, own.second);
      sizes[own] = std::max(range.least(), std::min(usual, range.max.value_or(usual)));
    }
  }
  return [sizes](int input, int axis) {
    const auto found = sizes.find({input, axis});
    return found == sizes.end() ? usual_open_size(input, axis) : found->second;
  };
}

}  // namespace nnapi_convert
