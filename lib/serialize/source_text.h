// Writes pieces of TorchScript source for all emitted classes.
#pragma once

#include <string>
#include <vector>

#include "lib/serialize/module_interface.h"

namespace nnapi_convert {

// Returns a float literal with all digits and a point or exponent.
std::string number(double value);
// Returns a string literal.
std::string quoted(const std::string& text);
// Returns the expression of the tree's tuple, list or dict; `elements` are expressions.
std::string collection(const ReturnTree& tree, const std::vector<std::string>& elements);
// Returns the type of a tree, such as "Tensor" or "Tuple[Tensor, List[Tensor]]".
std::string return_type(const ReturnTree& tree);
// Returns the methods that torch.utils.bundled_inputs adds and speed_benchmark_torch calls; empty without a type.
std::string bundled_methods(const std::string& class_name, const std::string& bundled_type);

}  // namespace nnapi_convert
