// SPDX-License-Identifier: BSD-3-Clause
// Prints what the shim itself costs for each run: a model of three operations on an NNAPI that answers at once.
// shim_overhead [RUNS]: a million for each figure without.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "lib/shim/nnapi_shim.h"
#include "tests/shim/three_operations.h"

namespace {

using Clock = std::chrono::steady_clock;
[[noreturn]] void fail(const nnapi_shim_error& error) {
  std::fprintf(stderr, "%s\n", error.message);
  std::exit(1);
}

double nanoseconds_per_run(nnapi_shim_model* model, const std::vector<std::vector<float>>& buffers, int runs) {
  const int64_t sizes[2] = {1, 64};
  const nnapi_shim_shape shape = {2, sizes};
  std::vector<float> input(64);
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < runs; ++i) {
    const nnapi_shim_buffer from = {input.data(), 256};
    const nnapi_shim_buffer to = {const_cast<float*>(buffers[static_cast<size_t>(i) % buffers.size()].data()), 256};
    nnapi_shim_error error;
    if (nnapi_shim_run(model, &shape, 1, &from, 1, &to, 1, &error) != NNAPI_SHIM_OK) {
      fail(error);
    }
  }
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / runs;
}

double best_of_five(const nnapi_shim_options& options, size_t buffer_count, int runs) {
  const nnapi_shim::testing::MadeBuffer made =
      nnapi_shim::testing::make_buffer(nnapi_shim::testing::three_operations());
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    nnapi_shim_model* model = nullptr;
    nnapi_shim_error error;
    if (nnapi_shim_open_memory(made.words.data(), made.words.size(), made.weights.data(), made.weights.size(), &model,
                               &error) != NNAPI_SHIM_OK ||
        nnapi_shim_configure(model, &options, &error) != NNAPI_SHIM_OK) {
      fail(error);
    }
    best = std::min(
        best, nanoseconds_per_run(model, std::vector<std::vector<float>>(buffer_count, std::vector<float>(64)), runs));
    nnapi_shim_close(model);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::atoi(argv[1]) : 1000000;
  if (runs < 1) {
    std::fprintf(stderr, "shim_overhead: %s found, a number of runs needed\n", argv[1]);
    return 2;
  }
  nnapi_shim_options options{};
  options.struct_bytes = sizeof(options);
  options.library = FAKE_NNAPI_FOLDER "/libnull_nnapi.so";
  std::printf("reused executions, the caller's buffers stay: %.0f ns per run\n", best_of_five(options, 1, runs));
  std::printf("reused executions, 16 outputs in turn:        %.0f ns per run\n", best_of_five(options, 16, runs));
  options.no_reuse = 1;
  std::printf("an execution per run, bursts:                 %.0f ns per run\n", best_of_five(options, 16, runs));
  options.no_burst = 1;
  std::printf("an execution per run:                         %.0f ns per run\n", best_of_five(options, 16, runs));
  return 0;
}
