// SPDX-License-Identifier: BSD-3-Clause
// torch_load [FILE]: loads a TorchScript file as LibTorch does and ends, without taking LibTorch down, as nnapi-convert
// does; without a file, it just starts. What bench/conversion.py holds conversions against.
#include <torch/csrc/jit/serialization/import.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "lib/converter/load/custom_operators.h"

int main(int argc, char** argv) {
  nnapi_convert::declare_custom_operators();
  try {
    if (argc > 1) std::printf("%s\n", torch::jit::load(argv[1], at::kCPU).type()->repr_str().c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "torch_load: %s\n", error.what());
    return EXIT_FAILURE;
  }
  std::fflush(nullptr);
  std::quick_exit(EXIT_SUCCESS);
}
