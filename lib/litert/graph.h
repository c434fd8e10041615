// SPDX-License-Identifier: BSD-3-Clause
// Builds one subgraph: tensors of an NNAPI model's operands, tensors between operators, and operators.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "lib/litert/buffer_pool.h"
#include "lib/litert/file.h"
#include "lib/litert/write_options.h"
#include "lib/nnapi/model.h"

namespace nnapi_convert::litert {

// Stops the writing of one operation; becomes a Refusal with the operation's name and source line.
struct RefusedOperation {
  std::string found, needed, hint;
};

using TensorId = int32_t;
constexpr TensorId kLeftOut = -1;
// The int8 form of a uint8 number is the number minus this.
constexpr int32_t kSignedShift = 128;

// Returns the file's type for a tensor of NNAPI. Throws RefusedOperation for types that LiteRT lacks.
TensorType tensor_type(OperandCode type, bool keeps_uint8);

class Graph {
 public:
  Graph(Subgraph& subgraph, BufferPool& buffers, const nnapi::Model& model, const WriteOptions& options)
      : subgraph_(subgraph), buffers_(buffers), model_(model), options_(options), tensors_(model.operands.size(), -1) {}

  const nnapi::Model& model() const { return model_; }
  const WriteOptions& options() const { return options_; }
  Subgraph& subgraph() { return subgraph_; }
  const Tensor& at(TensorId id) const { return subgraph_.tensors[static_cast<size_t>(id)]; }
  Tensor& at(TensorId id) { return subgraph_.tensors[static_cast<size_t>(id)]; }

  // Returns the tensor of an operand; a constant of the file for a constant. kLeftOut for an operand that is left out.
  TensorId of(nnapi::OperandId id);
  // Puts another tensor in the operand's place.
  void put(nnapi::OperandId id, TensorId tensor) { tensors_[static_cast<size_t>(id)] = tensor; }
  // Returns a tensor's description for an operand, without data.
  Tensor described(const nnapi::Operand& operand) const;
  TensorId constant_of(const nnapi::Operand& operand);

  TensorId add(Tensor tensor);
  // Returns a new tensor with the type and quantisation of another.
  TensorId like(TensorId other, const Dims& dims);
  TensorId like(TensorId other) { return add(copy_without_data(other)); }
  TensorId floats_like(TensorId other);  // float32 of the same shape
  TensorId ints(const std::vector<int32_t>& values);
  TensorId ints(const std::vector<int32_t>& values, const std::vector<int32_t>& shape);
  TensorId scalar_int(int32_t value) { return ints({value}, {}); }
  TensorId floats(const std::vector<float>& values, const std::vector<int32_t>& shape);
  // Returns a rank-0 constant of 8 bits with the type and quantisation of another tensor.
  TensorId byte_like(TensorId other, int8_t value);
  // Returns a constant that stays uint8, as NNAPI has it.
  TensorId uint8_constant_of(const nnapi::Operand& operand);
  // Returns an int8 constant from -127 to 127, as LiteRT needs for weights: its kernels for ARM add two products in 16
  // bits, which two products of -128 * -128 would overflow.
  TensorId symmetric_constant_of(const nnapi::Operand& operand);
  TensorId scalar_float(float value) { return floats({value}, {}); }
  // Returns a float32 constant: the parts joined along the first axis.
  TensorId joined(const std::vector<nnapi::Constant>& parts, const std::vector<int32_t>& shape);

  // Returns an int32 tensor of the numbers. Operators compute those that depend on open sizes of arguments.
  TensorId numbers(const Dims& values);
  // Says that the tensor holds argument number `argument` of forward. With `is_nhwc` the tensor is in NHWC and the
  // argument in NCHW.
  void set_argument(size_t argument, TensorId tensor, bool is_nhwc) { arguments_[argument] = {tensor, is_nhwc}; }

  // Appends an operator in its lowest version. Results without a name get the operator's name.
  void emit(Builtin code, std::vector<TensorId> inputs, std::vector<TensorId> outputs,
            Options options_type = Options::NONE, Table options = {});

  // Return the tensor in `like`'s type, scale and zero point: converted by QUANTIZE if they differ, else itself.
  TensorId requantised(TensorId id, TensorId like);
  TensorId requantised(TensorId id, const Tensor& like);
  TensorId dequantised(TensorId id);
  void quantise_into(TensorId from, TensorId to);
  void reshape_into(TensorId from, TensorId to);
  TensorId reshaped(TensorId id, const Dims& dims);
  TensorId transposed(TensorId id, const std::vector<int32_t>& perm);
  void transpose_into(TensorId from, TensorId to, const std::vector<int32_t>& perm);

  static void set_shape(Tensor& tensor, const Dims& dims);
  Dims dims_of(TensorId id) const;

 private:
  class SizeWriter;
  struct Argument {
    TensorId tensor = kLeftOut;
    bool is_nhwc = false;
  };

  TensorId size_of(int argument, int axis);  // a tensor of one element
  TensorId number_tensor(size_t count);      // int32, computed
  Tensor copy_without_data(TensorId id) const;

  Subgraph& subgraph_;
  BufferPool& buffers_;
  const nnapi::Model& model_;
  const WriteOptions& options_;
  std::vector<TensorId> tensors_;  // by operand
  std::map<size_t, Argument> arguments_;
  std::map<std::string, TensorId> numbers_;  // numbers that operators compute, by their texts
};

}  // namespace nnapi_convert::litert
