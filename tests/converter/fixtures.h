// What the converter's tests share: models from testdata/models or from source, and their conversion and execution.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <string>
#include <utility>
#include <vector>

#include "lib/base/error.h"
#include "lib/converter/convert.h"

namespace nnapi_convert::test {

using Tensors = std::vector<at::Tensor>;

// Quantised operators run as on phones, and PyTorch's NNAPI loader finds the host's library. Runs once.
void use_host_nnapi();

std::string fixture_path(const std::string& name);
LoadedModel load_fixture(const std::string& name);
using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;
// A module with this forward and these attributes: `torch.NAME` are operators.
LoadedModel from_source(const std::string& source, const NamedTensors& tensors = {});

// Quiet on layouts. `inputs` as on the command line.
ConvertOptions options_for(const std::vector<std::string>& inputs, bool nhwc = true);
Conversion convert_fixture(const std::string& name, const ConvertOptions& options);
Conversion convert_fixture(const std::string& name, const ConvertOptions& options, Diagnostics& diagnostics);

// The message of the ConvertError that `call` throws, checked for its exit code; empty if it doesn't throw.
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
// The message of the exception that running throws; empty if it doesn't.
std::string run_error(const torch::jit::Module& module, const Tensors& inputs);

// N(0, 1) with a seed.
at::Tensor random_floats(const std::vector<int64_t>& sizes, uint64_t seed);
at::Tensor quantised(const at::Tensor& tensor, double scale, int64_t zero_point);
// Greatest difference of real values, over the range of `expected`. Fails where `expected` doesn't vary.
double relative_error(const at::Tensor& expected, const at::Tensor& found);

std::string read_bytes(const std::string& path);

}  // namespace nnapi_convert::test
