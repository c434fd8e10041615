// SPDX-License-Identifier: BSD-3-Clause
// Measures one module.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/nnapi-bench/inputs.h"
#include "tools/nnapi-bench/memory_use.h"
#include "tools/nnapi-bench/nnapi_module.h"

namespace nnapi_bench {

struct Request {
  std::string model;
  InputFlags inputs;
  std::map<std::string, std::string> shim_options;
  int warmup = 0;
  int iterations = 10;
  int threads = 0;  // 0: LibTorch chooses
  bool print_output = false;
};

// Wall-clock time, and CPU time of all threads of this process, in microseconds. The CPU time does not include drivers
// that run in other processes, as Android's drivers do.
struct Cost {
  double wall = 0, cpu = 0;
};

struct Measurement {
  Runtime runtime = Runtime::kCpu;
  int threads = 0;
  Cost load;                      // reading the file
  std::optional<Cost> first;      // the process's first inference, including building and compiling
  std::vector<double> latencies;  // latency of each inference of the main loop, in order; microseconds
  Cost main_loop;                 // all inferences of the main loop together
  std::optional<MemoryUse> at_start, loaded, after_first;
  std::optional<ShimState> shim;

  double per_iteration() const { return main_loop.wall / static_cast<double>(latencies.size()); }
  double cpu_per_iteration() const { return main_loop.cpu / static_cast<double>(latencies.size()); }
};

// Returns the nearest-rank percentile (0 < share <= 1) of at least one value.
double percentile(std::vector<double> values, double share);

// Holds one module in memory and can measure it more than once.
class Bench {
 public:
  // Loads the model. Throws ConvertError: kBadFile for a file that can't be read, kUsage for inputs or options that the
  // model does not have.
  explicit Bench(const Request& request);

  Runtime runtime() const { return result_.runtime; }
  // Prints the result of an inference; this is not the module's first inference.
  void print_output();
  // Runs the request's warm-up, which includes the module's first inference, and the iterations with this number of
  // threads. Throws ConvertError (kNotConvertible) if the model does not run.
  Measurement run(int threads);

 private:
  c10::IValue infer();
  void infer_first();

  const Request request_;
  torch::jit::Module module_;
  std::vector<c10::IValue> inputs_;
  Measurement result_;
};

}  // namespace nnapi_bench
