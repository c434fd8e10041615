// SPDX-License-Identifier: BSD-3-Clause
// Builds NNAPI's models.
#include "lib/shim/model_builder.h"

#include <sys/mman.h>

#include <cstring>
#include <limits>

#include "lib/format/float16.h"
#include "lib/format/nnapi_codes.h"
#include "lib/shim/failure.h"
#include "lib/shim/nnapi_names.h"
#include "lib/shim/operation_text.h"

namespace nnapi_shim {
namespace {

constexpr auto kTensorFloat32 = static_cast<int32_t>(nnapi_convert::OperandCode::TENSOR_FLOAT32);

// Builds one model. Its error sentences name the failing operand, value or operation.
class Builder {
 public:
  Builder(const NnapiLibrary& library, const SubgraphView& view, size_t number, ANeuralNetworksModel* model,
          nnapi_shim_error* error)
      : library_(library), view_(view), number_(number), model_(model), error_(error) {}

  int add_operands() {
    for (uint32_t i = 0; i < view_.operands.size(); ++i) {
      const OperandView& operand = view_.operands[i];
      const ANeuralNetworksOperandType type = {operand.type, operand.rank, operand.rank > 0 ? operand.dims : nullptr,
                                               operand.scale, operand.zero_point};
      int code = library_.ANeuralNetworksModel_addOperand(model_, &type);
      if (code != 0) return refuse_operand("ANeuralNetworksModel_addOperand", i, code);
      // Scales of a float operand are of its int8 weights, which NNAPI gets as floats.
      if (operand.channel_axis < 0 || operand.type == kTensorFloat32) continue;
      if (!library_.ANeuralNetworksModel_setOperandSymmPerChannelQuantParams) {
        return lack("ANeuralNetworksModel_setOperandSymmPerChannelQuantParams", i, 3);
      }
      const ANeuralNetworksSymmPerChannelQuantParams scales = {static_cast<uint32_t>(operand.channel_axis),
                                                               operand.channel_scale_count, operand.channel_scales};
      code =
          library_.ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(model_, static_cast<int32_t>(i), &scales);
      if (code != 0) return refuse_operand("ANeuralNetworksModel_setOperandSymmPerChannelQuantParams", i, code);
    }
    return NNAPI_SHIM_OK;
  }

  int set_values(const WeightMemory& weights, const std::vector<ANeuralNetworksModel*>& models) {
    for (const ValueView& value : view_.values) {
      const int status = set_value(value, weights, models);
      if (status != NNAPI_SHIM_OK) return status;
    }
    return NNAPI_SHIM_OK;
  }

  int add_operations() {
    for (size_t i = 0; i < view_.operations.size(); ++i) {
      const OperationView& operation = view_.operations[i];
      const int code = library_.ANeuralNetworksModel_addOperation(
          model_, operation.code, operation.input_count, operation.inputs, operation.output_count, operation.outputs);
      if (code == 0) continue;
      return fail_with(
          error_, NNAPI_SHIM_REFUSED, code,
          "NNAPI refuses %s of %s: ANeuralNetworksModel_addOperation answers %s; convert the model for this "
          "device's feature level, %u, or leave this operation on the CPU",
          OperationText(operation, i).text(), place(), result_name(code), library_.feature_level);
    }
    return NNAPI_SHIM_OK;
  }

  int finish(bool relax) {
    int code = library_.ANeuralNetworksModel_identifyInputsAndOutputs(
        model_, static_cast<uint32_t>(view_.input_operands.size()), view_.input_operands.data(),
        static_cast<uint32_t>(view_.output_operands.size()), view_.output_operands.data());
    if (code != 0) return refuse_model("ANeuralNetworksModel_identifyInputsAndOutputs", code);
    // Relaxing only permits float16: without the function, NNAPI computes in float32.
    if (relax && library_.ANeuralNetworksModel_relaxComputationFloat32toFloat16) {
      code = library_.ANeuralNetworksModel_relaxComputationFloat32toFloat16(model_, true);
      if (code != 0) return refuse_model("ANeuralNetworksModel_relaxComputationFloat32toFloat16", code);
    }
    code = library_.ANeuralNetworksModel_finish(model_);
    return code == 0 ? 0 : refuse_model("ANeuralNetworksModel_finish", code);
  }

