// SPDX-License-Identifier: BSD-3-Clause
// Handles models that were traced or written on another device than the CPU: their code names it.
#pragma once

#include <torch/csrc/jit/api/module.h>

namespace nnapi_convert {

// Puts the CPU in the place of every other device that the module's code names, such as cuda:0, and drops x.cuda():
// neither a phone nor this machine has the device.
void move_to_cpu(const torch::jit::Module& module);

}  // namespace nnapi_convert
