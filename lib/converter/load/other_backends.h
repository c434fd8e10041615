// SPDX-License-Identifier: BSD-3-Clause
// Models with parts that were prepared for another backend (Vulkan, Metal, Core ML), or for NNAPI by PyTorch itself.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <string>

#include "lib/converter/load/model_archive.h"

namespace nnapi_convert {

// Returns the message for a file that can't be loaded for a class that this LibTorch lacks; empty for other errors.
std::string missing_class(const std::string& message);

// Throws ConvertError (kBadFile) for a file whose weights torch.jit.optimize_for_inference put into oneDNN's form:
// torch.jit.save leaves them out.
void check_has_own_weights(ModelArchive& archive);

// Throws ConvertError (kNotConvertible) for a module with parts for another backend.
void check_no_other_backend(const torch::jit::Module& module, const std::string& path);

}  // namespace nnapi_convert
