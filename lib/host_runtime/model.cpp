// SPDX-License-Identifier: BSD-3-Clause
#include "lib/host_runtime/model.h"

#include <cmath>
#include <cstring>

#include "lib/format/operation_table.h"
#include "lib/host_runtime/failure.h"
#include "lib/host_runtime/feature_level.h"
#include "lib/host_runtime/kernel.h"
#include "lib/host_runtime/log.h"
#include "lib/host_runtime/plan_check.h"

namespace nnapi_convert::host {
namespace {

PlannedModel planned(const Model& model) {
  return {model.operations(), model.outputs(), model.operands().size()};
}

constexpr std::size_t kMaxCopiedBytes = 128;

bool has_value_from_start(const Operand& operand) {
  return operand.lifetime == Lifetime::kInput || operand.lifetime == Lifetime::kConstant ||
         operand.lifetime == Lifetime::kOmitted || operand.lifetime == Lifetime::kModel;
}

const char* describe(Lifetime lifetime) {
  switch (lifetime) {
    case Lifetime::kInput:
      return "a model input";
    case Lifetime::kOutput:
      return "a model output";
    case Lifetime::kConstant:
      return "a constant";
    case Lifetime::kOmitted:
      return "an omitted value";
    case Lifetime::kModel:
      return "a referenced model";
    case Lifetime::kTemporary:
      break;
  }
  return "a temporary";
}

}  // namespace

Model::Model() : feature_level_(offered_feature_level()) {}

void Model::require_unfinished(const char* what) const {
  if (finished_) bad_data("{}: the model is finished already", what);
}

Operand& Model::checked_operand(int32_t index, const char* what) {
  if (index < 0 || static_cast<std::size_t>(index) >= operands_.size()) {
    bad_data("{}: operand index {} found, below {} needed", what, index, operands_.size());
  }
  return operands_[static_cast<std::size_t>(index)];
}

void Model::check_indices(const std::vector<uint32_t>& indices, const std::string& subject) const {
  for (const uint32_t index : indices) {
    if (index >= operands_.size()) {
      bad_data("{}: operand index {} found, below {} needed", subject, index, operands_.size());
    }
  }
}

void Model::add_operand(const ANeuralNetworksOperandType& type) {
  require_unfinished("addOperand");
  operands_.push_back(make_operand(type, fmt::format("operand {}", operands_.size()), feature_level_));
}

void Model::set_value(int32_t index, const void* buffer, std::size_t length, std::shared_ptr<const void> keeps) {
  require_unfinished("setOperandValue");
  Operand& operand = checked_operand(index, "setOperandValue");
  if (operand.lifetime == Lifetime::kInput || operand.lifetime == Lifetime::kOutput) {
    bad_data("operand {}: a value found, but it is {}", index, describe(operand.lifetime));
  }
  if (operand.type == OperandCode::MODEL) bad_data("operand {}: a value found, MODEL refers to a model", index);
  if (!buffer) {
    if (length != 0) fail(ResultCode::UNEXPECTED_NULL, "operand {}: no buffer found for {} bytes", index, length);
    operand.lifetime = Lifetime::kOmitted;
    return;
  }
  if (!operand.shape.known()) {
    bad_data("operand {}: a constant's shape has to be known, {} found", index, to_string(operand.shape));
  }
  const int64_t needed = byte_length(operand.type, operand.shape);
  if (length != static_cast<uint64_t>(needed)) bad_data("operand {}: {} bytes found, {} needed", index, length, needed);
  operand.lifetime = Lifetime::kConstant;
  operand.keeps = std::move(keeps);
  operand.data = buffer;
  if (operand.keeps || length > kMaxCopiedBytes) return;
  const std::shared_ptr<uint8_t> copy(new uint8_t[length], std::default_delete<uint8_t[]>());
  std::memcpy(copy.get(), buffer, length);
  operand.keeps = copy;
  operand.data = copy.get();
}

void Model::set_model(int32_t index, std::shared_ptr<const Model> value) {
  require_unfinished("setOperandValueFromModel");
  Operand& operand = checked_operand(index, "setOperandValueFromModel");
  if (operand.type != OperandCode::MODEL) {
    bad_data("operand {}: {} found, a referenced model needs MODEL", index, name_of(operand.type));
  }
  if (!value->finished()) bad_data("operand {}: the model it refers to is not finished", index);
  const std::string problem = plan_problem(planned(*value), true);
  if (!problem.empty()) bad_data("operand {}: the model it refers to can't be planned: {}", index, problem);
  operand.lifetime = Lifetime::kModel;
  operand.model = std::move(value);
}

void Model::set_channel_quantization(int32_t index, const ANeuralNetworksSymmPerChannelQuantParams& params) {
  require_unfinished("setOperandSymmPerChannelQuantParams");
  Operand& operand = checked_operand(index, "setOperandSymmPerChannelQuantParams");
  if (operand.type != OperandCode::TENSOR_QUANT8_SYMM_PER_CHANNEL) {
    bad_data("operand {}: {} found, per-channel scales need TENSOR_QUANT8_SYMM_PER_CHANNEL", index,
             name_of(operand.type));
  }
  if (params.channelDim >= operand.shape.dims.size()) {
    bad_data("operand {}: channel dimension {} found, below {} needed", index, params.channelDim,
             operand.shape.dims.size());
  }
  const int64_t extent = operand.shape.dims[params.channelDim];
  if (extent == kUnknown) bad_data("operand {}: per-channel scales need a known channel dimension", index);
  if (params.scaleCount != extent) bad_data("operand {}: {} scales found, {} needed", index, params.scaleCount, extent);
  if (!params.scales) bad_data("operand {}: no scales found, {} needed", index, extent);
  ChannelQuantization channels;
  channels.dim = params.channelDim;
  channels.scales.assign(params.scales, params.scales + params.scaleCount);
  for (const float scale : channels.scales) {
    if (!std::isfinite(scale) || scale <= 0) bad_data("operand {}: scale {} found, one above 0 needed", index, scale);
  }
  operand.channels = std::move(channels);
}

void Model::refuse_extension_data(int32_t index) {
  require_unfinished("setOperandExtensionData");
  const Operand& operand = checked_operand(index, "setOperandExtensionData");
  bad_data("operand {}: {} found, a type of an extension needed for an extension's data", index, name_of(operand.type));
}

void Model::add_operation(int32_t code, std::vector<uint32_t> inputs, std::vector<uint32_t> outputs) {
  require_unfinished("addOperation");
  Operation operation;
  operation.code = static_cast<OperationCode>(code);
  operation.index = operations_.size();
  operation.feature_level = feature_level_;
  const OperationInfo* info = find_operation(operation.code);
  if (!info) bad_data("operation {}: unknown code {} found", operation.index, code);
  if (info->since > feature_level_) {
    bad_data("{}: needs feature level {}, {} is offered", subject_of(operation), info->since, feature_level_);
  }
  if (!find_kernel(operation.code)) bad_data("{}: this runtime does not offer it", subject_of(operation));
  check_indices(inputs, subject_of(operation));
  check_indices(outputs, subject_of(operation));
  operation.inputs = std::move(inputs);
  operation.outputs = std::move(outputs);
  operation.signature = match_signature(operation, operands_);
  operations_.push_back(std::move(operation));
}

void Model::mark(const std::vector<uint32_t>& indices, Lifetime lifetime, const char* what) {
  for (const uint32_t index : indices) {
    Operand& operand = operands_[index];
    if (operand.type == OperandCode::MODEL) bad_data("operand {}: a MODEL cannot be a model {}", index, what);
    if (operand.lifetime != Lifetime::kTemporary) {
      bad_data("operand {}: listed as a model {}, but it is {} already", index, what, describe(operand.lifetime));
    }
    operand.lifetime = lifetime;
  }
}

void Model::identify_inputs_and_outputs(std::vector<uint32_t> inputs, std::vector<uint32_t> outputs) {
  require_unfinished("identifyInputsAndOutputs");
  if (identified_) bad_data("identifyInputsAndOutputs: called before");
  if (outputs.empty()) bad_data("identifyInputsAndOutputs: no outputs found, at least one needed");
  check_indices(inputs, "model inputs");
  check_indices(outputs, "model outputs");
  mark(inputs, Lifetime::kInput, "input");
  mark(outputs, Lifetime::kOutput, "output");
  inputs_ = std::move(inputs);
  outputs_ = std::move(outputs);
  identified_ = true;
}

void Model::relax_to_float16(bool allow) {
  require_unfinished("relaxComputationFloat32toFloat16");
  relaxed_ = allow;
}

void Model::check_operands() const {
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    const Operand& operand = operands_[i];
    if (operand.type == OperandCode::TENSOR_QUANT8_SYMM_PER_CHANNEL && !operand.channels) {
      bad_data("operand {}: TENSOR_QUANT8_SYMM_PER_CHANNEL has no per-channel scales", i);
    }
    if (operand.type == OperandCode::MODEL && !operand.model) bad_data("operand {}: MODEL refers to no model", i);
    if (feature_level_ < 3 && operand.lifetime == Lifetime::kInput && is_tensor(operand.type) &&
        !operand.shape.rank_known) {
      bad_data("operand {}: a model input of unknown rank needs feature level 3, {} is offered", i, feature_level_);
    }
  }
}

