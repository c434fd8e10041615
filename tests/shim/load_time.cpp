// SPDX-License-Identifier: BSD-3-Clause
// Prints how long a file of several segments takes to load, and how long its segments alone: shim_load_time FILE
// [RUNS].
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "lib/shim/archive.h"
#include "lib/shim/nnapi_shim.h"
#include "lib/shim/package.h"

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const nnapi_shim_error& error) {
  std::fprintf(stderr, "shim_load_time: %s\n", error.message);
  std::exit(1);
}

double microseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

double time_of_segments(const char* path) {
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
  return microseconds_since(begin);
}

double time_of_file(const char* path) {
  const Clock::time_point begin = Clock::now();
  nnapi_shim_error error{};
  nnapi_shim_model* model = nullptr;
  if (nnapi_shim_open_file(path, &model, &error) != NNAPI_SHIM_OK) fail(error);
  const double time = microseconds_since(begin);
  nnapi_shim_close(model);
  return time;
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
  std::vector<double> segments, files;
  time_of_file(argv[1]);  // its bytes are in memory then
  for (int i = 0; i < runs; ++i) {
    segments.push_back(time_of_segments(argv[1]));
    files.push_back(time_of_file(argv[1]));
  }
  std::printf("{\"segments_us\": %.1f, \"file_us\": %.1f}\n", median(segments), median(files));
  return 0;
}
