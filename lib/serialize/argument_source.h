// Writes the TorchScript source with which a converted module takes its arguments apart.
#pragma once

#include <string>

#include "lib/serialize/argument_tree.h"

namespace nnapi_convert {

// Returns the source of a method of the class `self`. The method returns all leaves as a tuple, and raises an error for
// arguments that are not built as the trees in `arguments`.
std::string flatten_method(const std::string& self, const ForwardArguments& arguments);
constexpr const char* kFlattenMethod = "flatten_arguments";

// Returns the type of one bundled input, such as "Tuple[List[Tensor], Optional[Tensor]]".
std::string bundled_type(const ForwardArguments& arguments);

}  // namespace nnapi_convert
