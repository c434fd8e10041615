// SPDX-License-Identifier: BSD-3-Clause
// An NNAPI whose device "alpha" computes some operations wrongly, for tests of the doctor: the host's NNAPI, offered as
// "alpha", an accelerator, and "nnapi-reference", which is right. What NNAPI chooses is alpha.
//
// SPOILT_NNAPI has the faults, separated by ";", each of seven words:
//   way     scale, scale8 (integers alone), channel, nan, half, crash, hang, refuse (in a run), refuse_compile or
//           untaken; copy: a process ends that sets a value which NNAPI would have to copy into memory of its drivers;
//           flaky, late: the outputs of a model that has the operation are multiplied in the runs that `channel` says;
//           crash_sometimes: a crash in the runs of flaky
//   code    of the operation; -1: all
//   sizes   of the operation's first result, as 1x56x56x24; -: any
//   after   the code of an operation that has to make one of its inputs; -1: any
//   amount  what the results are multiplied by
//   channel that is multiplied, for the way channel; for flaky, of 10 runs how many are wrong; for late, the first one
//           of a compiled model that is wrong, from 1 on
//   inputs  how many inputs the operation has; 0: any
// SPOILT_NNAPI_LOG names a file that gets a line for each compilation and for each fault that a model has.
//
// Results are spoilt within the model: an operation after the spoilt one multiplies its result. Two models are built of
// each, a right one and a spoilt one, as the device is known only later. What is not defined here is the host's: the
// library depends on it, so that dlsym finds it there.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "lib/format/nnapi_codes.h"
#include "lib/shim/nnapi_types.h"

namespace {

const char* const kNames[] = {"alpha", "nnapi-reference"};
const int32_t kTypes[] = {4, 2};  // ANEURALNETWORKS_DEVICE_ACCELERATOR, _CPU

const char* version_of(int /*number*/) {
  return "1";
}

}  // namespace

#include "tests/shim/named_devices.inc"

namespace {

using nnapi_convert::OperandCode;
using nnapi_convert::OperationCode;

constexpr int kOpFailed = 5;  // ANEURALNETWORKS_OP_FAILED

struct Fault {
  std::string way, sizes;
  int code = -1, after = -1;
  float amount = 1;
  int channel = 0;
  uint32_t inputs = 0;
};

const std::vector<Fault>& faults() {
  static const std::vector<Fault> all = [] {
    const char* value = std::getenv("SPOILT_NNAPI");
    std::istringstream text(value ? value : "");
    std::vector<Fault> read;
    for (std::string one; std::getline(text, one, ';');) {
      std::istringstream words(one);
      Fault fault;
      if (words >> fault.way >> fault.code >> fault.sizes >> fault.after >> fault.amount >> fault.channel >>
          fault.inputs) {
        read.push_back(fault);
      }
    }
    return read;
  }();
  return all;
}

void log(const std::string& line) {
  const char* path = std::getenv("SPOILT_NNAPI_LOG");
  const int fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT, 0600) : -1;
  if (fd < 0) return;
  const std::string text = line + "\n";
  if (write(fd, text.data(), text.size()) < 0) std::abort();
  close(fd);
}

struct KnownOperand {
  ANeuralNetworksOperandType type;
  std::vector<uint32_t> dims;
  int made_by = -1;  // the code of an operation
};

struct Recorded {
  ANeuralNetworksModel* right = nullptr;
  ANeuralNetworksModel* spoilt = nullptr;
  std::vector<KnownOperand> operands;
  uint32_t spoilt_operands = 0;
  std::vector<bool> untaken;               // of each operation
  std::vector<const Fault*> at_run;        // crash, hang, refuse, refuse_compile, flaky, late
  std::list<std::vector<char>> constants;  // live as long as the model
};

struct Compiled {
  const Recorded* model = nullptr;  // null: on the reference
  std::shared_ptr<int> runs = std::make_shared<int>(0);
  std::map<int32_t, std::pair<void*, size_t>> outputs = {};  // of an execution
};

std::mutex mutex;
std::map<const void*, Compiled> compilations, executions;

Recorded* recorded(const ANeuralNetworksModel* model) {
  return reinterpret_cast<Recorded*>(const_cast<ANeuralNetworksModel*>(model));
}

void require(int code) {
  if (code != 0) std::abort();
}

