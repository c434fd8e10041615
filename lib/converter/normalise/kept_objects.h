// Finds attributes that hold objects of scripted classes. A model may change such objects without freezing noticing it.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <string>
#include <vector>

namespace nnapi_convert {

// Returns the paths ("layer.state") of all attributes that hold objects of scripted classes, if forward sets attributes
// of such an object or changes their values in place; else nothing. LibTorch's freezing would make them constants.
std::vector<std::string> changed_objects(const torch::jit::Module& module);

}  // namespace nnapi_convert
