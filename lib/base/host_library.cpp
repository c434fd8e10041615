// SPDX-License-Identifier: BSD-3-Clause
// Finds the host's NNAPI.
#include "lib/base/host_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

#include "lib/base/error.h"
#include "lib/base/input_file.h"
#include "lib/base/own_library.h"

namespace nnapi_convert {

std::string host_library_path() {
  if (const char* path = std::getenv("NNAPI_HOST_LIBRARY")) return path;
  return own_library_path("libneuralnetworks.so", "host");
}

void load_host_library() {
  const std::string path = host_library_path();
  const std::string problem = problem_of_library(path);
  if (problem.empty() && dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) return;
  throw ConvertError(ExitCode::kBadFile, fmt::format("can't load the host's NNAPI {}: {}", path,
                                                     problem.empty() ? dlerror() : problem.c_str()));
}

namespace {

constexpr const char* kRoundingVariable = "NNAPI_HOST_ROUNDING";

}  // namespace

HostRoundsTwice::HostRoundsTwice() {
  ::setenv(kRoundingVariable, "twice", 1);
}

HostRoundsTwice::~HostRoundsTwice() {
  ::unsetenv(kRoundingVariable);
}

}  // namespace nnapi_convert
