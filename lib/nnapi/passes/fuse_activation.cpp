// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/fuse_activation.h"

#include "lib/format/operation_table.h"
#include "lib/nnapi/builder.h"
#include "lib/nnapi/signature.h"

namespace nnapi_convert::nnapi {
namespace {

FuseCode fuse_code_of(OperationCode code) {
  return find_operation(code)->fused_as;
}

// Returns the input number of the activation argument, or -1.
int activation_position(const Model& model, const Operation& operation) {
  const SignatureMatch match = match_signature(model, operation);
  if (match.signature == nullptr) return -1;
  for (size_t i = 0; i < operation.inputs.size(); ++i) {
    if (argument_of_input(*match.signature, i, operation.inputs.size()).role == ArgumentRole::kActivation) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

bool same_quantization(const Operand& a, const Operand& b) {
  return a.type == b.type && a.scale == b.scale && a.zero_point == b.zero_point;
}

// Fuses the activation into the operation that makes its input; returns true if it did.
bool fuse_into_producer(Model& model, const Uses& uses, const Operation& activation) {
  const OperandId input = activation.inputs[0];
  const int producer_index = uses.producer[static_cast<size_t>(input)];
  if (producer_index < 0 || uses.readers[static_cast<size_t>(input)] != 1) return false;
  if (!same_quantization(model.at(input), model.at(activation.outputs[0]))) return false;
  Operation& producer = model.operations[static_cast<size_t>(producer_index)];
  const int position = activation_position(model, producer);
  if (position < 0) return false;
  const Dims* current = model.at(producer.inputs[static_cast<size_t>(position)]).ints();
  if (current == nullptr || (*current)[0] != Dim(static_cast<int64_t>(FuseCode::NONE))) return false;
  const auto code = static_cast<int64_t>(fuse_code_of(activation.code));
  producer.inputs[static_cast<size_t>(position)] = Builder(model).int32(code);
  producer.outputs[0] = activation.outputs[0];
  return true;
}

}  // namespace

void fuse_activation(Model& model) {
  const Uses uses(model);
  std::vector<bool> fused(model.operations.size(), false);
  for (size_t i = 0; i < model.operations.size(); ++i) {
    const Operation activation = model.operations[i];
    if (fuse_code_of(activation.code) == FuseCode::NONE) continue;
    fused[i] = fuse_into_producer(model, uses, activation);
  }
  std::vector<Operation> kept;
  for (size_t i = 0; i < model.operations.size(); ++i) {
    if (!fused[i]) kept.push_back(std::move(model.operations[i]));
  }
  model.operations = std::move(kept);
}

}  // namespace nnapi_convert::nnapi
