// SPDX-License-Identifier: BSD-3-Clause
// The operators of Android's PyTorch 1.13.1. A program that is built on a later LibTorch reads and runs more of them,
// and must not write them.
#pragma once

#include <ATen/core/operator_name.h>

#include <vector>

#include "lib/base/folder.h"

namespace nnapi_convert {

// False for an operator of LibTorch that 1.13.1 lacks. Always true in a program built on 1.13.
bool is_androids_operator(const c10::OperatorName& name);

// Returns operators_1_13.txt: a line for each operator of 1.13.1. torch._C._jit_get_all_schemas() of 1.13.1 lists them.
const std::vector<FolderFile>& operators_of_1_13();

}  // namespace nnapi_convert
