// SPDX-License-Identifier: BSD-3-Clause
// Not a test: opens an archive by the C interface, runs it, and prints what that took as JSON. bench/shim.py reads it.
//   shim_file_run OUT.pt NNAPI_LIBRARY RUNS [CACHE_FOLDER]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <vector>

#include "lib/shim/nnapi_shim.h"
#include "tools/nnapi-bench/memory_use.h"

namespace {

double microseconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return 1e6 * static_cast<double>(time.tv_sec) + 1e-3 * static_cast<double>(time.tv_nsec);
}

struct Cost {
  double wall = microseconds(CLOCK_MONOTONIC), cpu = microseconds(CLOCK_PROCESS_CPUTIME_ID);
  void stop() {
    wall = microseconds(CLOCK_MONOTONIC) - wall;
    cpu = microseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  }
};

[[noreturn]] void fail(const nnapi_shim_error& error) {
  std::fprintf(stderr, "%s\n", error.message);
  std::exit(1);
}

// Buffers for a model with one argument of the sizes that bench/shim.py converts with.
struct Buffers {
  std::vector<std::vector<char>> memory;
  std::vector<nnapi_shim_buffer> inputs, outputs;

  Buffers(nnapi_shim_model* model, const nnapi_shim_shape& shape) {
    nnapi_shim_error error;
    nnapi_shim_tensor tensor;
    for (uint32_t i = 0; i < nnapi_shim_input_count(model); ++i) {
      if (nnapi_shim_input(model, &shape, 1, i, &tensor, &error) != NNAPI_SHIM_OK) fail(error);
      memory.emplace_back(tensor.bytes);
      inputs.push_back({memory.back().data(), tensor.bytes});
    }
    for (uint32_t i = 0; i < nnapi_shim_output_count(model); ++i) {
      if (nnapi_shim_output(model, &shape, 1, i, &tensor, &error) != NNAPI_SHIM_OK) fail(error);
      memory.emplace_back(tensor.bytes);
      outputs.push_back({memory.back().data(), tensor.bytes});
    }
  }
};

void run(nnapi_shim_model* model, const nnapi_shim_shape& shape, const Buffers& buffers) {
  nnapi_shim_error error;
  if (nnapi_shim_run(model, &shape, 1, buffers.inputs.data(), static_cast<uint32_t>(buffers.inputs.size()),
                     buffers.outputs.data(), static_cast<uint32_t>(buffers.outputs.size()), &error) != NNAPI_SHIM_OK) {
    fail(error);
  }
}

unsigned long long resident(const std::optional<nnapi_bench::MemoryUse>& use) {
  return use ? static_cast<unsigned long long>(use->resident) : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return std::fprintf(stderr, "shim_file_run OUT.pt NNAPI_LIBRARY RUNS [CACHE_FOLDER]\n"), 2;
  const int runs = std::max(std::atoi(argv[3]), 1);
  const auto at_start = nnapi_bench::memory_use();
  Cost load;
  nnapi_shim_model* model = nullptr;
  nnapi_shim_error error;
  if (nnapi_shim_open_file(argv[1], &model, &error) != NNAPI_SHIM_OK) fail(error);
  nnapi_shim_options options{};
  options.struct_bytes = sizeof options;
  options.library = argv[2];
  options.cache_directory = argc > 4 ? argv[4] : nullptr;
  if (nnapi_shim_configure(model, &options, &error) != NNAPI_SHIM_OK) fail(error);
  load.stop();
  const auto loaded = nnapi_bench::memory_use();
  const int64_t image[4] = {1, 3, 224, 224}, picture[4] = {1, 3, 16, 16};
  nnapi_shim_shape shape = {4, image};
  nnapi_shim_tensor tensor;
  if (nnapi_shim_input(model, &shape, 1, 0, &tensor, &error) != NNAPI_SHIM_OK) shape.sizes = picture;
  const Buffers buffers(model, shape);
  Cost first;
  run(model, shape, buffers);
  first.stop();
  const auto after_first = nnapi_bench::memory_use();
  std::vector<double> latencies;
  for (int i = 0; i < runs; ++i) {
    const double start = microseconds(CLOCK_MONOTONIC);
    run(model, shape, buffers);
    latencies.push_back(microseconds(CLOCK_MONOTONIC) - start);
  }
  std::sort(latencies.begin(), latencies.end());
  std::printf(
      "{\"load\": {\"wall_us\": %.3f, \"cpu_us\": %.3f}, \"first_inference\": {\"wall_us\": %.3f, \"cpu_us\": %.3f}, "
      "\"latency_us\": {\"p50\": %.3f}, \"memory_bytes\": {\"at_start\": {\"resident\": %llu}, \"loaded\": "
      "{\"resident\": %llu}, \"after_first_inference\": {\"resident\": %llu}}}\n",
      load.wall, load.cpu, first.wall, first.cpu, latencies[latencies.size() / 2], resident(at_start), resident(loaded),
      resident(after_first));
  nnapi_shim_close(model);
  return 0;
}
