// The TorchScript source of what a converted module does with arguments that are no tensors.
#pragma once

#include <string>

#include "lib/serialize/argument_tree.h"

namespace nnapi_convert {

// A method of the class `self` that gives all leaves as a tuple, and raises for arguments that aren't built as the
// trees are.
std::string flatten_method(const std::string& self, const ForwardArguments& arguments);
constexpr const char* kFlattenMethod = "flatten_arguments";

// "Tuple[List[Tensor], Optional[Tensor]]": one bundled input.
std::string bundled_type(const ForwardArguments& arguments);

}  // namespace nnapi_convert
