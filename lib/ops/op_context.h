// What a rule sees of one node while lowering: its arguments (op_arguments.h), the operands of its inputs, and the
// builder.
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

// How integers go through operations that take other numbers only (integer_moves.h).
struct IntegerForms {
  // False for operations that take no TENSOR_INT32 at this feature level and float32 does as well.
  bool (*takes)(OperationCode code, int feature_level);
  // Appends the operation's work on integers, for one that doesn't take them. Refuses the node where numbers might come
  // out changed.
  nnapi::OperandId (*emit)(OpContext& ctx, OperationCode code, std::vector<nnapi::OperandId> inputs,
                           const TensorType& type);
  // Refuses the node where it gives integers and the CAST would round them on the way.
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
  // The NNAPI feature level that the model is for: where a later level has a better form, the rule chooses by it.
  int feature_level() const { return target_.feature_level; }
  const Target& target() const { return target_; }
  // True if an operation of `level` may be used, and the device takes some of its kind: where a rule has another form,
  // it chooses by this.
  bool can_use(OperationCode code, int level) const {
    return target_.feature_level >= level && (target_.device == nullptr || target_.device->may_take(code));
  }
  // `detail` and `magnitude` as in Warning.
  void warn(const std::string& kind, const std::string& detail = "", double magnitude = 0) {
    diagnostics_.warn({kind, source_of(node()), node().kind().toQualString(), detail, magnitude});
  }

  // A tensor argument as an operand; a constant tensor becomes a constant operand.
  LoweredTensor operand(const std::string& name);
  std::vector<LoweredTensor> operands(const std::string& name);
  // A float, int32 or quantised constant as an operand.
  nnapi::OperandId constant_operand(const at::Tensor& tensor);

  // The type of output `index`, from the shape rule.
  TensorType output_type(size_t index = 0) const;
  // Appends an operation whose result is output 0 of the node.
  void emit(OperationCode code, std::vector<nnapi::OperandId> inputs);
  // Appends an operation with a result of the given type.
  nnapi::OperandId emit_to(OperationCode code, std::vector<nnapi::OperandId> inputs, const TensorType& type);
  // The tensor with another shape and as many elements: itself, or the result of a RESHAPE.
  nnapi::OperandId reshaped(const LoweredTensor& tensor, const Dims& dims);
  // The elements from `begin` to before `end` by `steps` along each axis: itself, or the result of a slice.
  nnapi::OperandId sliced(const LoweredTensor& tensor, const Dims& begin, const Dims& end, const Dims& steps);
  // A value that an argument's list holds.
  LoweredTensor operand_of(const TorchValue* value) { return lowered(value); }

  // Makes an operand that exists the node's output.
  void set_output(nnapi::OperandId id, size_t index = 0);
  // The same for the elements of a list, output 0 of the node.
  void set_list_output(std::vector<nnapi::OperandId> ids);

 private:
  LoweredTensor lowered(const TorchValue* value);

  OperandMap& operands_;
  nnapi::Builder& builder_;
  Target target_;
  IntegerForms integers_;
  Diagnostics& diagnostics_;
};

// A view of a contiguous CPU tensor's bytes that keeps the tensor alive; quantised tensors give their integers.
nnapi::Constant to_constant(const at::Tensor& tensor);

}  // namespace nnapi_convert
