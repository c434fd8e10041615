// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/emit/call_sizes.h"

#include <map>
#include <utility>

#include "lib/converter/graph/open_sizes.h"

namespace nnapi_convert {
namespace {

using SizeValues = std::map<OpenSize, int64_t>;

CallSizes lookup(SizeValues sizes) {
  return [sizes = std::move(sizes)](int input, int axis) {
    const auto found = sizes.find({input, axis});
    return found == sizes.end() ? usual_open_size(input, axis) : found->second;
  };
}

SizeValues usual_sizes(const ModuleInterface& interface) {
  SizeValues sizes;
  for (const SizeCondition& condition : interface.conditions) {
    const auto own = condition.left.input_size();
    if (!own) continue;
    const SizeRange range = range_of(condition.left, interface.conditions);
    sizes[*own] = range.nearest(usual_open_size(own->first, own->second));
  }
  return sizes;
}

// Returns the sizes of the exported program's own example.
SizeValues example_sizes(const ModuleInterface& interface, const LoadedModel& loaded) {
  SizeValues sizes;
  for (size_t i = 0; i < interface.inputs.size(); ++i) {
    const ExportedTensor* stated = find_tensor(loaded.stated, interface.inputs[i].name);
    for (size_t axis = 0; stated != nullptr && axis < stated->sizes.size(); ++axis) {
      sizes[{static_cast<int>(i), static_cast<int>(axis)}] = stated->sizes[axis].example;
    }
  }
  return sizes;
}

}  // namespace

CallSizes call_sizes_of(const ModuleInterface& interface, const LoadedModel& loaded) {
  CallSizes usual = lookup(usual_sizes(interface));
  return all_hold(interface.conditions, usual) || loaded.stated.empty() ? usual
                                                                        : lookup(example_sizes(interface, loaded));
}

}  // namespace nnapi_convert
