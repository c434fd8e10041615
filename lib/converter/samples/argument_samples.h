// Inputs to try a model with whose arguments are no tensors only.
#pragma once

#include <functional>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/normalise/arguments.h"
#include "lib/serialize/module_interface.h"

namespace nnapi_convert {

// A value for each leaf: `tensor` gives that of the tensor with a number, others have their default. Throws
// ConvertError (kUsage) that says to give `hint` where there is none.
std::vector<c10::IValue> sample_leaves(const ForwardArguments& arguments,
                                       const std::function<at::Tensor(size_t)>& tensor, const std::string& hint);

// The original's bundled inputs that are built as the arguments are; without any, and if `make_one`, a random one.
// Warns about those that aren't and are left out.
std::vector<InputTuple> bundled_arguments(const ForwardArguments& arguments, const ModuleInterface& interface,
                                          const std::vector<InputTuple>& originals, bool make_one,
                                          Diagnostics& diagnostics);

}  // namespace nnapi_convert
