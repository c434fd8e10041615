// SPDX-License-Identifier: BSD-3-Clause
// See faulty_nnapi.h.
#include "tests/shim/faulty_nnapi.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "lib/shim/nnapi_types.h"

namespace {

const char* const kNames[] = {"alpha", "beta", "nnapi-reference"};
const int32_t kTypes[] = {4, 3, 2};  // ANEURALNETWORKS_DEVICE_ACCELERATOR, _GPU, _CPU

const char* variable(const char* name, const char* without) {
  const char* value = std::getenv(name);
  return value ? value : without;
}

const char* version_of(int number) {
  return number == 2 ? "1" : variable("FAULTY_NNAPI_VERSION", "1");
}

}  // namespace

#include "tests/shim/named_devices.inc"

namespace {

using faulty_nnapi::Fault;
using faulty_nnapi::FaultKind;

constexpr int kOpFailed = 5, kDeadObject = 14;  // ANEURALNETWORKS_*

struct Known {
  std::vector<uint64_t> elements;  // of the operands
  std::vector<int> operations;
  bool is_mapped = false;  // has weights by file descriptor
};

struct Compiled {
  std::string device;
  Known model;
  std::string cache_file;
  bool was_cached = false;
  bool is_zero = false;  // computes zeros, as it could not map the weights
  int runs = 0;
};

struct Bound {
  ANeuralNetworksCompilation* compilation = nullptr;
  std::vector<std::pair<void*, size_t>> outputs;
};

std::mutex mutex;
std::map<const void*, Known> models;
std::map<const void*, Compiled> compilations;
std::map<const void*, Bound> executions;

void log(const std::string& what, const std::string& device) {
  const char* path = variable("FAULTY_NNAPI_LOG", "");
  const int fd = *path ? open(path, O_WRONLY | O_APPEND | O_CREAT, 0600) : -1;
  if (fd < 0) return;
  const std::string line = what + " " + device + "\n";
  if (write(fd, line.data(), line.size()) < 0) std::abort();
  close(fd);
}

std::vector<Fault> faults() {
  std::istringstream text(variable("FAULTY_NNAPI", ""));
  std::vector<Fault> result;
  Fault fault;
  int kind = 0;
  while (text >> fault.device >> kind >> fault.operation >> fault.elements >> fault.run >> fault.amount) {
    fault.kind = static_cast<FaultKind>(kind);
    result.push_back(fault);
  }
  return result;
}

bool concerns(const Fault& fault, const Compiled& compiled) {
  if (fault.device != compiled.device) return false;
  bool has_operation = fault.operation < 0, has_elements = fault.elements == 0;
  for (const int code : compiled.model.operations) has_operation = has_operation || code == fault.operation;
  for (const uint64_t count : compiled.model.elements) has_elements = has_elements || count == fault.elements;
  return has_operation && has_elements;
}

[[noreturn]] void hang() {
  for (;;) pause();
}

[[noreturn]] void crash() {
  raise(SIGKILL);
  std::abort();
}

int compile_fault(Compiled& compiled) {
  compiled.was_cached = !compiled.cache_file.empty() && access(compiled.cache_file.c_str(), F_OK) == 0;
  struct stat cached {};
  compiled.is_zero = compiled.was_cached && stat(compiled.cache_file.c_str(), &cached) == 0 && cached.st_size > 0;
  for (const Fault& fault : faults()) {
    if (!concerns(fault, compiled)) continue;
    if (fault.kind == FaultKind::kRefuse) return kOpFailed;
    if (fault.kind == FaultKind::kCrashCompile) crash();
    if (fault.kind == FaultKind::kHangCompile) hang();
    if (fault.kind == FaultKind::kRefuseMapped && compiled.model.is_mapped) return kOpFailed;
    if (fault.kind == FaultKind::kZeroMapped && compiled.model.is_mapped) compiled.is_zero = true;
    if (fault.kind == FaultKind::kRefuseCached && compiled.was_cached) return kOpFailed;
    if (fault.kind == FaultKind::kCrashCached && compiled.was_cached) crash();
  }
  return 0;
}

// A file that is not empty stands for a model of zeros.
void write_cache(const Compiled& compiled) {
  if (compiled.cache_file.empty()) return;
  const int fd = open(compiled.cache_file.c_str(), O_WRONLY | O_CREAT, 0600);
  if (fd < 0) return;
  if (compiled.is_zero && write(fd, "0", 1) != 1) std::abort();
  close(fd);
}

int fault_before_run(const Compiled& compiled) {
  for (const Fault& fault : faults()) {
    if (!concerns(fault, compiled)) continue;
    if (fault.kind == FaultKind::kCrashRun && compiled.runs == fault.run) crash();
    if (fault.kind == FaultKind::kHangRun && compiled.runs == fault.run) hang();
    if (fault.kind == FaultKind::kRefuseRun && compiled.runs >= fault.run) return kOpFailed;
    if (fault.kind == FaultKind::kDeadRun && compiled.runs >= fault.run) return kDeadObject;
  }
  return 0;
}

void spoil(const Fault& fault, const Bound& bound) {
  for (const auto& [data, bytes] : bound.outputs) {
    if (bytes < sizeof(float)) continue;
    // The element depends on the fault, not on the run.
    const size_t at = (bytes / sizeof(float)) * (fault.elements % 7) / 7;
    float value = 0;
    std::memcpy(&value, static_cast<char*>(data) + at * sizeof value, sizeof value);
    value = fault.kind == FaultKind::kNan ? std::nanf("") : value + fault.amount;
    std::memcpy(static_cast<char*>(data) + at * sizeof value, &value, sizeof value);
  }
}

template <typename Compute>
int run(ANeuralNetworksExecution* execution, const Compute& compute) {
  Bound bound;
  Compiled compiled;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    bound = executions[execution];
    ++compilations[bound.compilation].runs;
    compiled = compilations[bound.compilation];
  }
  log("run", compiled.device);
  if (const int code = fault_before_run(compiled)) return code;
  std::vector<std::vector<char>> before;
  for (const auto& [data, bytes] : bound.outputs) {
    before.emplace_back(static_cast<char*>(data), static_cast<char*>(data) + bytes);
  }
  const int code = compute();
  if (compiled.is_zero) {
    for (const auto& [data, bytes] : bound.outputs) std::memset(data, 0, bytes);
  }
  for (const Fault& fault : faults()) {
    if (!concerns(fault, compiled)) continue;
    const bool is_wrong = fault.kind == FaultKind::kWrong || fault.kind == FaultKind::kNan ||
                          (fault.kind == FaultKind::kWrongCached && compiled.was_cached);
    if (is_wrong) spoil(fault, bound);
    if (fault.kind != FaultKind::kNothing) continue;
    for (size_t i = 0; i < before.size(); ++i) std::memcpy(bound.outputs[i].first, before[i].data(), before[i].size());
  }
  return code;
}

