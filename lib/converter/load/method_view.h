// SPDX-License-Identifier: BSD-3-Clause
// Methods of a model besides forward, which --method names.
#pragma once

#include <string>
#include <vector>

#include "lib/converter/load/load.h"
#include "lib/types/options.h"

namespace nnapi_convert {

// Returns the methods that the model's file has, in its order, without those that bundled inputs add.
std::vector<std::string> methods_of(const torch::jit::Module& module);

// Throws ConvertError (kBadFile) for a model without forward, which can only be converted by its methods' names.
void check_has_forward(const LoadedModel& loaded);

// Returns the model with this method in the place of forward, which all stages convert and run. Attributes that the
// file's other methods change are in `changed_elsewhere`. Throws ConvertError (kUsage) for a method that the model
// lacks.
LoadedModel as_forward(const LoadedModel& loaded, const std::string& method);

// Returns what `--input` says about each of the methods. A name may begin with the method and a point:
// encode.x; a name without is for each method with such an argument. Throws ConvertError (kUsage) for a spec that no
// method takes, and for one without a name if there are several methods.
std::vector<std::vector<InputSpec>> inputs_by_method(const torch::jit::Module& module,
                                                     const std::vector<std::string>& methods,
                                                     const std::vector<InputSpec>& inputs);

}  // namespace nnapi_convert
