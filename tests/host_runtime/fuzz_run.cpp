// SPDX-License-Identifier: BSD-3-Clause
// Runs the fuzzer's programs through the C interface.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "lib/host_runtime/neural_networks.h"
#include "tests/host_runtime/fuzz_program.h"

namespace fuzz {
namespace {

constexpr std::size_t kMaxBytes = 1 << 18;   // of one operand
constexpr std::size_t kUnknownBytes = 4096;  // for an output whose extents only the execution knows
constexpr uint64_t kLoopTimeout = 5000000, kTimeout = 200000000;  // nanoseconds

template <typename Object>
using Owner = std::unique_ptr<Object, void (*)(Object*)>;

uint32_t size_of(const std::vector<uint32_t>& list) {
  return static_cast<uint32_t>(list.size());
}

ANeuralNetworksOperandType type_of(const Operand& operand) {
  return {static_cast<int32_t>(operand.type), size_of(operand.dims), operand.dims.data(), operand.scale,
          operand.zero_point};
}

// The bytes of the operand's values, or `unknown` where its extents or type are not known or are too many.
std::size_t length_of(const Operand& operand, std::size_t unknown) {
  std::size_t bytes = element_size(operand.type);
  for (const uint32_t extent : operand.dims) {
    if (extent == 0 || (bytes > 0 && extent > kMaxBytes / bytes)) return unknown;
    bytes *= extent;
  }
  return bytes == 0 ? unknown : bytes;
}

Bytes repeated(const Bytes& pattern, std::size_t length) {
  Bytes result(length);
  for (std::size_t i = 0; !pattern.empty() && i < length; ++i) result[i] = pattern[i % pattern.size()];
  return result;
}

class Memory {
 public:
  Memory(std::size_t size, bool unaligned) : offset_(unaligned ? 1 : 64), size_(size + offset_) {
    const int file = memfd_create("fuzz", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(size_)) != 0) std::abort();
    ANeuralNetworksMemory_createFromFd(size_, PROT_READ | PROT_WRITE, file, 0, &memory_);
    file_ = file;
  }
  ~Memory() {
    ANeuralNetworksMemory_free(memory_);
    close(file_);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  void write(const Bytes& bytes) {
    if (pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset_)) < 0) std::abort();
  }
  const ANeuralNetworksMemory* get() const { return memory_; }
  std::size_t offset() const { return offset_; }

 private:
  std::size_t offset_, size_;
  int file_ = -1;
  ANeuralNetworksMemory* memory_ = nullptr;
};

class Runner {
 public:
  explicit Runner(const Program& program) : program_(program) {}

  void run() {
    for (std::size_t i = 0; i < program_.graphs.size(); ++i) {
      if (!build(program_.graphs[i]) && i + 1 == program_.graphs.size()) return;
    }
    if (!compile()) return;
    execute();
  }

 private:
  bool build(const Graph& graph);
  static void compile_too_early(ANeuralNetworksModel* model);
  void add_operand(const Operand& operand, int32_t index, bool is_input, ANeuralNetworksModel* model);
  void set_memory(const Operand& operand, int32_t index, ANeuralNetworksModel* model);
  bool compile();
  void execute();
  Owner<ANeuralNetworksMemory> own_memory(bool input, uint32_t index);
  void set_arguments(ANeuralNetworksExecution* execution);
  void set_argument(ANeuralNetworksExecution* execution, const Operand& operand, int32_t index, bool input);
  void compute(ANeuralNetworksExecution* execution);
  void ask(ANeuralNetworksExecution* execution);
  void misuse(ANeuralNetworksExecution* execution);

  const Program& program_;
  std::array<uint8_t, 16> scrap_{};
  std::vector<std::unique_ptr<Bytes>> values_;
  std::vector<std::unique_ptr<Memory>> memories_;
  std::vector<Owner<ANeuralNetworksMemory>> own_memories_;
  std::vector<Owner<ANeuralNetworksModel>> models_;
  Owner<ANeuralNetworksCompilation> compilation_{nullptr, ANeuralNetworksCompilation_free};
};

