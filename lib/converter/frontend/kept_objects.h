// SPDX-License-Identifier: BSD-3-Clause
// Finds attributes that hold objects of scripted classes, lists or dicts. A model may change these without freezing
// noticing it.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <vector>

#include "lib/converter/graph/attribute_path.h"

namespace nnapi_convert {

// Returns the paths of all attributes that hold objects of scripted classes, if forward sets attributes
// of such an object or changes their values in place; else nothing. LibTorch's freezing would make them constants.
std::vector<AttributePath> changed_objects(const torch::jit::Module& module);

// Returns the paths of the attributes that hold lists or dicts which forward changes, or values in them.
std::vector<AttributePath> changed_containers(const torch::jit::Module& module);

}  // namespace nnapi_convert
