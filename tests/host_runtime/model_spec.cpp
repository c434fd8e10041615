// SPDX-License-Identifier: BSD-3-Clause
#include "tests/host_runtime/model_spec.h"

#include <stdexcept>

#include "tests/host_runtime/stderr_capture.h"

namespace model_spec {
namespace {

void require(int code, const char* call) {
  if (code != 0) throw std::runtime_error(std::string(call) + " returns " + std::to_string(code));
}

int add_operand(const OperandSpec& operand, int32_t index, ANeuralNetworksModel* model) {
  const ANeuralNetworksOperandType type = type_of(operand);
  int code = ANeuralNetworksModel_addOperand(model, &type);
  if (code == 0 && !operand.channel_scales.empty()) {
    const ANeuralNetworksSymmPerChannelQuantParams params = {
        operand.channel_dim, static_cast<uint32_t>(operand.channel_scales.size()), operand.channel_scales.data()};
    code = ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(model, index, &params);
  }
  if (code == 0 && operand.omitted) code = ANeuralNetworksModel_setOperandValue(model, index, nullptr, 0);
  if (code == 0 && operand.model) code = ANeuralNetworksModel_setOperandValueFromModel(model, index, operand.model);
  if (code == 0 && !operand.bytes.empty()) {
    code = ANeuralNetworksModel_setOperandValue(model, index, operand.bytes.data(), operand.bytes.size());
  }
  return code;
}

uint32_t size_of(const std::vector<uint32_t>& list) {
  return static_cast<uint32_t>(list.size());
}

}  // namespace

ANeuralNetworksOperandType type_of(const OperandSpec& operand) {
  return {static_cast<int32_t>(operand.type), size_of(operand.dims), operand.dims.data(), operand.scale,
          operand.zero_point};
}

Model new_model() {
  ANeuralNetworksModel* model = nullptr;
  require(ANeuralNetworksModel_create(&model), "Model_create");
  return Model(model, ANeuralNetworksModel_free);
}

int build(const ModelSpec& spec, ANeuralNetworksModel* model) {
  for (std::size_t i = 0; i < spec.operands.size(); ++i) {
    const int code = add_operand(spec.operands[i], static_cast<int32_t>(i), model);
    if (code != 0) return code;
  }
  for (const OperationSpec& operation : spec.operations) {
    const int code = ANeuralNetworksModel_addOperation(model, static_cast<int32_t>(operation.code),
                                                       size_of(operation.inputs), operation.inputs.data(),
                                                       size_of(operation.outputs), operation.outputs.data());
    if (code != 0) return code;
  }
  const int code = ANeuralNetworksModel_identifyInputsAndOutputs(model, size_of(spec.inputs), spec.inputs.data(),
                                                                 size_of(spec.outputs), spec.outputs.data());
  return code != 0 ? code : ANeuralNetworksModel_finish(model);
}

Model built(const ModelSpec& spec) {
  Model model = new_model();
  require(build(spec, model.get()), "the model");
  return model;
}

Compiled::Compiled(const ModelSpec& spec) : model(built(spec)), compilation(nullptr, ANeuralNetworksCompilation_free) {
  ANeuralNetworksCompilation* made = nullptr;
  require(ANeuralNetworksCompilation_create(model.get(), &made), "Compilation_create");
  compilation.reset(made);
  require(ANeuralNetworksCompilation_finish(made), "Compilation_finish");
}

Execution new_execution(const Compiled& compiled) {
  ANeuralNetworksExecution* execution = nullptr;
  require(ANeuralNetworksExecution_create(compiled.compilation.get(), &execution), "Execution_create");
  return Execution(execution, ANeuralNetworksExecution_free);
}

Answer answer_to(const ModelSpec& spec) {
  const Model model = new_model();
  StderrCapture capture;
  const int code = build(spec, model.get());
  return {code, capture.text()};
}

std::vector<uint8_t> compute(const Compiled& compiled, const std::vector<std::vector<uint8_t>>& inputs,
                             std::size_t output_bytes) {
  const Execution execution = new_execution(compiled);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    require(ANeuralNetworksExecution_setInput(execution.get(), static_cast<int32_t>(i), nullptr, inputs[i].data(),
                                              inputs[i].size()),
            "setInput");
  }
  std::vector<uint8_t> output(output_bytes);
  require(ANeuralNetworksExecution_setOutput(execution.get(), 0, nullptr, output.data(), output.size()), "setOutput");
  require(ANeuralNetworksExecution_compute(execution.get()), "compute");
  return output;
}

}  // namespace model_spec
