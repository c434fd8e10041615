// SPDX-License-Identifier: BSD-3-Clause
// Reads TorchScript modules without reading their weights: each is mapped from the file, and takes memory only from
// when it is first looked at until its tensor goes.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include "lib/converter/load/model_archive.h"

namespace nnapi_convert {

// Reads the archive's module for the CPU, as torch::jit::load does, with its exceptions. Two things differ:
// convolutions of PyTorch 1.5 stay as they are written (lib/converter/load/old_convolutions.h), and damaged tables of
// source lines are left out. While tensors of the module live, the file's content has to stay as it is; another file
// may take its name.
torch::jit::Module read_module(ModelArchive& archive);

}  // namespace nnapi_convert
