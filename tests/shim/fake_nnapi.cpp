// See fake_nnapi.h. The linker cuts its exports (tests/shim/CMakeLists.txt); as a support library it has none but the
// function table, whose order is that of the names.
#include "tests/shim/fake_nnapi.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "lib/host_runtime/neural_networks.h"

namespace {

using fake_nnapi::DeviceSetting;
using fake_nnapi::Fake;
using fake_nnapi::Record;
using fake_nnapi::Settings;

constexpr int kNoError = 0, kBadData = 4, kBadState = 6;

std::mutex mutex;
Settings settings;
Record records;
std::vector<std::unique_ptr<ANeuralNetworksDevice>> devices;
std::set<const void*> live_objects;

void violate(const std::string& text) {
  records.violations.push_back(text);
}

// Counts the call. Not 0: what it has to return.
int enter(const char* function) {
  const std::lock_guard<std::mutex> lock(mutex);
  ++records.calls[function];
  const int number = static_cast<int>(records.order.size());
  records.order.emplace_back(function);
  const bool fails = number == settings.fail_call || settings.fail_function == function;
  return fails ? settings.fail_code : kNoError;
}

void count(const char* function) {
  const std::lock_guard<std::mutex> lock(mutex);
  ++records.calls[function];
}

template <typename Object>
Object* made(Object* object) {
  const std::lock_guard<std::mutex> lock(mutex);
  live_objects.insert(object);
  records.live = static_cast<int>(live_objects.size());
  return object;
}

template <typename Object>
void free_object(const char* function, Object* object) {
  {
    const std::lock_guard<std::mutex> lock(mutex);
    ++records.calls[function];
    if (!object) return;
    if (live_objects.erase(object) == 0) {
      violate(std::string(function) + ": not a living object");
      return;
    }
    records.live = static_cast<int>(live_objects.size());
  }
  delete object;
}

void check(bool holds, const char* function, const char* what) {
  if (holds) return;
  const std::lock_guard<std::mutex> lock(mutex);
  violate(std::string(function) + ": " + what);
}

void sleep_ms(uint32_t time) {
  if (time > 0) std::this_thread::sleep_for(std::chrono::milliseconds(time));
}

}  // namespace

struct ANeuralNetworksDevice {
  DeviceSetting setting;
};
struct ANeuralNetworksMemory {
  size_t size;
};
struct ANeuralNetworksModel {
  std::vector<size_t> operand_bytes;
  std::vector<int> operations;
  std::vector<uint32_t> inputs, outputs;
  bool finished = false;
  std::atomic<int> users{0};  // compilations and models
  std::vector<ANeuralNetworksModel*> refers_to;
  ~ANeuralNetworksModel() {
    for (ANeuralNetworksModel* other : refers_to) --other->users;
  }
};
struct ANeuralNetworksCompilation {
  ANeuralNetworksModel* model;
  bool finished = false, for_one_device = false;
  std::atomic<int> users{0};  // executions and bursts
  ~ANeuralNetworksCompilation() { --model->users; }
};
struct ANeuralNetworksBurst {
  ANeuralNetworksCompilation* compilation;
  bool busy = false;
  ~ANeuralNetworksBurst() { --compilation->users; }
};
struct ANeuralNetworksExecution {
  ANeuralNetworksCompilation* compilation;
  bool reusable = false, busy = false, computed = false, measured = false;
  std::vector<std::pair<const uint8_t*, size_t>> inputs = {};
  std::vector<std::pair<uint8_t*, size_t>> outputs = {};
  ~ANeuralNetworksExecution() { --compilation->users; }
};
struct ANeuralNetworksEvent {
  int code;
};

namespace {

bool is_computing_allowed(ANeuralNetworksExecution* execution, const char* function) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (execution->busy) violate(std::string(function) + ": the execution computes already");
  if (execution->computed && !execution->reusable) violate(std::string(function) + ": the execution has computed");
  const bool allowed = !execution->busy && (!execution->computed || execution->reusable);
  execution->busy = true;
  records.most_at_once = std::max(records.most_at_once, ++records.at_once);
  return allowed;
}

