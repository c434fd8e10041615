// SPDX-License-Identifier: BSD-3-Clause
// Builds and checks a model. After finish() the model is valid, its operations are in an order that can run, and shapes
// are inferred as far as possible. Every member fails with a sentence if the caller breaks a rule.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lib/host_runtime/neural_networks.h"
#include "lib/host_runtime/operand.h"
#include "lib/host_runtime/signature.h"

namespace nnapi_convert::host {

class Model {
 public:
  Model();

  void add_operand(const ANeuralNetworksOperandType& type);
  // `keeps` owns the bytes. If it is null, the model copies short values, and the caller keeps long ones alive.
  void set_value(int32_t index, const void* buffer, std::size_t length, std::shared_ptr<const void> keeps);
  void set_model(int32_t index, std::shared_ptr<const Model> value);
  void set_channel_quantization(int32_t index, const ANeuralNetworksSymmPerChannelQuantParams& params);
  [[noreturn]] void refuse_extension_data(int32_t index);
  void add_operation(int32_t code, std::vector<uint32_t> inputs, std::vector<uint32_t> outputs);
  void identify_inputs_and_outputs(std::vector<uint32_t> inputs, std::vector<uint32_t> outputs);
  void relax_to_float16(bool allow);
  void finish();

  bool finished() const { return finished_; }
  int feature_level() const { return feature_level_; }
  bool relaxed() const { return relaxed_; }
  const std::vector<Operand>& operands() const { return operands_; }
  // After finish(), the order is one in which each operand is written before it is read.
  const std::vector<Operation>& operations() const { return operations_; }
  const std::vector<uint32_t>& inputs() const { return inputs_; }
  const std::vector<uint32_t>& outputs() const { return outputs_; }
  // Returns the declared shapes, completed by the operations' rules.
  const std::vector<Shape>& shapes() const { return shapes_; }

 private:
  void require_unfinished(const char* what) const;
  Operand& checked_operand(int32_t index, const char* what);
  void check_indices(const std::vector<uint32_t>& indices, const std::string& subject) const;
  void mark(const std::vector<uint32_t>& indices, Lifetime lifetime, const char* what);
  void check_operands() const;
  void check_writers() const;
  void sort_operations();
  void check_operations();

  int feature_level_;
  bool relaxed_ = false;
  bool identified_ = false;
  bool finished_ = false;
  std::vector<Operand> operands_;
  std::vector<Operation> operations_;
  std::vector<uint32_t> inputs_, outputs_;
  std::vector<Shape> shapes_;
};

}  // namespace nnapi_convert::host