 private:
  int set_value(const ValueView& value, const WeightMemory& weights, const std::vector<ANeuralNetworksModel*>& models) {
    const auto operand = static_cast<int32_t>(value.operand);
    if (value.source == format::ValueSource::kModel) {
      if (!library_.ANeuralNetworksModel_setOperandValueFromModel) {
        return lack("ANeuralNetworksModel_setOperandValueFromModel", value.operand, 4);
      }
      const int code = library_.ANeuralNetworksModel_setOperandValueFromModel(model_, operand, models[value.model]);
      return code == 0 ? 0 : refuse_operand("ANeuralNetworksModel_setOperandValueFromModel", value.operand, code);
    }
    if (value.source == format::ValueSource::kWeight && weights.memory()) {
      const int code = library_.ANeuralNetworksModel_setOperandValueFromMemory(
          model_, operand, weights.memory(), static_cast<size_t>(value.offset), static_cast<size_t>(value.length));
      return code == 0 ? 0 : refuse_operand("ANeuralNetworksModel_setOperandValueFromMemory", value.operand, code);
    }
    const void* data = nullptr;
    auto length = static_cast<size_t>(value.length);
    if (value.source == format::ValueSource::kImmediate) data = value.data;
    if (value.source == format::ValueSource::kWeight) data = weights.weights().data + value.offset;
    if (value.source == format::ValueSource::kFloat16Weight || value.source == format::ValueSource::kInt8Weight) {
      data = weights.floats_of(value, view_.operands[value.operand]);
      length *= value.source == format::ValueSource::kInt8Weight ? 4 : 2;
    }
    const int code = library_.ANeuralNetworksModel_setOperandValue(model_, operand, data, length);
    return code == 0 ? 0 : refuse_operand("ANeuralNetworksModel_setOperandValue", value.operand, code);
  }

  int refuse_operand(const char* function, uint32_t operand, int code) {
    const bool is_known = operand < view_.operands.size();
    return fail_with(error_, NNAPI_SHIM_REFUSED, code,
                     "NNAPI refuses operand %u (%.100s, type %d, rank %u) of %s: %s answers %s; the device has feature "
                     "level %u",
                     operand, is_known && view_.operands[operand].name[0] ? view_.operands[operand].name : "no name",
                     is_known ? view_.operands[operand].type : -1, is_known ? view_.operands[operand].rank : 0, place(),
                     function, result_name(code), library_.feature_level);
  }

  int refuse_model(const char* function, int code) {
    return fail_with(error_, NNAPI_SHIM_REFUSED, code,
                     "NNAPI refuses %s of %zu operations: %s answers %s; the device has feature level %u", place(),
                     view_.operations.size(), function, result_name(code), library_.feature_level);
  }

  int lack(const char* function, uint32_t operand, uint32_t level) {
    return fail(
        error_, NNAPI_SHIM_TOO_OLD,
        "operand %u of %s needs the function %s of NNAPI's feature level %u, this device has level %u and not the "
        "function",
        operand, place(), function, level, library_.feature_level);
  }

  const char* place() {
    if (number_ == 0) return "the model";
    std::snprintf(place_, sizeof(place_), "subgraph %zu", number_);
    return place_;
  }

