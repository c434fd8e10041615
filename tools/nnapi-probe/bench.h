// SPDX-License-Identifier: BSD-3-Clause
// Times a file of --runtime shim on this phone, as an app without PyTorch runs it (nnapi_shim_call).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/shim/nnapi_shim.h"

namespace nnapi_probe {

// A tensor of the call: zeros, or for floats numbers between 0 and 1.
struct BenchInput {
  std::string path;  // path of the argument: "x", "images[0]"
  std::vector<int64_t> sizes;
  int32_t dtype = NNAPI_SHIM_FLOAT32;
};

struct BenchRequest {
  std::string path;
  std::vector<BenchInput> inputs;
  int warm_up = 2, runs = 20;
  nnapi_shim_options options;
};

// Reads "x=1,3,224,224" or "words=12:int64"; a number is "scale=:float64". Returns false for other texts.
bool parse_bench_input(const std::string& text, BenchInput* input);

// Runs the file, prints the times, and returns them as JSON in `json`. Returns an nnapi_shim_status:
// NNAPI_SHIM_BAD_MODEL for the file, NNAPI_SHIM_BAD_ARGUMENT for the inputs.
int run_bench(const BenchRequest& request, std::string* json, nnapi_shim_error* error);

}  // namespace nnapi_probe
