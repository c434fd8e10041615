// SPDX-License-Identifier: BSD-3-Clause
// Makes sample inputs for a model whose arguments are not only tensors.
#pragma once

#include <functional>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/frontend/arguments.h"
#include "lib/converter/load/load.h"
#include "lib/serialize/module_interface.h"

namespace nnapi_convert {

// Returns a value for each leaf: for tensor number i, tensor(i); for others the value in `given` by the leaf's path, or
// else that in `example`, which has one for each leaf or none at all, or else their default. Throws ConvertError
// (kUsage), whose message tells the user to give `hint`, if a leaf has neither.
std::vector<c10::IValue> sample_leaves(const ForwardArguments& arguments,
                                       const std::function<at::Tensor(size_t)>& tensor, const std::string& hint,
                                       const std::vector<c10::IValue>& example = {}, const BoundValues& given = {});

// Returns the original's bundled inputs whose structure is that of the arguments; if there are none and `make_one`, a
// random one. Warns about bundled inputs of another structure, which are left out.
std::vector<InputTuple> bundled_arguments(const ForwardArguments& arguments, const ModuleInterface& interface,
                                          const std::vector<InputTuple>& originals, bool make_one,
                                          Diagnostics& diagnostics);

}  // namespace nnapi_convert