void know(ANeuralNetworksCompilation* compilation, const ANeuralNetworksModel* model, const std::string& device) {
  const std::lock_guard<std::mutex> lock(mutex);
  compilations[compilation] = {device, models[model], "", false, false, 0};
}

}  // namespace

extern "C" {

int ANeuralNetworksModel_getSupportedOperationsForDevices(const ANeuralNetworksModel* model,
                                                          const ANeuralNetworksDevice* const*, uint32_t,
                                                          bool* supported) {
  const ANeuralNetworksDevice* device = host_device();
  return host<int(const ANeuralNetworksModel*, const ANeuralNetworksDevice* const*, uint32_t, bool*)>(
      "ANeuralNetworksModel_getSupportedOperationsForDevices")(model, &device, 1, supported);
}

int ANeuralNetworksModel_addOperand(ANeuralNetworksModel* model, const ANeuralNetworksOperandType* type) {
  uint64_t elements = 1;
  for (uint32_t i = 0; i < type->dimensionCount; ++i) elements *= type->dimensions[i];
  {
    const std::lock_guard<std::mutex> lock(mutex);
    models[model].elements.push_back(elements);
  }
  return host<int(ANeuralNetworksModel*, const ANeuralNetworksOperandType*)>("ANeuralNetworksModel_addOperand")(model,
                                                                                                                type);
}
int ANeuralNetworksModel_addOperation(ANeuralNetworksModel* model, int32_t code, uint32_t inputs, const uint32_t* input,
                                      uint32_t outputs, const uint32_t* output) {
  {
    const std::lock_guard<std::mutex> lock(mutex);
    models[model].operations.push_back(code);
  }
  return host<int(ANeuralNetworksModel*, int32_t, uint32_t, const uint32_t*, uint32_t, const uint32_t*)>(
      "ANeuralNetworksModel_addOperation")(model, code, inputs, input, outputs, output);
}
int ANeuralNetworksModel_setOperandValueFromMemory(ANeuralNetworksModel* model, int32_t index,
                                                   const ANeuralNetworksMemory* memory, size_t offset, size_t bytes) {
  {
    const std::lock_guard<std::mutex> lock(mutex);
    models[model].is_mapped = true;
  }
  return host<int(ANeuralNetworksModel*, int32_t, const ANeuralNetworksMemory*, size_t, size_t)>(
      "ANeuralNetworksModel_setOperandValueFromMemory")(model, index, memory, offset, bytes);
}
void ANeuralNetworksModel_free(ANeuralNetworksModel* model) {
  {
    const std::lock_guard<std::mutex> lock(mutex);
    models.erase(model);
  }
  host<void(ANeuralNetworksModel*)>("ANeuralNetworksModel_free")(model);
}

int ANeuralNetworksCompilation_create(ANeuralNetworksModel* model, ANeuralNetworksCompilation** made) {
  const int code =
      host<int(ANeuralNetworksModel*, ANeuralNetworksCompilation**)>("ANeuralNetworksCompilation_create")(model, made);
  if (code == 0) know(*made, model, "alpha");
  return code;
}
int ANeuralNetworksCompilation_createForDevices(ANeuralNetworksModel* model, const ANeuralNetworksDevice* const* given,
                                                uint32_t count, ANeuralNetworksCompilation** made) {
  if (count == 0) return kBadData;
  const ANeuralNetworksDevice* device = host_device();
  const int code =
      host<int(ANeuralNetworksModel*, const ANeuralNetworksDevice* const*, uint32_t, ANeuralNetworksCompilation**)>(
          "ANeuralNetworksCompilation_createForDevices")(model, &device, 1, made);
  if (code == 0) know(*made, model, kNames[number_of(given[0])]);
  return code;
}
int ANeuralNetworksCompilation_setCaching(ANeuralNetworksCompilation* compilation, const char* folder,
                                          const uint8_t* token) {
  const std::lock_guard<std::mutex> lock(mutex);
  Compiled& compiled = compilations[compilation];
  compiled.cache_file = std::string(folder) + "/" + compiled.device + "_";
  for (int i = 0; i < 8; ++i) compiled.cache_file += std::to_string(token[i]) + "_";
  return 0;
}
int ANeuralNetworksCompilation_finish(ANeuralNetworksCompilation* compilation) {
  Compiled* compiled = nullptr;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    compiled = &compilations[compilation];
  }
  log("compile", compiled->device);
  if (const int code = compile_fault(*compiled)) return code;
  const int code = host<int(ANeuralNetworksCompilation*)>("ANeuralNetworksCompilation_finish")(compilation);
  if (code == 0) write_cache(*compiled);
  return code;
}
void ANeuralNetworksCompilation_free(ANeuralNetworksCompilation* compilation) {
  {
    const std::lock_guard<std::mutex> lock(mutex);
    compilations.erase(compilation);
  }
  host<void(ANeuralNetworksCompilation*)>("ANeuralNetworksCompilation_free")(compilation);
}