void Runner::set_memory(const Operand& operand, int32_t index, ANeuralNetworksModel* model) {
  const std::size_t length = length_of(operand, operand.pattern.size());
  memories_.push_back(std::make_unique<Memory>(length, program_.unaligned));
  Memory& memory = *memories_.back();
  memory.write(repeated(operand.pattern, length));
  ANeuralNetworksModel_setOperandValueFromMemory(model, index, memory.get(), memory.offset(), length);
}

// The source of a model input is what the execution does with it.
void Runner::add_operand(const Operand& operand, int32_t index, bool is_input, ANeuralNetworksModel* model) {
  const ANeuralNetworksOperandType type = type_of(operand);
  ANeuralNetworksModel_addOperand(model, &type);
  if (!operand.channel_scales.empty()) {
    const ANeuralNetworksSymmPerChannelQuantParams params = {
        operand.channel_dim, static_cast<uint32_t>(operand.channel_scales.size()), operand.channel_scales.data()};
    ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(model, index, &params);
  }
  if (is_input) return;
  switch (operand.source) {
    case Source::kOmitted:
      ANeuralNetworksModel_setOperandValue(model, index, nullptr, 0);
      break;
    case Source::kConstant:
    case Source::kRaw: {
      const std::size_t length =
          operand.source == Source::kRaw ? operand.pattern.size() : length_of(operand, operand.pattern.size());
      values_.push_back(std::make_unique<Bytes>(repeated(operand.pattern, length)));
      ANeuralNetworksModel_setOperandValue(model, index, values_.back()->data(), length);
      break;
    }
    case Source::kMemory:
      set_memory(operand, index, model);
      break;
    case Source::kModel:
      if (operand.graph < models_.size()) {
        ANeuralNetworksModel_setOperandValueFromModel(model, index, models_[operand.graph].get());
      }
      break;
    default:
      break;
  }
}

bool Runner::build(const Graph& graph) {
  ANeuralNetworksModel* model = nullptr;
  if (ANeuralNetworksModel_create(&model) != 0) return false;
  models_.emplace_back(model, ANeuralNetworksModel_free);
  for (std::size_t i = 0; i < graph.operands.size(); ++i) {
    const auto index = static_cast<uint32_t>(i);
    const bool is_input = std::find(graph.inputs.begin(), graph.inputs.end(), index) != graph.inputs.end();
    add_operand(graph.operands[i], static_cast<int32_t>(i), is_input && !program_.misused, model);
  }
  for (const Operation& operation : graph.operations) {
    ANeuralNetworksModel_addOperation(model, static_cast<int32_t>(operation.code), size_of(operation.inputs),
                                      operation.inputs.data(), size_of(operation.outputs), operation.outputs.data());
  }
  ANeuralNetworksModel_identifyInputsAndOutputs(model, size_of(graph.inputs), graph.inputs.data(),
                                                size_of(graph.outputs), graph.outputs.data());
  if (program_.relaxed) ANeuralNetworksModel_relaxComputationFloat32toFloat16(model, true);
  if (program_.misused) compile_too_early(model);
  const bool finished = ANeuralNetworksModel_finish(model) == 0;
  if (program_.misused && !graph.operands.empty()) {
    add_operand(graph.operands.front(), 0, false, model);
    ANeuralNetworksModel_identifyInputsAndOutputs(model, 0, nullptr, 0, nullptr);
    ANeuralNetworksModel_finish(model);
  }
  return finished;
}

void Runner::compile_too_early(ANeuralNetworksModel* model) {
  ANeuralNetworksCompilation* made = nullptr;
  ANeuralNetworksCompilation_create(model, &made);
  ANeuralNetworksExecution* execution = nullptr;
  if (made) ANeuralNetworksExecution_create(made, &execution);
  ANeuralNetworksExecution_free(execution);
  ANeuralNetworksCompilation_free(made);
}

