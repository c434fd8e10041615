// SPDX-License-Identifier: BSD-3-Clause
// Makes the arguments for measuring a module.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <string>
#include <vector>

namespace nnapi_bench {

// The flags that speed_benchmark_torch has under the same names; semicolons separate tensors.
struct InputFlags {
  std::string input_dims;
  std::string input_type;
  std::string input_memory_format = "contiguous_format";
  bool no_inputs = false;
  int use_bundled_input = -1;  // below 0: not given
};

// Throws ConvertError (kUsage) unless the flags agree with each other.
void check_flags(const InputFlags& flags);

// Returns tensors filled with ones, or the bundled inputs that the flags choose. Throws ConvertError (kUsage) if the
// module has no bundled inputs of this number.
std::vector<c10::IValue> make_inputs(const InputFlags& flags, const torch::jit::Module& module,
                                     const std::string& path);

}  // namespace nnapi_bench