std::string sizes_text(const std::vector<uint32_t>& dims) {
  std::string text;
  for (const uint32_t size : dims) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

// Makes an operand of the spoilt model that the right one does not have.
uint32_t add_spoilt_operand(Recorded& model, const KnownOperand& like, int32_t type) {
  ANeuralNetworksOperandType added = like.type;
  added.type = type;
  added.dimensions = like.dims.data();
  added.dimensionCount = static_cast<uint32_t>(like.dims.size());
  require(host<int(ANeuralNetworksModel*, const ANeuralNetworksOperandType*)>("ANeuralNetworksModel_addOperand")(
      model.spoilt, &added));
  return model.spoilt_operands++;
}

uint32_t add_constant(Recorded& model, const ANeuralNetworksOperandType& type, std::vector<char> bytes) {
  require(host<int(ANeuralNetworksModel*, const ANeuralNetworksOperandType*)>("ANeuralNetworksModel_addOperand")(
      model.spoilt, &type));
  model.constants.push_back(std::move(bytes));
  const std::vector<char>& kept = model.constants.back();
  require(host<int(ANeuralNetworksModel*, int32_t, const void*, size_t)>("ANeuralNetworksModel_setOperandValue")(
      model.spoilt, static_cast<int32_t>(model.spoilt_operands), kept.data(), kept.size()));
  return model.spoilt_operands++;
}

void add_spoilt_operation(Recorded& model, OperationCode code, const std::vector<uint32_t>& inputs, uint32_t output) {
  require(host<int(ANeuralNetworksModel*, int32_t, uint32_t, const uint32_t*, uint32_t, const uint32_t*)>(
      "ANeuralNetworksModel_addOperation")(model.spoilt, static_cast<int32_t>(code),
                                           static_cast<uint32_t>(inputs.size()), inputs.data(), 1, &output));
}

bool is_float(int32_t type) {
  return type == static_cast<int32_t>(OperandCode::TENSOR_FLOAT32);
}
bool is_signed(int32_t type) {
  return type == static_cast<int32_t>(OperandCode::TENSOR_QUANT8_ASYMM_SIGNED);
}
bool is_quantised(int32_t type) {
  return is_signed(type) || type == static_cast<int32_t>(OperandCode::TENSOR_QUANT8_ASYMM);
}

// The factors as the numbers of a tensor of the type.
uint32_t add_factors(Recorded& model, int32_t type, const std::vector<float>& factors) {
  constexpr float kStep = 0.02F;
  const auto count = static_cast<uint32_t>(factors.size());
  ANeuralNetworksOperandType form = {type, 1, &count, 0, 0};
  std::vector<char> bytes;
  if (is_float(type)) {
    bytes.resize(factors.size() * sizeof(float));
    std::memcpy(bytes.data(), factors.data(), bytes.size());
  } else {
    form.scale = kStep;
    form.zeroPoint = is_signed(type) ? -128 : 0;
    for (const float factor : factors) {
      const float steps = std::min(std::max(std::round(factor / kStep), 0.0F), 255.0F);
      bytes.push_back(static_cast<char>(static_cast<int>(steps) + form.zeroPoint));
    }
  }
  return add_constant(model, form, std::move(bytes));
}

// Adds what makes `output` of the operand that the operation made in its place.
void spoil(Recorded& model, const Fault& fault, uint32_t made, uint32_t output) {
  const KnownOperand& known = model.operands[output];
  if (fault.way == "half") {
    const auto half = static_cast<int32_t>(OperandCode::TENSOR_FLOAT16);
    const uint32_t rounded = add_spoilt_operand(model, known, half);
    add_spoilt_operation(model, OperationCode::CAST, {made}, rounded);
    return add_spoilt_operation(model, OperationCode::CAST, {rounded}, output);
  }
  std::vector<float> factors = {fault.amount};
  if (fault.way == "nan") factors = {is_float(known.type.type) ? std::nanf("") : 0.0F};
  if (fault.way == "channel") {
    factors.assign(known.dims.empty() ? 1 : known.dims.back(), 1.0F);
    factors[static_cast<size_t>(fault.channel) % factors.size()] = fault.amount;
  }
  const uint32_t factor = add_factors(model, known.type.type, factors);
  const ANeuralNetworksOperandType number = {static_cast<int32_t>(OperandCode::INT32), 0, nullptr, 0, 0};
  const uint32_t no_activation = add_constant(model, number, std::vector<char>(4, '\0'));
  add_spoilt_operation(model, OperationCode::MUL, {made, factor, no_activation}, output);
}

bool spoils_results(const Fault& fault) {
  return fault.way == "scale" || fault.way == "scale8" || fault.way == "channel" || fault.way == "nan" ||
         fault.way == "half";
}

bool concerns(const Fault& fault, const Recorded& model, int32_t code, uint32_t input_count, const uint32_t* inputs,
              uint32_t output) {
  if (fault.code >= 0 && fault.code != code) return false;
  if (fault.inputs != 0 && fault.inputs != input_count) return false;
  const KnownOperand& known = model.operands[output];
  if (fault.sizes != "-" && fault.sizes != sizes_text(known.dims)) return false;
  const bool is_after = fault.after < 0 || std::any_of(inputs, inputs + input_count, [&](uint32_t input) {
                          return model.operands[input].made_by == fault.after;
                        });
  if (!is_after || !spoils_results(fault)) return is_after;
  if (known.dims.empty() || known.dims.size() > 4) return false;
  if (fault.way == "half") return is_float(known.type.type);
  if (fault.way == "scale8") return is_quantised(known.type.type);
  return is_float(known.type.type) || is_quantised(known.type.type);
}

// As if by chance, but in the same runs each time.
bool is_by_chance(const Fault& fault) {
  static std::atomic<uint32_t> runs{1};
  const uint32_t number = runs.fetch_add(1) * 2654435761U;
  return static_cast<int>((number >> 16) % 10) < fault.channel;
}

int begin_run(const ANeuralNetworksExecution* execution) {
  const Recorded* model = nullptr;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    model = executions[execution].model;
  }
  if (!model) return 0;
  for (const Fault* fault : model->at_run) {
    if (fault->way == "crash" || (fault->way == "crash_sometimes" && is_by_chance(*fault))) raise(SIGSEGV);
    while (fault->way == "hang") pause();
    if (fault->way == "refuse") return kOpFailed;
  }
  return 0;
}

