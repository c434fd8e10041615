// Attributes with objects of scripted classes, which a model may change where freezing sees no change.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <string>
#include <vector>

namespace nnapi_convert {

// The paths ("layer.state") of all attributes that hold objects of scripted classes, if forward sets attributes of such
// an object, or changes what they hold. LibTorch's freezing would make constants of these.
std::vector<std::string> changed_objects(const torch::jit::Module& module);

}  // namespace nnapi_convert