bool Runner::compile() {
  ANeuralNetworksDevice* device = nullptr;
  ANeuralNetworks_getDevice(0, &device);
  ANeuralNetworksCompilation* made = nullptr;
  // A compilation for a chosen device takes timeouts; level 1 and 2 have none.
  if (device) {
    const std::unique_ptr<bool[]> supported(new bool[kMaxOperations]);
    ANeuralNetworksModel_getSupportedOperationsForDevices(models_.back().get(), &device, 1, supported.get());
    ANeuralNetworksCompilation_createForDevices(models_.back().get(), &device, 1, &made);
  } else {
    ANeuralNetworksCompilation_create(models_.back().get(), &made);
  }
  compilation_.reset(made);
  return made && ANeuralNetworksCompilation_finish(made) == 0;
}

Owner<ANeuralNetworksMemory> Runner::own_memory(bool input, uint32_t index) {
  Owner<ANeuralNetworksMemory> result(nullptr, ANeuralNetworksMemory_free);
  ANeuralNetworksMemoryDesc* made = nullptr;
  if (ANeuralNetworksMemoryDesc_create(&made) != 0) return result;
  const Owner<ANeuralNetworksMemoryDesc> desc(made, ANeuralNetworksMemoryDesc_free);
  if (input) {
    ANeuralNetworksMemoryDesc_addInputRole(made, compilation_.get(), index, 1);
  } else {
    ANeuralNetworksMemoryDesc_addOutputRole(made, compilation_.get(), index, 1);
  }
  ANeuralNetworksMemory* memory = nullptr;
  if (ANeuralNetworksMemoryDesc_finish(made) == 0) ANeuralNetworksMemory_createFromDesc(made, &memory);
  result.reset(memory);
  return result;
}

void Runner::set_argument(ANeuralNetworksExecution* execution, const Operand& operand, int32_t index, bool input) {
  if (input && operand.source == Source::kOmitted) {
    ANeuralNetworksExecution_setInput(execution, index, nullptr, nullptr, 0);
    return;
  }
  Operand given = operand;
  if (input) std::replace(given.dims.begin(), given.dims.end(), 0U, 2U);
  const ANeuralNetworksOperandType given_type = type_of(given);
  const bool scalar = given.dims.empty();
  const ANeuralNetworksOperandType* type = scalar || given.dims == operand.dims ? nullptr : &given_type;
  const std::size_t length = length_of(given, kUnknownBytes) + (program_.padded ? 64 : 0);
  if (program_.way == Way::kMemories || program_.way == Way::kOwnMemories) {
    memories_.push_back(std::make_unique<Memory>(length, program_.unaligned));
    Memory& memory = *memories_.back();
    if (input) memory.write(repeated(given.pattern, length));
    if (program_.way == Way::kOwnMemories) own_memories_.push_back(own_memory(input, static_cast<uint32_t>(index)));
    const bool own = program_.way == Way::kOwnMemories && own_memories_.back();
    if (own && input) ANeuralNetworksMemory_copy(memory.get(), own_memories_.back().get());
    const ANeuralNetworksMemory* used = own ? own_memories_.back().get() : memory.get();
    const std::size_t offset = own ? 0 : memory.offset(), used_length = own ? 0 : length;
    if (input) {
      ANeuralNetworksExecution_setInputFromMemory(execution, index, type, used, offset, used_length);
    } else {
      ANeuralNetworksExecution_setOutputFromMemory(execution, index, type, used, offset, used_length);
    }
    return;
  }
  const std::size_t shift = program_.unaligned ? 1 : 0;
  values_.push_back(std::make_unique<Bytes>(length + shift));
  uint8_t* buffer = values_.back()->data() + shift;
  if (!input) {
    ANeuralNetworksExecution_setOutput(execution, index, type, buffer, length);
    return;
  }
  const Bytes bytes = repeated(given.pattern, length);
  std::copy(bytes.begin(), bytes.end(), buffer);
  ANeuralNetworksExecution_setInput(execution, index, type, buffer, length);
}

void Runner::set_arguments(ANeuralNetworksExecution* execution) {
  const Graph& graph = program_.graphs.back();
  for (const bool input : {true, false}) {
    const std::vector<uint32_t>& list = input ? graph.inputs : graph.outputs;
    for (std::size_t i = 0; i < list.size(); ++i) {
      set_argument(execution, graph.operands.at(list[i]), static_cast<int32_t>(i), input);
    }
  }
}

