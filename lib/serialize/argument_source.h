// SPDX-License-Identifier: BSD-3-Clause
// Writes the TorchScript source with which a converted module takes its arguments apart.
#pragma once

#include <string>

#include "lib/serialize/argument_tree.h"

namespace nnapi_convert {

// Returns the source of a method of the class `self`. The method returns all leaves as a tuple, and raises an error for
// arguments that are not built as the trees in `arguments`.
std::string flatten_method(const std::string& self, const ForwardArguments& arguments);
constexpr const char* kFlattenMethod = "flatten_arguments";

// Returns parameters of a method, as ", x: Tensor, n: int", and the same arguments in a call, as "x, n, ".
std::string parameters_of(const ForwardArguments& arguments);
std::string names_of(const ForwardArguments& arguments);
// Returns statements that raise an error for an argument that has another value than the one in its tree.
std::string bound_checks(const ForwardArguments& arguments);

// Returns the type of one bundled input, such as "Tuple[List[Tensor], Optional[Tensor]]".
std::string bundled_type(const ForwardArguments& arguments);

}  // namespace nnapi_convert
