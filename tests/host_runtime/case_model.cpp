// SPDX-License-Identifier: BSD-3-Clause
#include "tests/host_runtime/case_model.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "tests/host_runtime/vector_numbers.h"

namespace conformance {
namespace {

using vectors::Graph;
using vectors::Operand;

Model new_model() {
  ANeuralNetworksModel* model = nullptr;
  check(ANeuralNetworksModel_create(&model), "Model_create");
  return Model(model, ANeuralNetworksModel_free);
}

uint32_t size_of(const std::vector<uint32_t>& list) {
  return static_cast<uint32_t>(list.size());
}

}  // namespace

Refused::Refused(const char* call, int result)
    : std::runtime_error(std::string(call) + " returns " + std::to_string(result)), code(result) {}

void check(int code, const char* call) {
  if (code != 0) throw Refused(call, code);
}

SharedMemory::SharedMemory(std::size_t size) : size_(size) {
  const int file = memfd_create("conformance", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(size)) != 0) throw std::runtime_error("cannot share memory");
  const int code = ANeuralNetworksMemory_createFromFd(size, PROT_READ | PROT_WRITE, file, 0, &memory_);
  void* mapping = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (mapping == MAP_FAILED) throw std::runtime_error("cannot map shared memory");
  data_ = static_cast<uint8_t*>(mapping);
  if (code == 0) return;
  munmap(data_, size_);
  throw Refused("Memory_createFromFd", code);
}

SharedMemory::~SharedMemory() {
  ANeuralNetworksMemory_free(memory_);
  munmap(data_, size_);
}

std::size_t Layout::add(std::size_t length) {
  constexpr std::size_t kAlignment = 64;
  const std::size_t offset = size_;
  size_ = (offset + length + kAlignment) / kAlignment * kAlignment;
  return offset;
}

CaseModel::CaseModel(const vectors::Case& test) : test_(test), main_(new_model()) {
  for (std::size_t i = 0; i < test.referenced.size(); ++i) referenced_.emplace_back(nullptr, ANeuralNetworksModel_free);
  build(test.main, main_.get());
  if (test.relaxed) check(ANeuralNetworksModel_relaxComputationFloat32toFloat16(main_.get(), true), "relax");
  check(ANeuralNetworksModel_finish(main_.get()), "finish");
}

ANeuralNetworksModel* CaseModel::referenced(std::size_t number) {
  Model& model = referenced_.at(number);
  if (!model) {
    model = new_model();
    build(test_.referenced[number], model.get());
    check(ANeuralNetworksModel_finish(model.get()), "finish of a referenced model");
  }
  return model.get();
}

void CaseModel::set_referenced(const Operand& operand, int32_t index, ANeuralNetworksModel* model) {
  const std::vector<uint8_t> bytes = vectors::to_bytes(operand.type, operand.values);
  Layout layout;
  const std::size_t offset = layout.add(bytes.size());
  memories_.push_back(std::make_unique<SharedMemory>(layout.size()));
  SharedMemory& memory = *memories_.back();
  std::copy(bytes.begin(), bytes.end(), memory.data() + offset);
  check(ANeuralNetworksModel_setOperandValueFromMemory(model, index, memory.get(), offset, bytes.size()),
        "setOperandValueFromMemory");
}

void CaseModel::add_operand(const Operand& operand, int32_t index, ANeuralNetworksModel* model) {
  const ANeuralNetworksOperandType type = {static_cast<int32_t>(operand.type), size_of(operand.dims),
                                           operand.dims.data(), operand.scale, operand.zero_point};
  check(ANeuralNetworksModel_addOperand(model, &type), "addOperand");
  if (!operand.channel_scales.empty()) {
    const ANeuralNetworksSymmPerChannelQuantParams params = {
        operand.channel_dim, static_cast<uint32_t>(operand.channel_scales.size()), operand.channel_scales.data()};
    check(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(model, index, &params),
          "setOperandSymmPerChannelQuantParams");
  }
  if (operand.lifetime == "NO_VALUE") {
    check(ANeuralNetworksModel_setOperandValue(model, index, nullptr, 0), "setOperandValue");
  } else if (operand.lifetime == "CONSTANT_COPY") {
    constants_.push_back(vectors::to_bytes(operand.type, operand.values));
    check(ANeuralNetworksModel_setOperandValue(model, index, constants_.back().data(), constants_.back().size()),
          "setOperandValue");
  } else if (operand.lifetime == "CONSTANT_REFERENCE") {
    set_referenced(operand, index, model);
  } else if (operand.lifetime == "SUBGRAPH") {
    const auto number = static_cast<std::size_t>(operand.values.at(0));
    check(ANeuralNetworksModel_setOperandValueFromModel(model, index, referenced(number)), "setOperandValueFromModel");
  }
}

void CaseModel::build(const Graph& graph, ANeuralNetworksModel* model) {
  for (std::size_t i = 0; i < graph.operands.size(); ++i) {
    add_operand(graph.operands[i], static_cast<int32_t>(i), model);
  }
  for (const vectors::Operation& operation : graph.operations) {
    check(ANeuralNetworksModel_addOperation(model, static_cast<int32_t>(operation.code), size_of(operation.inputs),
                                            operation.inputs.data(), size_of(operation.outputs),
                                            operation.outputs.data()),
          "addOperation");
  }
  check(ANeuralNetworksModel_identifyInputsAndOutputs(model, size_of(graph.inputs), graph.inputs.data(),
                                                      size_of(graph.outputs), graph.outputs.data()),
        "identifyInputsAndOutputs");
}

}  // namespace conformance