void Runner::compute(ANeuralNetworksExecution* execution) {
  ANeuralNetworksEvent* made = nullptr;
  switch (program_.way) {
    case Way::kBurst: {
      ANeuralNetworksBurst* burst = nullptr;
      ANeuralNetworksBurst_create(compilation_.get(), &burst);
      ANeuralNetworksExecution_burstCompute(execution, burst);
      ANeuralNetworksBurst_free(burst);
      return;
    }
    case Way::kReusable:
      ANeuralNetworksExecution_compute(execution);
      ANeuralNetworksExecution_compute(execution);
      return;
    case Way::kBackground:
      ANeuralNetworksExecution_startCompute(execution, &made);
      break;
    case Way::kFenced:
      ANeuralNetworksExecution_startComputeWithDependencies(execution, nullptr, 0, kTimeout, &made);
      break;
    default:
      ANeuralNetworksExecution_compute(execution);
      return;
  }
  const Owner<ANeuralNetworksEvent> event(made, ANeuralNetworksEvent_free);
  if (made) ANeuralNetworksEvent_wait(made);
}

void Runner::ask(ANeuralNetworksExecution* execution) {
  for (std::size_t i = 0; i < program_.graphs.back().outputs.size(); ++i) {
    uint32_t rank = 0;
    const auto index = static_cast<int32_t>(i);
    if (ANeuralNetworksExecution_getOutputOperandRank(execution, index, &rank) != 0) continue;
    std::vector<uint32_t> dims(rank + 1);
    ANeuralNetworksExecution_getOutputOperandDimensions(execution, index, dims.data());
  }
  uint64_t duration = 0;
  ANeuralNetworksExecution_getDuration(execution, 0, &duration);
}

void Runner::misuse(ANeuralNetworksExecution* execution) {
  ask(execution);
  compute(execution);
  // An index past the inputs may be an output's: these bytes have to live as long as the execution.
  std::array<uint8_t, 16>& bytes = scrap_;
  for (const int32_t index : {-1, static_cast<int32_t>(program_.graphs.back().inputs.size())}) {
    ANeuralNetworksExecution_setInput(execution, index, nullptr, bytes.data(), bytes.size());
    ANeuralNetworksExecution_setOutput(execution, index, nullptr, bytes.data(), bytes.size());
    uint32_t rank = 0;
    ANeuralNetworksExecution_getOutputOperandRank(execution, index, &rank);
  }
  own_memory(true, kMaxArguments);
  ANeuralNetworksMemory* memory = nullptr;
  ANeuralNetworksMemory_createFromFd(bytes.size(), PROT_READ, -1, 0, &memory);
  ANeuralNetworksMemory_free(memory);
}

void Runner::execute() {
  ANeuralNetworksExecution* made = nullptr;
  if (ANeuralNetworksExecution_create(compilation_.get(), &made) != 0) return;
  const Owner<ANeuralNetworksExecution> execution(made, ANeuralNetworksExecution_free);
  ANeuralNetworksExecution_setLoopTimeout(made, kLoopTimeout);
  ANeuralNetworksExecution_setTimeout(made, kTimeout);
  ANeuralNetworksExecution_setMeasureTiming(made, true);
  if (program_.padded) ANeuralNetworksExecution_enableInputAndOutputPadding(made, true);
  if (program_.way == Way::kReusable) ANeuralNetworksExecution_setReusable(made, true);
  if (program_.misused) misuse(made);
  set_arguments(made);
  compute(made);
  ask(made);
  if (program_.misused) misuse(made);
}

}  // namespace

void run(const Program& program) {
  setenv("NNAPI_HOST_FEATURE_LEVEL", std::to_string(program.level).c_str(), 1);
  setenv("NNAPI_HOST_RELAX", program.half ? "fp16" : "", 1);
  setenv("NNAPI_HOST_TRACE", program.traced ? "/dev/null" : "", 1);
  Runner(program).run();
}

}  // namespace fuzz
