// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-probe/probe_model.h"

#include "tools/nnapi-probe/operands.h"

namespace nnapi_probe {
namespace {

// A model under construction. Values of constants have to live as long as the model.
class ProbeModel {
 public:
  explicit ProbeModel(const nnapi_shim::NnapiLibrary& nnapi) : nnapi_(nnapi) {
    take(nnapi_.ANeuralNetworksModel_create(&model_), "ANeuralNetworksModel_create");
  }
  ~ProbeModel() {
    if (model_ != nullptr) nnapi_.ANeuralNetworksModel_free(model_);
  }
  ProbeModel(const ProbeModel&) = delete;
  ProbeModel& operator=(const ProbeModel&) = delete;

  void build(int32_t operation, const ProbeOperands& operands) {
    std::vector<uint32_t> inputs, outputs, model_inputs;
    for (const ProbeOperand& operand : operands.inputs) {
      inputs.push_back(add(operand));
      if (!operand.is_constant) model_inputs.push_back(inputs.back());
    }
    for (const ProbeOperand& operand : operands.outputs) outputs.push_back(add(operand));
    if (!is_good()) return;
    take(nnapi_.ANeuralNetworksModel_addOperation(model_, operation, size(inputs), inputs.data(), size(outputs),
                                                  outputs.data()),
         "ANeuralNetworksModel_addOperation");
    if (!is_good()) return;
    take(nnapi_.ANeuralNetworksModel_identifyInputsAndOutputs(model_, size(model_inputs), model_inputs.data(),
                                                              size(outputs), outputs.data()),
         "ANeuralNetworksModel_identifyInputsAndOutputs");
    if (is_good()) take(nnapi_.ANeuralNetworksModel_finish(model_), "ANeuralNetworksModel_finish");
  }

  bool is_taken_by(const ANeuralNetworksDevice* device) {
    bool is_taken = false;
    if (!is_good()) return false;
    take(nnapi_.ANeuralNetworksModel_getSupportedOperationsForDevices(model_, &device, 1, &is_taken),
         "ANeuralNetworksModel_getSupportedOperationsForDevices");
    return is_taken;
  }

  bool is_good() const { return reason_.empty(); }
  const std::string& reason() const { return reason_; }

 private:
  static uint32_t size(const std::vector<uint32_t>& list) { return static_cast<uint32_t>(list.size()); }

  void take(int code, const char* function) {
    if (code != 0 && is_good()) reason_ = std::string(function) + " answers " + std::to_string(code);
  }

  uint32_t add(const ProbeOperand& operand) {
    if (!is_good()) return 0;
    const ANeuralNetworksOperandType type = {static_cast<int32_t>(operand.type), size(operand.dims),
                                             operand.dims.data(), operand.scale, operand.zero_point};
    take(nnapi_.ANeuralNetworksModel_addOperand(model_, &type), "ANeuralNetworksModel_addOperand");
    if (is_good() && !operand.channel_scales.empty()) {
      const ANeuralNetworksSymmPerChannelQuantParams scales = {
          operand.channel_axis, static_cast<uint32_t>(operand.channel_scales.size()), operand.channel_scales.data()};
      take(nnapi_.ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(model_, static_cast<int32_t>(count_),
                                                                           &scales),
           "ANeuralNetworksModel_setOperandSymmPerChannelQuantParams");
    }
    if (is_good() && operand.is_constant) {
      take(nnapi_.ANeuralNetworksModel_setOperandValue(model_, static_cast<int32_t>(count_), operand.value.data(),
                                                       operand.value.size()),
           "ANeuralNetworksModel_setOperandValue");
    }
    return count_++;
  }

  const nnapi_shim::NnapiLibrary& nnapi_;
  ANeuralNetworksModel* model_ = nullptr;
  uint32_t count_ = 0;
  std::string reason_;
};

}  // namespace

Answer ask(const nnapi_shim::NnapiLibrary& nnapi, const ANeuralNetworksDevice* device, const OperationGrid& grid,
           const Point& point, std::string* reason) {
  const ProbeOperands operands = make_operands(grid, point);
  ProbeModel model(nnapi);
  if (model.is_good()) model.build(static_cast<int32_t>(grid.operation->code), operands);
  const bool is_taken = model.is_taken_by(device);
  if (model.is_good()) return is_taken ? Answer::kAccepted : Answer::kRefused;
  *reason = model.reason();
  return Answer::kNotAsked;
}

}  // namespace nnapi_probe
