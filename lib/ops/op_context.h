// SPDX-License-Identifier: BSD-3-Clause
// The context of a rule that lowers one node: the node's arguments (op_arguments.h), the operands of its inputs, and
// the builder for NNAPI operations.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/nnapi/builder.h"
#include "lib/nnapi/permutation.h"
#include "lib/ops/op_arguments.h"
#include "lib/ops/target.h"

namespace nnapi_convert {

// A tensor while lowering.
struct LoweredTensor {
  nnapi::OperandId id;
  TensorType type;
};

// The operands of a value: one for a tensor, one for each element of a list.
using OperandMap = std::unordered_map<const TorchValue*, std::vector<nnapi::OperandId>>;

class OpContext;

// Functions that lower operations on integers if the NNAPI operation takes other dtypes only (integer_moves.h).
struct IntegerForms {
  // Returns false for an operation that takes no TENSOR_INT32 at this feature level, but takes float32.
  bool (*takes)(OperationCode code, int feature_level);
  // Appends other operations with the same result, for an operation that doesn't take integers. Refuses the node if
  // numbers might be rounded.
  nnapi::OperandId (*emit)(OpContext& ctx, OperationCode code, std::vector<nnapi::OperandId> inputs,
                           const TensorType& type);
  // Refuses the node if its result is integer and a CAST on the way might round it.
  void (*require_exact_cast)(OpContext& ctx, nnapi::OperandId input, const TensorType& type);
};

class OpContext : public OpArguments {
 public:
  OpContext(const TorchNode& node, const TypeMap& types, OperandMap& operands, nnapi::Builder& builder,
            const Target& target, const IntegerForms& integers, Diagnostics& diagnostics)
      : OpArguments(node, types),
        operands_(operands),
        builder_(builder),
        target_(target),
        integers_(integers),
        diagnostics_(diagnostics) {}

  nnapi::Builder& builder() { return builder_; }
  // Returns the NNAPI feature level of the target. Rules choose the best form that this level has.
  int feature_level() const { return target_.feature_level; }
  const Target& target() const { return target_; }
  // True if the target has the feature level `level` and its device takes some operations with this code. Rules with
  // several forms choose by this.
  bool can_use(OperationCode code, int level) const {
    return target_.feature_level >= level && (target_.device == nullptr || target_.device->may_take(code));
  }
  // `detail` and `magnitude` as in Warning.
  void warn(const std::string& kind, const std::string& detail = "", double magnitude = 0) {
    diagnostics_.warn({kind, source_of(node()), node().kind().toQualString(), detail, magnitude});
  }

  // Returns the operand of a tensor argument; a constant tensor becomes a constant operand.
  LoweredTensor operand(const std::string& name);
  std::vector<LoweredTensor> operands(const std::string& name);
  // Makes an operand of a float, int32 or quantised constant.
  nnapi::OperandId constant_operand(const at::Tensor& tensor);

  // Returns the type of output `index`, from the shape rule.
  TensorType output_type(size_t index = 0) const;
  // Appends an operation whose result is output 0 of the node.
  void emit(OperationCode code, std::vector<nnapi::OperandId> inputs);
  // Appends an operation with a result of the given type.
  nnapi::OperandId emit_to(OperationCode code, std::vector<nnapi::OperandId> inputs, const TensorType& type);
  // Returns the tensor with another shape of as many elements: itself if it has the shape, or the result of a RESHAPE.
  nnapi::OperandId reshaped(const LoweredTensor& tensor, const Dims& dims);
  // Returns the elements from `begin` to before `end` by `steps` along each axis: the tensor itself if these are all
  // elements, or the result of a slice.
  nnapi::OperandId sliced(const LoweredTensor& tensor, const Dims& begin, const Dims& end, const Dims& steps);
  // Returns the operand of an element of a list argument.
  LoweredTensor operand_of(const TorchValue* value) { return lowered(value); }

  // Makes an existing operand the node's output `index`.
  void set_output(nnapi::OperandId id, size_t index = 0);
  // Makes existing operands the elements of the list that is the node's output 0.
  void set_list_output(std::vector<nnapi::OperandId> ids);

 private:
  LoweredTensor lowered(const TorchValue* value);

  OperandMap& operands_;
  nnapi::Builder& builder_;
  Target target_;
  IntegerForms integers_;
  Diagnostics& diagnostics_;
};

// Returns a view of a contiguous CPU tensor's bytes that keeps the tensor alive; for a quantised tensor, of its
// integers.
nnapi::Constant to_constant(const at::Tensor& tensor);

// Returns a tensor with one number everywhere. Refuses the node if the dtype can't hold the number, such as 1e10 in
// int32.
at::Tensor full_of(const OpContext& ctx, const std::vector<int64_t>& sizes, double value, at::ScalarType dtype);

}  // namespace nnapi_convert
