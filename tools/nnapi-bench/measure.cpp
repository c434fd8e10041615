// SPDX-License-Identifier: BSD-3-Clause
// Loads, warms up and times a module.
#include "tools/nnapi-bench/measure.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <iostream>

#include "lib/base/error.h"
#include "tools/nnapi-bench/torch_error.h"

namespace nnapi_bench {
namespace {

using nnapi_convert::ConvertError;
using nnapi_convert::ExitCode;

double microseconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return 1e6 * static_cast<double>(time.tv_sec) + 1e-3 * static_cast<double>(time.tv_nsec);
}

class Stopwatch {
 public:
  Cost elapsed() const {
    return {microseconds(CLOCK_MONOTONIC) - wall_, microseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_};
  }

 private:
  double cpu_ = microseconds(CLOCK_PROCESS_CPUTIME_ID), wall_ = microseconds(CLOCK_MONOTONIC);
};

// Sets the modes in which PyTorch Mobile calls modules.
struct MobileGuards {
  c10::InferenceMode inference;
  torch::jit::GraphOptimizerEnabledGuard no_optimizer{false};
};

torch::jit::Module load(const std::string& path) {
  std::error_code error;
  const auto fail = [&path](const std::string& reason) {
    throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: {}", path, reason));
  };
  if (!std::filesystem::exists(path, error)) fail("no such file");
  if (std::filesystem::is_directory(path, error)) fail("it is a folder; a TorchScript file is needed");
  if (!std::filesystem::is_regular_file(path, error)) fail("it is a pipe or a device; a TorchScript file is needed");
  torch::jit::Module module;
  try {
    module = torch::jit::load(path);
  } catch (const std::exception& failure) {
    fail("PyTorch finds no TorchScript archive in it: " + message_of(failure));
  }
  if (!module.find_method("forward")) fail("the module has no forward method");
  module.eval();
  return module;
}

}  // namespace

double percentile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(values.size())));
  return values[std::max<size_t>(rank, 1) - 1];
}

Bench::Bench(const Request& request) : request_(request) {
  const MobileGuards guards;
  result_.at_start = memory_use();
  const Stopwatch watch;
  module_ = load(request.model);
  result_.load = watch.elapsed();
  result_.loaded = memory_use();
  result_.runtime = runtime_of(module_);
  configure(module_, request.shim_options);
  inputs_ = make_inputs(request.inputs, module_, request.model);
}

c10::IValue Bench::infer() {
  try {
    return module_.forward(inputs_);
  } catch (const std::exception& error) {
    throw ConvertError(ExitCode::kNotConvertible,
                       fmt::format("{} does not run: {}", request_.model, message_of(error)));
  }
}

void Bench::infer_first() {
  if (result_.first) return;
  const Stopwatch watch;
  infer();
  result_.first = watch.elapsed();
  result_.after_first = memory_use();
}

void Bench::print_output() {
  const MobileGuards guards;
  infer_first();
  std::cout << infer() << std::endl;
}

Measurement Bench::run(int threads) {
  const MobileGuards guards;
  if (threads > 0) at::set_num_threads(threads);
  infer_first();
  Measurement result = result_;
  result.threads = at::get_num_threads();
  for (int i = 1; i < request_.warmup; ++i) infer();
  std::vector<double> latencies;
  latencies.reserve(static_cast<size_t>(request_.iterations));
  const Stopwatch watch;
  for (int i = 0; i < request_.iterations; ++i) {
    const double start = microseconds(CLOCK_MONOTONIC);
    infer();
    latencies.push_back(microseconds(CLOCK_MONOTONIC) - start);
  }
  result.main_loop = watch.elapsed();
  result.latencies = std::move(latencies);
  result.shim = shim_state(module_);
  return result;
}

}  // namespace nnapi_bench
