// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-probe/bench.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>

#include "lib/shim/failure.h"
#include "tools/nnapi-probe/doctor/json_text.h"

namespace nnapi_probe {
namespace {

using nnapi_shim::fail;

struct NamedDtype {
  const char* name;
  int32_t dtype;
  size_t bytes;
};
constexpr NamedDtype kDtypes[] = {
    {"float32", NNAPI_SHIM_FLOAT32, 4}, {"int64", NNAPI_SHIM_INT64, 8}, {"int32", NNAPI_SHIM_INT32, 4},
    {"uint8", NNAPI_SHIM_UINT8, 1},     {"int8", NNAPI_SHIM_INT8, 1},   {"bool", NNAPI_SHIM_BOOL, 1},
    {"float16", NNAPI_SHIM_FLOAT16, 2}, {"int16", NNAPI_SHIM_INT16, 2}, {"float64", NNAPI_SHIM_FLOAT64, 8}};

double milliseconds(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
}

// Measures wall clock time and the CPU time of all threads.
class Watch {
 public:
  double wall() const { return milliseconds(CLOCK_MONOTONIC) - wall_; }
  double cpu() const { return milliseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_; }

 private:
  double wall_ = milliseconds(CLOCK_MONOTONIC), cpu_ = milliseconds(CLOCK_PROCESS_CPUTIME_ID);
};

// Returns the resident memory of this process in bytes: now, or, with "VmHWM:", the most so far. 0 if the kernel does
// not tell.
double memory(const char* field) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen("/proc/self/status", "r"), std::fclose);
  char line[256];
  while (file && std::fgets(line, sizeof line, file.get()) != nullptr) {
    if (std::strncmp(line, field, std::strlen(field)) == 0) return 1024 * std::atof(line + std::strlen(field));
  }
  return 0;
}

double at_share(const std::vector<double>& sorted, double share) {
  const auto last = static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<size_t>(share * last + 0.5)];
}

// The inputs with their memory.
struct Tensors {
  std::vector<std::vector<uint64_t>> memory;
  std::vector<nnapi_shim_named_tensor> named;
};

int make_tensors(const std::vector<BenchInput>& inputs, Tensors* tensors, nnapi_shim_error* error) {
  constexpr int64_t kMostBytes = int64_t{1} << 31;
  for (const BenchInput& input : inputs) {
    const auto* dtype = std::find_if(std::begin(kDtypes), std::end(kDtypes),
                                     [&](const NamedDtype& each) { return each.dtype == input.dtype; });
    int64_t bytes = static_cast<int64_t>(dtype->bytes);
    for (const int64_t size : input.sizes) {
      if (__builtin_mul_overflow(bytes, size, &bytes) || bytes > kMostBytes) {
        return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "input %.100s has more than 2 GiB", input.path.c_str());
      }
    }
    tensors->memory.emplace_back(static_cast<size_t>(bytes + 7) / 8);
    uint64_t* const data = tensors->memory.back().data();
    if (input.dtype == NNAPI_SHIM_FLOAT32) {
      uint32_t seed = 1;
      auto* numbers = reinterpret_cast<uint8_t*>(data);
      for (int64_t i = 0; i < bytes / 4; ++i) {
        seed = 1664525 * seed + 1013904223;
        const float number = static_cast<float>(seed >> 8) / static_cast<float>(1 << 24);
        std::memcpy(numbers + 4 * i, &number, sizeof number);
      }
    }
    tensors->named.push_back({input.path.c_str(), input.dtype, static_cast<uint32_t>(input.sizes.size()),
                              input.sizes.data(), data, static_cast<size_t>(bytes)});
  }
  return NNAPI_SHIM_OK;
}

struct Figures {
  double load = 0, first = 0, first_cpu = 0;  // milliseconds
  double at_start = 0, loaded = 0, peak = 0;  // bytes
  std::vector<double> calls;                  // milliseconds, sorted
  double cpu = 0, nnapi = 0;                  // milliseconds of one call
  std::string devices;
};

void print(const Figures& figures, const BenchRequest& request) {
  const auto megabytes = [](double bytes) { return bytes / 1e6; };
  std::printf("Model: %s, runs without PyTorch\n", request.path.c_str());
  if (!figures.devices.empty()) std::printf("Devices: %s\n", figures.devices.c_str());
  std::printf("Load: %.2f ms. First call: %.2f ms, CPU %.2f ms\n", figures.load, figures.first, figures.first_cpu);
  std::printf("Memory (resident): %.1f MB at start, %.1f MB after load, %.1f MB at most\n", megabytes(figures.at_start),
              megabytes(figures.loaded), megabytes(figures.peak));
  std::printf("Milliseconds of a call: min %.3f, p50 %.3f, p90 %.3f, max %.3f; CPU %.3f; in NNAPI %.3f\n",
              figures.calls.front(), at_share(figures.calls, 0.5), at_share(figures.calls, 0.9), figures.calls.back(),
              figures.cpu, figures.nnapi);
}

