// SPDX-License-Identifier: BSD-3-Clause
// Serves the converter's tests: loads models from testdata/models or from source, converts and runs them.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <string>
#include <utility>
#include <vector>

#include "lib/base/error.h"
#include "lib/converter/convert.h"

namespace nnapi_convert::test {

using Tensors = std::vector<at::Tensor>;

// Makes quantised operators run as on phones, and PyTorch's NNAPI loader find the host's library. Takes effect once.
void use_host_nnapi();

std::string fixture_path(const std::string& name);
LoadedModel load_fixture(const std::string& name);
using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;
// Returns a module with this forward and these tensors as attributes; `torch.NAME` are operators.
LoadedModel from_source(const std::string& source, const NamedTensors& tensors = {});

// Returns options that give no warning on layouts; `inputs` have the form of the command line.
ConvertOptions options_for(const std::vector<std::string>& inputs, bool nhwc = true);
Conversion convert_fixture(const std::string& name, const ConvertOptions& options);
Conversion convert_fixture(const std::string& name, const ConvertOptions& options, Diagnostics& diagnostics);

// Returns the message of the ConvertError that `call` throws, after a check of its exit code; empty without an error.
template <typename Call>
std::string error_of(ExitCode code, Call call) {
  try {
    call();
  } catch (const ConvertError& error) {
    return error.exit_code() == code ? error.what() : "another exit code: " + std::string(error.what());
  }
  return "";
}

c10::IValue run(const torch::jit::Module& module, const Tensors& inputs);
// Runs the module; returns the message of the exception that it throws, empty if it throws none.
std::string run_error(const torch::jit::Module& module, const Tensors& inputs);

// Returns numbers from N(0, 1) with a seed.
at::Tensor random_floats(const std::vector<int64_t>& sizes, uint64_t seed);
at::Tensor quantised(const at::Tensor& tensor, double scale, int64_t zero_point);
// Returns the greatest difference of real values divided by the range of `expected`. Fails if `expected` is constant.
double relative_error(const at::Tensor& expected, const at::Tensor& found);

std::string read_bytes(const std::string& path);

}  // namespace nnapi_convert::test