int ANeuralNetworksExecution_create(ANeuralNetworksCompilation* compilation, ANeuralNetworksExecution** made) {
  const int code = host<int(ANeuralNetworksCompilation*, ANeuralNetworksExecution**)>(
      "ANeuralNetworksExecution_create")(compilation, made);
  const std::lock_guard<std::mutex> lock(mutex);
  if (code == 0) executions[*made] = {compilation, {}};
  return code;
}
int ANeuralNetworksExecution_setOutput(ANeuralNetworksExecution* execution, int32_t index,
                                       const ANeuralNetworksOperandType* type, void* data, size_t bytes) {
  {
    const std::lock_guard<std::mutex> lock(mutex);
    executions[execution].outputs.emplace_back(data, bytes);
  }
  return host<int(ANeuralNetworksExecution*, int32_t, const ANeuralNetworksOperandType*, void*, size_t)>(
      "ANeuralNetworksExecution_setOutput")(execution, index, type, data, bytes);
}
int ANeuralNetworksExecution_compute(ANeuralNetworksExecution* execution) {
  return run(execution,
             [&] { return host<int(ANeuralNetworksExecution*)>("ANeuralNetworksExecution_compute")(execution); });
}
int ANeuralNetworksExecution_burstCompute(ANeuralNetworksExecution* execution, ANeuralNetworksBurst* burst) {
  return run(execution, [&] {
    return host<int(ANeuralNetworksExecution*, ANeuralNetworksBurst*)>("ANeuralNetworksExecution_burstCompute")(
        execution, burst);
  });
}
void ANeuralNetworksExecution_free(ANeuralNetworksExecution* execution) {
  {
    const std::lock_guard<std::mutex> lock(mutex);
    executions.erase(execution);
  }
  host<void(ANeuralNetworksExecution*)>("ANeuralNetworksExecution_free")(execution);
}

}  // extern "C"