bool is_wrong_now(const Fault& fault, int run_of_model) {
  if (fault.way == "late") return run_of_model >= fault.channel;
  return fault.way == "flaky" && is_by_chance(fault);
}

void end_run(const ANeuralNetworksExecution* execution) {
  Compiled run;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    run = executions[execution];
    ++*run.runs;
  }
  if (!run.model) return;
  for (const Fault* fault : run.model->at_run) {
    if (!is_wrong_now(*fault, *run.runs)) continue;
    for (const auto& [number, output] : run.outputs) {
      for (size_t at = 0; at + sizeof(float) <= output.second; at += sizeof(float)) {
        float value = 0;
        std::memcpy(&value, static_cast<char*>(output.first) + at, sizeof value);
        value *= fault->amount;
        std::memcpy(static_cast<char*>(output.first) + at, &value, sizeof value);
      }
    }
  }
}

// Does the same for both models.
template <typename Function, typename... Arguments>
int both(const char* name, ANeuralNetworksModel* model, Arguments... arguments) {
  Recorded* const models = recorded(model);
  const int code = host<Function>(name)(models->right, arguments...);
  const int other = host<Function>(name)(models->spoilt, arguments...);
  return code != 0 ? code : other;
}

}  // namespace

extern "C" {

int ANeuralNetworksModel_create(ANeuralNetworksModel** model) {
  auto* const made = new Recorded;
  *model = reinterpret_cast<ANeuralNetworksModel*>(made);
  auto* const create = host<int(ANeuralNetworksModel**)>("ANeuralNetworksModel_create");
  const int code = create(&made->right);
  return code != 0 ? code : create(&made->spoilt);
}
void ANeuralNetworksModel_free(ANeuralNetworksModel* model) {
  if (!model) return;
  host<void(ANeuralNetworksModel*)>("ANeuralNetworksModel_free")(recorded(model)->right);
  host<void(ANeuralNetworksModel*)>("ANeuralNetworksModel_free")(recorded(model)->spoilt);
  delete recorded(model);
}
int ANeuralNetworksModel_addOperand(ANeuralNetworksModel* model, const ANeuralNetworksOperandType* type) {
  KnownOperand known = {*type, {}, -1};
  if (type->dimensionCount > 0) known.dims.assign(type->dimensions, type->dimensions + type->dimensionCount);
  recorded(model)->operands.push_back(std::move(known));
  ++recorded(model)->spoilt_operands;
  return both<int(ANeuralNetworksModel*, const ANeuralNetworksOperandType*)>("ANeuralNetworksModel_addOperand", model,
                                                                             type);
}
int ANeuralNetworksModel_setOperandValue(ANeuralNetworksModel* model, int32_t index, const void* data, size_t bytes) {
  constexpr size_t kMostCopiedAtOnce = 128;  // ANEURALNETWORKS_MAX_SIZE_OF_IMMEDIATELY_COPIED_VALUES
  for (const Fault& fault : faults()) {
    if (fault.way == "copy" && bytes > kMostCopiedAtOnce) raise(SIGSEGV);
  }
  return both<int(ANeuralNetworksModel*, int32_t, const void*, size_t)>("ANeuralNetworksModel_setOperandValue", model,
                                                                        index, data, bytes);
}
int ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(ANeuralNetworksModel* model, int32_t index,
                                                             const ANeuralNetworksSymmPerChannelQuantParams* scales) {
  return both<int(ANeuralNetworksModel*, int32_t, const ANeuralNetworksSymmPerChannelQuantParams*)>(
      "ANeuralNetworksModel_setOperandSymmPerChannelQuantParams", model, index, scales);
}
int ANeuralNetworksModel_setOperandValueFromMemory(ANeuralNetworksModel* model, int32_t index,
                                                   const ANeuralNetworksMemory* memory, size_t offset, size_t bytes) {
  return both<int(ANeuralNetworksModel*, int32_t, const ANeuralNetworksMemory*, size_t, size_t)>(
      "ANeuralNetworksModel_setOperandValueFromMemory", model, index, memory, offset, bytes);
}
int ANeuralNetworksModel_setOperandValueFromModel(ANeuralNetworksModel* model, int32_t index,
                                                  const ANeuralNetworksModel* value) {
  auto* const set = host<int(ANeuralNetworksModel*, int32_t, const ANeuralNetworksModel*)>(
      "ANeuralNetworksModel_setOperandValueFromModel");
  const int code = set(recorded(model)->right, index, recorded(value)->right);
  return code != 0 ? code : set(recorded(model)->spoilt, index, recorded(value)->spoilt);
}
int ANeuralNetworksModel_addOperation(ANeuralNetworksModel* model, int32_t code, uint32_t input_count,
                                      const uint32_t* inputs, uint32_t output_count, const uint32_t* outputs) {
  auto* const add = host<int(ANeuralNetworksModel*, int32_t, uint32_t, const uint32_t*, uint32_t, const uint32_t*)>(
      "ANeuralNetworksModel_addOperation");
  Recorded& models = *recorded(model);
  const int right = add(models.right, code, input_count, inputs, output_count, outputs);
  if (right != 0) return right;
  const Fault* spoiling = nullptr;
  bool is_untaken = false;
  for (const Fault& fault : faults()) {
    if (!concerns(fault, models, code, input_count, inputs, outputs[0])) continue;
    log("fault " + fault.way + " " + std::to_string(code) + " " + sizes_text(models.operands[outputs[0]].dims));
    if (fault.way == "untaken") {
      is_untaken = true;
    } else if (spoils_results(fault)) {
      spoiling = &fault;
    } else {
      models.at_run.push_back(&fault);
    }
  }
  models.untaken.push_back(is_untaken);
  for (uint32_t i = 0; i < output_count; ++i) models.operands[outputs[i]].made_by = code;
  if (!spoiling) return add(models.spoilt, code, input_count, inputs, output_count, outputs);
  std::vector<uint32_t> made(outputs, outputs + output_count);
  made[0] = add_spoilt_operand(models, models.operands[outputs[0]], models.operands[outputs[0]].type.type);
  require(add(models.spoilt, code, input_count, inputs, output_count, made.data()));
  spoil(models, *spoiling, made[0], outputs[0]);
  return 0;
}
int ANeuralNetworksModel_identifyInputsAndOutputs(ANeuralNetworksModel* model, uint32_t input_count,
                                                  const uint32_t* inputs, uint32_t output_count,
                                                  const uint32_t* outputs) {
  return both<int(ANeuralNetworksModel*, uint32_t, const uint32_t*, uint32_t, const uint32_t*)>(
      "ANeuralNetworksModel_identifyInputsAndOutputs", model, input_count, inputs, output_count, outputs);
}
int ANeuralNetworksModel_relaxComputationFloat32toFloat16(ANeuralNetworksModel* model, bool allow) {
  return both<int(ANeuralNetworksModel*, bool)>("ANeuralNetworksModel_relaxComputationFloat32toFloat16", model, allow);
}
int ANeuralNetworksModel_finish(ANeuralNetworksModel* model) {
  return both<int(ANeuralNetworksModel*)>("ANeuralNetworksModel_finish", model);
}
int ANeuralNetworksModel_getSupportedOperationsForDevices(const ANeuralNetworksModel* model,
                                                          const ANeuralNetworksDevice* const* asked, uint32_t count,
                                                          bool* supported) {
  const Recorded& models = *recorded(model);
  const bool has_reference =
      std::any_of(asked, asked + count, [](const ANeuralNetworksDevice* device) { return number_of(device) == 1; });
  for (size_t i = 0; i < models.untaken.size(); ++i) supported[i] = has_reference || !models.untaken[i];
  return 0;
}

int ANeuralNetworksCompilation_create(ANeuralNetworksModel* model, ANeuralNetworksCompilation** made) {
  const int code = host<int(ANeuralNetworksModel*, ANeuralNetworksCompilation**)>("ANeuralNetworksCompilation_create")(
      recorded(model)->spoilt, made);
  const std::lock_guard<std::mutex> lock(mutex);
  if (code == 0) compilations[*made].model = recorded(model);
  return code;
}
int ANeuralNetworksCompilation_createForDevices(ANeuralNetworksModel* model, const ANeuralNetworksDevice* const* given,
                                                uint32_t count, ANeuralNetworksCompilation** made) {
  if (count == 0) return kBadData;
  const bool is_on_alpha =
      std::any_of(given, given + count, [](const ANeuralNetworksDevice* device) { return number_of(device) == 0; });
  const ANeuralNetworksDevice* device = host_device();
  const int code =
      host<int(ANeuralNetworksModel*, const ANeuralNetworksDevice* const*, uint32_t, ANeuralNetworksCompilation**)>(
          "ANeuralNetworksCompilation_createForDevices")(is_on_alpha ? recorded(model)->spoilt : recorded(model)->right,
                                                         &device, 1, made);
  const std::lock_guard<std::mutex> lock(mutex);
  if (code == 0) compilations[*made].model = is_on_alpha ? recorded(model) : nullptr;
  return code;
}
int ANeuralNetworksCompilation_finish(ANeuralNetworksCompilation* compilation) {
  const Recorded* model = nullptr;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    model = compilations[compilation].model;
  }
  log(model ? "compile alpha" : "compile nnapi-reference");
  if (model) {
    for (const Fault* fault : model->at_run) {
      if (fault->way == "refuse_compile") return kOpFailed;
    }
  }
  return host<int(ANeuralNetworksCompilation*)>("ANeuralNetworksCompilation_finish")(compilation);
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
  if (code == 0) executions[*made] = compilations[compilation];
  return code;
}
int ANeuralNetworksExecution_setOutput(ANeuralNetworksExecution* execution, int32_t index,
                                       const ANeuralNetworksOperandType* type, void* buffer, size_t length) {
  {
    const std::lock_guard<std::mutex> lock(mutex);
    executions[execution].outputs[index] = {buffer, length};
  }
  return host<int(ANeuralNetworksExecution*, int32_t, const ANeuralNetworksOperandType*, void*, size_t)>(
      "ANeuralNetworksExecution_setOutput")(execution, index, type, buffer, length);
}
int ANeuralNetworksExecution_compute(ANeuralNetworksExecution* execution) {
  if (const int code = begin_run(execution)) return code;
  const int code = host<int(ANeuralNetworksExecution*)>("ANeuralNetworksExecution_compute")(execution);
  end_run(execution);
  return code;
}
int ANeuralNetworksExecution_burstCompute(ANeuralNetworksExecution* execution, ANeuralNetworksBurst* burst) {
  if (const int code = begin_run(execution)) return code;
  const int code = host<int(ANeuralNetworksExecution*, ANeuralNetworksBurst*)>("ANeuralNetworksExecution_burstCompute")(
      execution, burst);
  end_run(execution);
  return code;
}
int ANeuralNetworksExecution_startCompute(ANeuralNetworksExecution* execution, ANeuralNetworksEvent** event) {
  if (const int code = begin_run(execution)) return code;
  return host<int(ANeuralNetworksExecution*, ANeuralNetworksEvent**)>("ANeuralNetworksExecution_startCompute")(
      execution, event);
}
void ANeuralNetworksExecution_free(ANeuralNetworksExecution* execution) {
  {
    const std::lock_guard<std::mutex> lock(mutex);
    executions.erase(execution);
  }
  host<void(ANeuralNetworksExecution*)>("ANeuralNetworksExecution_free")(execution);
}

}  // extern "C"