void Model::check_writers() const {
  std::vector<bool> written(operands_.size(), false);
  for (const Operation& operation : operations_) {
    for (const uint32_t index : operation.outputs) {
      const Operand& operand = operands_[index];
      if (has_value_from_start(operand)) {
        bad_data("{}: writes operand {}, which is {}", subject_of(operation), index, describe(operand.lifetime));
      }
      if (written[index]) bad_data("{}: writes operand {}, which is written before", subject_of(operation), index);
      written[index] = true;
    }
  }
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    if (!written[i] && !has_value_from_start(operands_[i])) {
      bad_data("operand {}: it is {} that no operation writes", i, describe(operands_[i].lifetime));
    }
  }
}

void Model::sort_operations() {
  std::vector<bool> known(operands_.size());
  for (std::size_t i = 0; i < operands_.size(); ++i) known[i] = has_value_from_start(operands_[i]);
  std::vector<Operation> sorted;
  std::vector<bool> placed(operations_.size(), false);
  const auto ready = [&](const Operation& operation) {
    for (const uint32_t index : operation.inputs) {
      if (!known[index]) return false;
    }
    return true;
  };
  while (sorted.size() < operations_.size()) {
    const std::size_t before = sorted.size();
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      if (placed[i] || !ready(operations_[i])) continue;
      placed[i] = true;
      for (const uint32_t index : operations_[i].outputs) known[index] = true;
      sorted.push_back(operations_[i]);
    }
    if (sorted.size() != before) continue;
    for (std::size_t i = 0; i < placed.size(); ++i) {
      if (!placed[i]) bad_data("{}: reads an operand that depends on its own output", subject_of(operations_[i]));
    }
  }
  operations_ = std::move(sorted);
}

void Model::check_operations() {
  shapes_.clear();
  for (const Operand& operand : operands_) shapes_.push_back(operand.shape);
  for (const Operation& operation : operations_) {
    OpContext context(operation, operands_, shapes_);
    context.check();
  }
}

void Model::finish() {
  if (finished_) fail(ResultCode::BAD_STATE, "finish: the model is finished already");
  if (!identified_) bad_data("finish: the model's inputs and outputs are not identified");
  if (operations_.empty()) bad_data("finish: no operations found, at least one needed");
  check_operands();
  check_writers();
  sort_operations();
  check_operations();
  const std::string problem = plan_problem(planned(*this), false);
  if (!problem.empty()) bad_data("finish: {}", problem);
  log(LogLevel::kInfo, "model finished: {} operands, {} operations", operands_.size(), operations_.size());
  finished_ = true;
}

}  // namespace nnapi_convert::host