std::string json_of(const Figures& figures, const BenchRequest& request) {
  using nnapi_doctor::JsonObject;
  JsonObject calls, memory_use, all;
  calls.number("min", figures.calls.front()).number("p50", at_share(figures.calls, 0.5));
  calls.number("p90", at_share(figures.calls, 0.9)).number("max", figures.calls.back());
  calls.number("cpu", figures.cpu).number("nnapi", figures.nnapi);
  memory_use.number("at_start", figures.at_start).number("loaded", figures.loaded).number("peak", figures.peak);
  all.number("version", 1).text("model", request.path).text("devices", figures.devices);
  all.number("runs", static_cast<double>(figures.calls.size())).number("load_ms", figures.load);
  all.number("first_call_ms", figures.first).number("first_call_cpu_ms", figures.first_cpu);
  all.add("call_ms", calls.close()).add("memory_bytes", memory_use.close());
  return all.close() + "\n";
}

// An open file and its result.
struct OpenFile {
  nnapi_shim_model* model = nullptr;
  nnapi_shim_result* result = nnapi_shim_result_new();
  OpenFile() = default;
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    nnapi_shim_result_free(result);
    nnapi_shim_close(model);
  }
};

int measure(const BenchRequest& request, const Tensors& tensors, Figures* figures, nnapi_shim_error* error) {
  figures->at_start = memory("VmRSS:");
  OpenFile file;
  const Watch load;
  if (const int status = nnapi_shim_open_file(request.path.c_str(), &file.model, error)) return status;
  if (const int status = nnapi_shim_configure(file.model, &request.options, error)) return status;
  figures->load = load.wall();
  figures->loaded = memory("VmRSS:");
  const auto count = static_cast<uint32_t>(tensors.named.size());
  const auto call = [&] {
    return nnapi_shim_call(file.model, nullptr, tensors.named.data(), count, file.result, error);
  };
  const Watch first;
  if (const int status = call()) return status;
  figures->first = first.wall();
  figures->first_cpu = first.cpu();
  for (int i = 0; i < request.warm_up; ++i) {
    if (const int status = call()) return status;
  }
  nnapi_shim_profile before{}, after{};
  nnapi_shim_get_profile(file.model, &before);
  const Watch all;
  for (int i = 0; i < request.runs; ++i) {
    const Watch one;
    if (const int status = call()) return status;
    figures->calls.push_back(one.wall());
  }
  figures->cpu = all.cpu() / request.runs;
  nnapi_shim_get_profile(file.model, &after);
  figures->nnapi = 1e-6 * static_cast<double>(after.total_execute_ns - before.total_execute_ns) / request.runs;
  figures->devices = after.devices;
  figures->peak = memory("VmHWM:");
  std::sort(figures->calls.begin(), figures->calls.end());
  return NNAPI_SHIM_OK;
}

}  // namespace

bool parse_bench_input(const std::string& text, BenchInput* input) {
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) return false;
  input->path = text.substr(0, equals);
  std::string sizes = text.substr(equals + 1);
  const size_t colon = sizes.find(':');
  if (colon != std::string::npos) {
    const std::string name = sizes.substr(colon + 1);
    const auto* dtype =
        std::find_if(std::begin(kDtypes), std::end(kDtypes), [&](const NamedDtype& each) { return name == each.name; });
    if (dtype == std::end(kDtypes)) return false;
    input->dtype = dtype->dtype;
    sizes.resize(colon);
  }
  for (const char* at = sizes.c_str(); *at != '\0';) {
    char* end = nullptr;
    errno = 0;
    const long long size = std::strtoll(at, &end, 10);
    if (end == at || errno != 0 || size < 0 || (*end != '\0' && *end != ',') || input->sizes.size() >= 8) return false;
    input->sizes.push_back(size);
    at = *end == ',' ? end + 1 : end;
    if (*end == ',' && *at == '\0') return false;
  }
  return true;
}

int run_bench(const BenchRequest& request, std::string* json, nnapi_shim_error* error) {
  Tensors tensors;
  Figures figures;
  if (const int status = make_tensors(request.inputs, &tensors, error)) return status;
  if (const int status = measure(request, tensors, &figures, error)) return status;
  print(figures, request);
  *json = json_of(figures, request);
  return NNAPI_SHIM_OK;
}

}  // namespace nnapi_probe
