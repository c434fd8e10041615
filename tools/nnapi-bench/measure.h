// Measuring one module.
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
  int threads = 0;  // 0: as LibTorch chooses
  bool print_output = false;
};

// Wall-clock time, and CPU time of all of this process's threads; microseconds. Drivers that run in other processes, as
// Android's do, are not in the CPU time.
struct Cost {
  double wall = 0, cpu = 0;
};

struct Measurement {
  Runtime runtime = Runtime::kCpu;
  int threads = 0;
  Cost load;                      // reading the file
  std::optional<Cost> first;      // the first inference of the process, with building and compiling
  std::vector<double> latencies;  // of each inference of the main loop, in order; microseconds
  Cost main_loop;                 // of all of them together
  std::optional<MemoryUse> at_start, loaded, after_first;
  std::optional<ShimState> shim;

  double per_iteration() const { return main_loop.wall / static_cast<double>(latencies.size()); }
  double cpu_per_iteration() const { return main_loop.cpu / static_cast<double>(latencies.size()); }
};

// The nearest-rank percentile, 0 < share <= 1, of at least one value.
double percentile(std::vector<double> values, double share);

// One module in memory, which can be measured more than once.
class Bench {
 public:
  // Loads the model. Throws ConvertError: kBadFile for a file that can't be read, kUsage for inputs or options that it
  // does not have.
  explicit Bench(const Request& request);

  Runtime runtime() const { return result_.runtime; }
  // Prints the result of an inference, not the module's first.
  void print_output();
  // The request's warm-up, of which the module's first inference is a part, and iterations with this number of threads.
  // Throws ConvertError (kNotConvertible) where the model does not run.
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