  const NnapiLibrary& library_;
  const SubgraphView& view_;
  const size_t number_;
  ANeuralNetworksModel* const model_;
  nnapi_shim_error* const error_;
  char place_[40];
};

void widen_halves(const uint8_t* bytes, size_t count, float* floats) {
  for (size_t i = 0; i < count; ++i) {
    uint16_t half;
    std::memcpy(&half, bytes + i * sizeof half, sizeof half);
    floats[i] = nnapi_convert::float_of_float16(half);
  }
}

// Multiplies integers by the scales of their channels. `count` is a multiple of the sizes from the channel axis on.
void scale_integers(const uint8_t* bytes, size_t count, const OperandView& operand, float* floats) {
  constexpr size_t kAtOnce = 16;  // a constant count lets compilers use vector instructions
  size_t inner = 1;
  for (uint32_t axis = static_cast<uint32_t>(operand.channel_axis) + 1; axis < operand.rank; ++axis) {
    inner *= operand.dims[axis];
  }
  const auto* integer = reinterpret_cast<const int8_t*>(bytes);
  for (const float* const end = floats + count; floats != end;) {
    for (uint32_t channel = 0; channel < operand.channel_scale_count; ++channel) {
      const float scale = operand.channel_scales[channel];
      size_t left = inner;
      for (; left >= kAtOnce; left -= kAtOnce, integer += kAtOnce, floats += kAtOnce) {
        for (size_t i = 0; i < kAtOnce; ++i) floats[i] = static_cast<float>(integer[i]) * scale;
      }
      for (; left > 0; --left) *floats++ = static_cast<float>(*integer++) * scale;
    }
  }
}

// Returns whether NNAPI can map the file's weights. Its function takes a size_t and maps by an off_t; in a 32-bit
// process both have 32 bits, and off_t has a sign.
bool can_map(const Weights& weights) {
  constexpr uint64_t kMost = std::numeric_limits<ptrdiff_t>::max();
  return weights.fd >= 0 && weights.bytes > 0 && weights.bytes <= kMost && weights.file_offset <= kMost - weights.bytes;
}

}  // namespace

WeightMemory::WeightMemory(const NnapiLibrary& library, const Weights& weights, bool copies)
    : library_(library), weights_(weights), copies_(copies) {
  const bool has_functions = library.ANeuralNetworksMemory_createFromFd && library.ANeuralNetworksMemory_free &&
                             library.ANeuralNetworksModel_setOperandValueFromMemory;
  if (copies || !can_map(weights) || !has_functions) return;
  const int code = library.ANeuralNetworksMemory_createFromFd(static_cast<size_t>(weights.bytes), PROT_READ, weights.fd,
                                                              static_cast<size_t>(weights.file_offset), &memory_);
  if (code != 0) memory_ = nullptr;
}

const float* WeightMemory::floats_of(const ValueView& value, const OperandView& operand) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<float> scales(operand.channel_scales, operand.channel_scales + operand.channel_scale_count);
  for (const Floats& known : floats_) {
    if (known.offset == value.offset && known.length == value.length && known.scales == scales) {
      return known.values;
    }
  }
  const bool is_int8 = !scales.empty();
  const auto count = static_cast<size_t>(is_int8 ? value.length : value.length / sizeof(uint16_t));
  auto* const floats = static_cast<float*>(memory_of_floats_.take(count * sizeof(float)));
  floats_.push_back({value.offset, value.length, std::move(scales), floats});
  const uint8_t* stored = weights_.data + value.offset;
  if (is_int8) {
    scale_integers(stored, count, operand, floats);
  } else {
    widen_halves(stored, count, floats);
  }
  return floats;
}

WeightMemory::~WeightMemory() {
  if (memory_) library_.ANeuralNetworksMemory_free(memory_);
}

WeightWays make_weight_ways(const NnapiLibrary& library, const Weights& weights) {
  WeightWays ways;
  ways.mapped = std::make_shared<WeightMemory>(library, weights, false);
  if (ways.mapped->memory()) ways.copied = std::make_shared<WeightMemory>(library, weights, true);
  return ways;
}

BuiltModel::~BuiltModel() {
  for (ANeuralNetworksModel* model : models_) {
    if (model) library_.ANeuralNetworksModel_free(model);
  }
}

int BuiltModel::build(const ModelView& view, nnapi_shim_error* error) {
  words_ = view.words;
  models_.assign(view.models.size(), nullptr);
  // A model refers only to later models, which have to be finished before it.
  for (size_t number = view.models.size(); number-- > 0;) {
    const int status = build_one(view, number, error);
    if (status != NNAPI_SHIM_OK) return status;
  }
  return NNAPI_SHIM_OK;
}

int BuiltModel::build_one(const ModelView& view, size_t number, nnapi_shim_error* error) {
  ANeuralNetworksModel* model = nullptr;
  const int code = library_.ANeuralNetworksModel_create(&model);
  if (code != 0 || !model) {
    return fail_with(error, NNAPI_SHIM_REFUSED, code,
                     "NNAPI can't make a model: ANeuralNetworksModel_create answers %s", result_name(code));
  }
  models_[number] = model;
  Builder builder(library_, view.models[number], number, model, error);
  int status = builder.add_operands();
  if (status == NNAPI_SHIM_OK) status = builder.set_values(*weights_, models_);
  if (status == NNAPI_SHIM_OK) status = builder.add_operations();
  // Float16 allowed for the main model holds for the subgraphs that it refers to, too.
  if (status == NNAPI_SHIM_OK) status = builder.finish(view.relax_fp16 && number == 0);
  return status;
}

}  // namespace nnapi_shim
