// SPDX-License-Identifier: BSD-3-Clause
// Describes small models as data, for tests that change one part and look at the library's answer.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "lib/format/nnapi_codes.h"
#include "lib/host_runtime/neural_networks.h"

namespace model_spec {

using nnapi_convert::OperandCode;
using nnapi_convert::OperationCode;

struct OperandSpec {
  OperandCode type = OperandCode::TENSOR_FLOAT32;
  std::vector<uint32_t> dims;
  float scale = 0;
  int32_t zero_point = 0;
  std::vector<uint8_t> bytes;  // the value of a constant
  bool omitted = false;
  const ANeuralNetworksModel* model = nullptr;  // of type MODEL
  std::vector<float> channel_scales;
  uint32_t channel_dim = 0;
};

struct OperationSpec {
  OperationCode code = OperationCode::ADD;
  std::vector<uint32_t> inputs, outputs;
};

struct ModelSpec {
  std::vector<OperandSpec> operands;
  std::vector<OperationSpec> operations;
  std::vector<uint32_t> inputs, outputs;

  uint32_t add(OperandSpec operand) {
    operands.push_back(std::move(operand));
    return static_cast<uint32_t>(operands.size() - 1);
  }
};

template <typename T>
std::vector<uint8_t> bytes_of(const std::vector<T>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

inline OperandSpec tensor(OperandCode type, std::vector<uint32_t> dims, float scale = 0, int32_t zero_point = 0) {
  OperandSpec operand;
  operand.type = type;
  operand.dims = std::move(dims);
  operand.scale = scale;
  operand.zero_point = zero_point;
  return operand;
}

template <typename T>
OperandSpec constant(OperandCode type, std::vector<uint32_t> dims, const std::vector<T>& values, float scale = 0,
                     int32_t zero_point = 0) {
  OperandSpec operand = tensor(type, std::move(dims), scale, zero_point);
  operand.bytes = bytes_of(values);
  return operand;
}

inline OperandSpec int32(int32_t value) {
  return constant(OperandCode::INT32, {}, std::vector<int32_t>{value});
}

inline OperandSpec boolean(bool value) {
  return constant(OperandCode::BOOL, {}, std::vector<uint8_t>{static_cast<uint8_t>(value)});
}

inline OperandSpec float32(float value) {
  return constant(OperandCode::FLOAT32, {}, std::vector<float>{value});
}

inline OperandSpec int32_list(const std::vector<int32_t>& values) {
  return constant(OperandCode::TENSOR_INT32, {static_cast<uint32_t>(values.size())}, values);
}

inline OperandSpec reference(const ANeuralNetworksModel* model) {
  OperandSpec operand = tensor(OperandCode::MODEL, {});
  operand.model = model;
  return operand;
}

using Model = std::unique_ptr<ANeuralNetworksModel, decltype(&ANeuralNetworksModel_free)>;
using Compilation = std::unique_ptr<ANeuralNetworksCompilation, decltype(&ANeuralNetworksCompilation_free)>;
using Execution = std::unique_ptr<ANeuralNetworksExecution, decltype(&ANeuralNetworksExecution_free)>;

ANeuralNetworksOperandType type_of(const OperandSpec& operand);

// Returns a new, empty model.
Model new_model();
// Builds the model up to the library's first refusal and returns its code, or 0. The spec has to outlive the model.
int build(const ModelSpec& spec, ANeuralNetworksModel* model);
// Builds a model that the library has to accept.
Model built(const ModelSpec& spec);

// Builds and compiles a model that the library has to accept.
struct Compiled {
  explicit Compiled(const ModelSpec& spec);
  Model model;
  Compilation compilation;
};
Execution new_execution(const Compiled& compiled);

// The library's answer to a spec: the code and all sentences.
struct Answer {
  int code = 0;
  std::string sentence;
};
Answer answer_to(const ModelSpec& spec);

// Computes a model with one output of known size; requires success.
std::vector<uint8_t> compute(const Compiled& compiled, const std::vector<std::vector<uint8_t>>& inputs,
                             std::size_t output_bytes);

}  // namespace model_spec
