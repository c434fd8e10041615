// Pieces of TorchScript source that more than one emitted class has.
#pragma once

#include <string>
#include <vector>

#include "lib/serialize/module_interface.h"

namespace nnapi_convert {

// A float literal with all digits, recognisable as a float.
std::string number(double value);
// A string literal.
std::string quoted(const std::string& text);
// The tree's tuple, list or dict of elements that are given as expressions.
std::string collection(const ReturnTree& tree, const std::vector<std::string>& elements);
// "Tensor", "Tuple[Tensor, List[Tensor]]"...
std::string return_type(const ReturnTree& tree);
// The methods that torch.utils.bundled_inputs adds and speed_benchmark_torch calls; empty without a type.
std::string bundled_methods(const std::string& class_name, const std::string& bundled_type);

}  // namespace nnapi_convert