int compute(ANeuralNetworksExecution* execution, const char* function) {
  uint32_t time = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    time = settings.compute_sleep_ms;
  }
  const bool allowed = is_computing_allowed(execution, function);
  sleep_ms(time);
  const auto& inputs = execution->inputs;
  for (size_t j = 0; allowed && j < execution->outputs.size(); ++j) {
    const auto& [to, length] = execution->outputs[j];
    check(to != nullptr && !inputs.empty(), function, "an output or input is missing");
    if (!to || inputs.empty()) continue;
    const auto& [from, from_length] = inputs[j % inputs.size()];
    check(from != nullptr && from_length > 0, function, "an input is missing");
    for (size_t k = 0; from && k < length; ++k) to[k] = static_cast<uint8_t>(from[k % from_length] + 1);
  }
  const std::lock_guard<std::mutex> lock(mutex);
  execution->busy = false;
  execution->computed = true;
  --records.at_once;
  return allowed ? kNoError : kBadState;
}

int new_compilation(ANeuralNetworksModel* model, bool for_one_device, ANeuralNetworksCompilation** compilation) {
  check(model->finished, "Compilation_create", "the model is not finished");
  {
    const std::lock_guard<std::mutex> lock(mutex);
    ++model->users;
  }
  *compilation = made(new ANeuralNetworksCompilation{model});
  (*compilation)->for_one_device = for_one_device;
  return kNoError;
}

size_t bytes_of(const ANeuralNetworksOperandType& type) {
  size_t bytes = type.type == 3 || type.type == 4 || type.type <= 2 ? 4 : 1;
  for (uint32_t i = 0; i < type.dimensionCount; ++i) bytes *= type.dimensions[i];
  return bytes;
}

class TheFake : public Fake {
 public:
  void reset(const Settings& new_settings) override {
    const std::lock_guard<std::mutex> lock(mutex);
    settings = new_settings;
    records = Record();
    records.live = static_cast<int>(live_objects.size());
    devices.clear();
    for (const DeviceSetting& device : settings.devices) {
      devices.push_back(std::unique_ptr<ANeuralNetworksDevice>(new ANeuralNetworksDevice{device}));
    }
  }
  void set(const Settings& new_settings) override {
    const std::lock_guard<std::mutex> lock(mutex);
    settings = new_settings;
  }
  Record record() override {
    const std::lock_guard<std::mutex> lock(mutex);
    return records;
  }
};

}  // namespace

// Counts, and returns what it is told to.
#define ENTER()                                          \
  do {                                                   \
    if (const int code_ = enter(__func__)) return code_; \
  } while (false)
#define RECORD(statement)                          \
  do {                                             \
    const std::lock_guard<std::mutex> lock(mutex); \
    statement;                                     \
  } while (false)

