// Loads TorchScript files without reading their weights: each is mapped from the file, and takes memory only from when
// it is first looked at until its tensor goes.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <string>

namespace nnapi_convert {

// As torch::jit::load of LibTorch for the CPU, with its exceptions. While tensors of the module live, the file's
// content has to stay as it is; another file may take its name. Not to be called while another thread makes tensors.
torch::jit::Module load_mapped(const std::string& path);

}  // namespace nnapi_convert
