// The arguments that a module is measured with.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <string>
#include <vector>

namespace nnapi_bench {

// The flags of the same names, as speed_benchmark_torch has them: tensors are separated by semicolons.
struct InputFlags {
  std::string input_dims;
  std::string input_type;
  std::string input_memory_format = "contiguous_format";
  bool no_inputs = false;
  int use_bundled_input = -1;  // below 0: not given
};

// Throws ConvertError (kUsage) unless the flags agree with each other.
void check_flags(const InputFlags& flags);

// Tensors filled with ones, or the bundled inputs of this number. Throws ConvertError (kUsage) where the module has
// none of this number.
std::vector<c10::IValue> make_inputs(const InputFlags& flags, const torch::jit::Module& module,
                                     const std::string& path);

}  // namespace nnapi_bench