extern "C" {

__attribute__((visibility("default"))) Fake* fake_nnapi_control() {
  static TheFake fake;
  return &fake;
}

int64_t ANeuralNetworks_getRuntimeFeatureLevel() {
  count(__func__);
  return settings.level_code;
}

int ANeuralNetworks_getDeviceCount(uint32_t* number) {
  ENTER();
  *number = static_cast<uint32_t>(devices.size());
  return kNoError;
}

int ANeuralNetworks_getDevice(uint32_t index, ANeuralNetworksDevice** device) {
  ENTER();
  *device = devices.at(index).get();
  return kNoError;
}

int ANeuralNetworksDevice_getName(const ANeuralNetworksDevice* device, const char** name) {
  ENTER();
  *name = device->setting.name.c_str();
  return kNoError;
}

int ANeuralNetworksDevice_getVersion(const ANeuralNetworksDevice*, const char** version) {
  ENTER();
  *version = "fake 1";
  return kNoError;
}

int ANeuralNetworksDevice_getFeatureLevel(const ANeuralNetworksDevice* device, int64_t* level) {
  ENTER();
  *level = device->setting.level;
  return kNoError;
}

int ANeuralNetworksDevice_getType(const ANeuralNetworksDevice* device, int32_t* type) {
  ENTER();
  *type = device->setting.type;
  return kNoError;
}

int ANeuralNetworksMemory_createFromFd(size_t size, int, int fd, size_t offset, ANeuralNetworksMemory** memory) {
  ENTER();
  const off_t end = lseek(fd, 0, SEEK_END);
  check(end >= 0 && static_cast<size_t>(end) >= offset + size, __func__, "the file is too short");
  *memory = made(new ANeuralNetworksMemory{size});
  return kNoError;
}
void ANeuralNetworksMemory_free(ANeuralNetworksMemory* memory) {
  free_object(__func__, memory);
}

int ANeuralNetworksModel_create(ANeuralNetworksModel** model) {
  ENTER();
  *model = made(new ANeuralNetworksModel);
  return kNoError;
}

void ANeuralNetworksModel_free(ANeuralNetworksModel* model) {
  bool is_used = false;
  if (model)
    RECORD(is_used = std::any_of(live_objects.begin(), live_objects.end(),
                                 [&](const void* object) { return object == model && model->users > 0; }));
  // The API lets models go before what is made of them; the shim does not.
  check(!is_used, __func__, "the model is in use");
  free_object(__func__, model);
}

int ANeuralNetworksModel_addOperand(ANeuralNetworksModel* model, const ANeuralNetworksOperandType* type) {
  ENTER();
  check(!model->finished, __func__, "the model is finished");
  check((type->dimensionCount > 0) == (type->dimensions != nullptr), __func__, "dimensions without a rank");
  model->operand_bytes.push_back(bytes_of(*type));
  return kNoError;
}

int ANeuralNetworksModel_setOperandValue(ANeuralNetworksModel* model, int32_t index, const void* buffer,
                                         size_t length) {
  ENTER();
  const auto operand = static_cast<size_t>(index);
  check(operand < model->operand_bytes.size(), __func__, "no such operand");
  if (!buffer) {
    check(length == 0, __func__, "null with a length");
    RECORD(++records.omitted_values);
    return kNoError;
  }
  check(length == model->operand_bytes.at(operand), __func__, "wrong length");
  // Reads all of it, for the sanitizers.
  int sum = 0;
  for (size_t i = 0; i < length; ++i) sum += static_cast<const uint8_t*>(buffer)[i];
  check(sum >= 0, __func__, "");
  RECORD(++records.values_by_pointer);
  return kNoError;
}

int ANeuralNetworksModel_setOperandValueFromMemory(ANeuralNetworksModel* model, int32_t index,
                                                   const ANeuralNetworksMemory* memory, size_t offset, size_t length) {
  ENTER();
  check(offset + length <= memory->size, __func__, "outside of the memory");
  check(length == model->operand_bytes.at(static_cast<size_t>(index)), __func__, "wrong length");
  RECORD(++records.values_from_memory);
  return kNoError;
}

int ANeuralNetworksModel_setOperandValueFromModel(ANeuralNetworksModel* model, int32_t,
                                                  const ANeuralNetworksModel* value) {
  ENTER();
  check(value && value->finished, __func__, "the other model is not finished");
  if (!value) return kBadData;
  auto* other = const_cast<ANeuralNetworksModel*>(value);
  RECORD(++other->users; ++records.values_from_model);
  model->refers_to.push_back(other);
  return kNoError;
}

int ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(ANeuralNetworksModel*, int32_t,
                                                             const ANeuralNetworksSymmPerChannelQuantParams* params) {
  ENTER();
  check(params->scaleCount > 0 && params->scales[params->scaleCount - 1] > 0, __func__, "no scales");
  RECORD(++records.channel_scales);
  return kNoError;
}

int ANeuralNetworksModel_addOperation(ANeuralNetworksModel* model, int32_t type, uint32_t inputCount,
                                      const uint32_t* inputs, uint32_t outputCount, const uint32_t* outputs) {
  ENTER();
  for (uint32_t i = 0; i < inputCount; ++i) check(inputs[i] < model->operand_bytes.size(), __func__, "no such input");
  for (uint32_t i = 0; i < outputCount; ++i) {
    check(outputs[i] < model->operand_bytes.size(), __func__, "no such output");
  }
  model->operations.push_back(type);
  return kNoError;
}

int ANeuralNetworksModel_identifyInputsAndOutputs(ANeuralNetworksModel* model, uint32_t inputCount,
                                                  const uint32_t* inputs, uint32_t outputCount,
                                                  const uint32_t* outputs) {
  ENTER();
  model->inputs.assign(inputs, inputs + inputCount);
  model->outputs.assign(outputs, outputs + outputCount);
  return kNoError;
}

int ANeuralNetworksModel_relaxComputationFloat32toFloat16(ANeuralNetworksModel*, bool allow) {
  ENTER();
  RECORD(records.relaxed = allow);
  return kNoError;
}

int ANeuralNetworksModel_finish(ANeuralNetworksModel* model) {
  ENTER();
  check(!model->outputs.empty(), __func__, "no outputs");
  model->finished = true;
  return kNoError;
}

int ANeuralNetworksModel_getSupportedOperationsForDevices(const ANeuralNetworksModel* model,
                                                          const ANeuralNetworksDevice* const* chosen,
                                                          uint32_t deviceCount, bool* supported) {
  ENTER();
  check(model->finished, __func__, "the model is not finished");
  check(deviceCount > 0, __func__, "no devices");
  for (size_t i = 0; i < model->operations.size(); ++i) {
    supported[i] = std::any_of(chosen, chosen + deviceCount, [&](const ANeuralNetworksDevice* device) {
      const std::vector<int>& refused = device->setting.refuses;
      return std::find(refused.begin(), refused.end(), model->operations[i]) == refused.end();
    });
  }
  return kNoError;
}

int ANeuralNetworksCompilation_create(ANeuralNetworksModel* model, ANeuralNetworksCompilation** compilation) {
  ENTER();
  RECORD(records.compiled_for.clear());
  return new_compilation(model, false, compilation);
}

int ANeuralNetworksCompilation_createForDevices(ANeuralNetworksModel* model, const ANeuralNetworksDevice* const* chosen,
                                                uint32_t deviceCount, ANeuralNetworksCompilation** compilation) {
  ENTER();
  check(deviceCount > 0, __func__, "no devices");
  RECORD(records.compiled_for.clear();
         for (uint32_t i = 0; i < deviceCount; ++i) records.compiled_for.push_back(chosen[i]->setting.name));
  return new_compilation(model, deviceCount == 1, compilation);
}

void ANeuralNetworksCompilation_free(ANeuralNetworksCompilation* compilation) {
  int users = 0;
  RECORD(users = compilation && live_objects.count(compilation) > 0 ? compilation->users.load() : 0);
  check(users == 0, __func__, "executions or bursts are alive");
  free_object(__func__, compilation);
}

int ANeuralNetworksCompilation_setPreference(ANeuralNetworksCompilation*, int32_t preference) {
  ENTER();
  RECORD(records.preference = preference);
  return kNoError;
}

int ANeuralNetworksCompilation_setPriority(ANeuralNetworksCompilation*, int priority) {
  ENTER();
  RECORD(records.priority = priority);
  return kNoError;
}

int ANeuralNetworksCompilation_setTimeout(ANeuralNetworksCompilation* compilation, uint64_t duration) {
  ENTER();
  check(compilation->for_one_device, __func__, "not one device");
  RECORD(records.compile_timeout = duration);
  return kNoError;
}

int ANeuralNetworksCompilation_setCaching(ANeuralNetworksCompilation*, const char* cacheDir, const uint8_t* token) {
  ENTER();
  RECORD(records.cache_directory = cacheDir; records.token.assign(token, token + 32));
  return kNoError;
}

int ANeuralNetworksCompilation_finish(ANeuralNetworksCompilation* compilation) {
  ENTER();
  uint32_t time = 0;
  RECORD(time = settings.compile_sleep_ms);
  sleep_ms(time);
  compilation->finished = true;
  return kNoError;
}

int ANeuralNetworksExecution_create(ANeuralNetworksCompilation* compilation, ANeuralNetworksExecution** execution) {
  ENTER();
  check(compilation->finished, __func__, "the compilation is not finished");
  auto* created = new ANeuralNetworksExecution{compilation};
  created->inputs.resize(compilation->model->inputs.size());
  created->outputs.resize(compilation->model->outputs.size());
  RECORD(++compilation->users);
  *execution = made(created);
  return kNoError;
}

void ANeuralNetworksExecution_free(ANeuralNetworksExecution* execution) {
  check(!execution || !execution->busy, __func__, "the execution computes");
  free_object(__func__, execution);
}

int ANeuralNetworksExecution_setInput(ANeuralNetworksExecution* execution, int32_t index,
                                      const ANeuralNetworksOperandType*, const void* buffer, size_t length) {
  ENTER();
  check(!execution->computed, __func__, "the execution has computed");
  const ANeuralNetworksModel& model = *execution->compilation->model;
  check(length == model.operand_bytes.at(model.inputs.at(static_cast<size_t>(index))), __func__, "wrong length");
  execution->inputs.at(static_cast<size_t>(index)) = {static_cast<const uint8_t*>(buffer), length};
  return kNoError;
}

int ANeuralNetworksExecution_setOutput(ANeuralNetworksExecution* execution, int32_t index,
                                       const ANeuralNetworksOperandType*, void* buffer, size_t length) {
  ENTER();
  check(!execution->computed, __func__, "the execution has computed");
  const ANeuralNetworksModel& model = *execution->compilation->model;
  check(length == model.operand_bytes.at(model.outputs.at(static_cast<size_t>(index))), __func__, "wrong length");
  execution->outputs.at(static_cast<size_t>(index)) = {static_cast<uint8_t*>(buffer), length};
  return kNoError;
}

int ANeuralNetworksExecution_setReusable(ANeuralNetworksExecution* execution, bool reusable) {
  ENTER();
  execution->reusable = reusable;
  return kNoError;
}

int ANeuralNetworksExecution_setLoopTimeout(ANeuralNetworksExecution*, uint64_t duration) {
  ENTER();
  RECORD(records.loop_timeout = duration);
  return kNoError;
}

int ANeuralNetworksExecution_setTimeout(ANeuralNetworksExecution* execution, uint64_t duration) {
  ENTER();
  check(execution->compilation->for_one_device, __func__, "not one device");
  RECORD(records.execute_timeout = duration);
  return kNoError;
}

int ANeuralNetworksExecution_setMeasureTiming(ANeuralNetworksExecution* execution, bool measure) {
  ENTER();
  check(execution->compilation->for_one_device, __func__, "not one device");
  RECORD(records.measured = measure);
  execution->measured = measure;
  return kNoError;
}

int ANeuralNetworksExecution_getDuration(const ANeuralNetworksExecution* execution, int32_t durationCode,
                                         uint64_t* duration) {
  ENTER();
  check(execution->measured && execution->computed, __func__, "nothing was measured");
  *duration = durationCode == 0 ? 1234 : UINT64_MAX;  // in the driver: not known
  return kNoError;
}

int ANeuralNetworksExecution_compute(ANeuralNetworksExecution* execution) {
  ENTER();
  return compute(execution, __func__);
}

int ANeuralNetworksExecution_startCompute(ANeuralNetworksExecution* execution, ANeuralNetworksEvent** event) {
  ENTER();
  *event = made(new ANeuralNetworksEvent{compute(execution, __func__)});
  return kNoError;
}

int ANeuralNetworksEvent_wait(ANeuralNetworksEvent* event) {
  ENTER();
  return event->code;
}
void ANeuralNetworksEvent_free(ANeuralNetworksEvent* event) {
  free_object(__func__, event);
}

int ANeuralNetworksBurst_create(ANeuralNetworksCompilation* compilation, ANeuralNetworksBurst** burst) {
  ENTER();
  RECORD(++compilation->users);
  *burst = made(new ANeuralNetworksBurst{compilation});
  return kNoError;
}

void ANeuralNetworksBurst_free(ANeuralNetworksBurst* burst) {
  check(!burst || !burst->busy, __func__, "the burst computes");
  free_object(__func__, burst);
}

int ANeuralNetworksExecution_burstCompute(ANeuralNetworksExecution* execution, ANeuralNetworksBurst* burst) {
  ENTER();
  check(burst->compilation == execution->compilation, __func__, "a burst of another compilation");
  RECORD(if (burst->busy) violate("burstCompute: the burst computes already"); burst->busy = true);
  const int code = compute(execution, __func__);
  RECORD(burst->busy = false);
  return code;
}

struct SupportLibraryTable {
  int64_t level;
  void* functions[71];
};

// Which functions there are, and that the table has them in the order of their names, is known from AOSP's header.
__attribute__((visibility("default"))) SupportLibraryTable* ANeuralNetworks_getSLDriverImpl() {
  static SupportLibraryTable table;
  std::map<std::string, void*> sorted;
#define NNAPI_HOST_FUNCTION(level, name) sorted[#name] = nullptr;
#include "lib/host_runtime/functions.inc"
#undef NNAPI_HOST_FUNCTION
  sorted.erase("ANeuralNetworksCompilation_create");
  sorted.erase("ANeuralNetworksExecution_startCompute");
#define HAVE(name) sorted[#name] = reinterpret_cast<void*>(name);
  HAVE(ANeuralNetworksBurst_create)
  HAVE(ANeuralNetworksBurst_free)
  HAVE(ANeuralNetworksCompilation_createForDevices)
  HAVE(ANeuralNetworksCompilation_finish)
  HAVE(ANeuralNetworksCompilation_free)
  HAVE(ANeuralNetworksCompilation_setCaching)
  HAVE(ANeuralNetworksCompilation_setPreference)
  HAVE(ANeuralNetworksCompilation_setPriority)
  HAVE(ANeuralNetworksCompilation_setTimeout)
  HAVE(ANeuralNetworksDevice_getFeatureLevel)
  HAVE(ANeuralNetworksDevice_getName)
  HAVE(ANeuralNetworksDevice_getType)
  HAVE(ANeuralNetworksDevice_getVersion)
  HAVE(ANeuralNetworksEvent_free)
  HAVE(ANeuralNetworksEvent_wait)
  HAVE(ANeuralNetworksExecution_burstCompute)
  HAVE(ANeuralNetworksExecution_compute)
  HAVE(ANeuralNetworksExecution_create)
  HAVE(ANeuralNetworksExecution_free)
  HAVE(ANeuralNetworksExecution_getDuration)
  HAVE(ANeuralNetworksExecution_setInput)
  HAVE(ANeuralNetworksExecution_setLoopTimeout)
  HAVE(ANeuralNetworksExecution_setMeasureTiming)
  HAVE(ANeuralNetworksExecution_setOutput)
  HAVE(ANeuralNetworksExecution_setReusable)
  HAVE(ANeuralNetworksExecution_setTimeout)
  HAVE(ANeuralNetworksMemory_createFromFd)
  HAVE(ANeuralNetworksMemory_free)
  HAVE(ANeuralNetworksModel_addOperand)
  HAVE(ANeuralNetworksModel_addOperation)
  HAVE(ANeuralNetworksModel_create)
  HAVE(ANeuralNetworksModel_finish)
  HAVE(ANeuralNetworksModel_free)
  HAVE(ANeuralNetworksModel_getSupportedOperationsForDevices)
  HAVE(ANeuralNetworksModel_identifyInputsAndOutputs)
  HAVE(ANeuralNetworksModel_relaxComputationFloat32toFloat16)
  HAVE(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams)
  HAVE(ANeuralNetworksModel_setOperandValue)
  HAVE(ANeuralNetworksModel_setOperandValueFromMemory)
  HAVE(ANeuralNetworksModel_setOperandValueFromModel)
  HAVE(ANeuralNetworks_getDevice)
  HAVE(ANeuralNetworks_getDeviceCount)
  HAVE(ANeuralNetworks_getRuntimeFeatureLevel)
  const std::lock_guard<std::mutex> lock(mutex);
  // 0 stands for a library that has no drivers for this device.
  if (settings.level_code == 0) return nullptr;
  table.level = settings.level_code;
  size_t i = 0;
  for (const auto& [name, function] : sorted) table.functions[i++] = function;
  if (i != 71) violate("the table has 71 functions");
  return &table;
}

}  // extern "C"
