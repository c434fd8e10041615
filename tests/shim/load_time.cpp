// SPDX-License-Identifier: BSD-3-Clause
// Prints how long a file of several segments takes to load, and how long its segments alone: shim_load_time FILE
// [RUNS]. "Open" reads and checks, "ready" has all compiled that has fixed sizes, too.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "lib/shim/archive.h"
#include "lib/shim/nnapi_shim.h"
#include "lib/shim/package.h"
#include "lib/shim/segments.h"

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const nnapi_shim_error& error) {
  std::fprintf(stderr, "shim_load_time: %s\n", error.message);
  std::exit(1);
}

double microseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

struct Times {
  std::vector<double> open, ready;  // microseconds: of opening, and with what NNAPI compiles ahead
};

void measure_segments(const char* path, Times* times) {
  const Clock::time_point begin = Clock::now();
  nnapi_shim_error error{};
  const auto archive = std::make_shared<nnapi_shim::Archive>();
  if (archive->open(path, &error) != NNAPI_SHIM_OK) fail(error);
  std::vector<std::unique_ptr<nnapi_shim::OpenModel>> segments;
  for (const nnapi_shim::ArchivePart& part : archive->parts()) {
    segments.push_back(nnapi_shim::open_words(part.words.data(), part.words.size(), part.weights, archive, &error));
    if (!segments.back()) fail(error);
  }
  archive->drop_words();
  times->open.push_back(microseconds_since(begin));
  for (const auto& segment : segments) {
    if (nnapi_shim::warm_up_if_fixed(*segment, &error) != NNAPI_SHIM_OK) fail(error);
  }
  times->ready.push_back(microseconds_since(begin));
}

void measure_file(const char* path, Times* times) {
  const Clock::time_point begin = Clock::now();
  nnapi_shim_error error{};
  nnapi_shim_model* model = nullptr;
  if (nnapi_shim_open_file(path, &model, &error) != NNAPI_SHIM_OK) fail(error);
  times->open.push_back(microseconds_since(begin));
  if (nnapi_shim_warm_up(model, nullptr, 0, &error) != NNAPI_SHIM_OK) fail(error);
  times->ready.push_back(microseconds_since(begin));
  nnapi_shim_close(model);
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const int runs = argc > 2 ? std::atoi(argv[2]) : 9;
  if (argc < 2 || runs < 1) {
    std::fprintf(stderr, "usage: shim_load_time FILE [RUNS]\n");
    return 2;
  }
  Times segments, files, warm;
  measure_file(argv[1], &warm);  // its bytes are in memory then
  for (int i = 0; i < runs; ++i) {
    measure_segments(argv[1], &segments);
    measure_file(argv[1], &files);
  }
  std::printf(
      "{\"segments_open_us\": %.1f, \"file_open_us\": %.1f, \"segments_ready_us\": %.1f, "
      "\"file_ready_us\": %.1f}\n",
      median(segments.open), median(files.open), median(segments.ready), median(files.ready));
  return 0;
}
