// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/fold_padding.h"

#include "lib/nnapi/builder.h"
#include "lib/nnapi/passes/compact.h"
#include "lib/nnapi/passes/convolution_inputs.h"
#include "lib/nnapi/signature.h"

namespace nnapi_convert::nnapi {
namespace {

bool has_explicit_padding(const Model& model, const Operation& operation) {
  const SignatureMatch match = match_signature(model, operation);
  return match.signature != nullptr && std::string(match.signature->name) == "explicit_padding";
}

// Returns true if the padding's value, an optional argument of PAD_V2, is the number 0.
bool pads_zeros(const Model& model, const Operation& pad) {
  if (pad.code == OperationCode::PAD) return true;
  const Operand& value = model.at(pad.inputs[2]);
  if (const float* number = std::get_if<float>(&value.value)) return *number == 0;
  const Dims* code = value.ints();
  return code != nullptr && (*code)[0] == Dim(model.at(pad.inputs[0]).zero_point);
}

// Returns the zeros before and after height and width if the PAD of [N, C, H, W] pads only these axes; else empty.
Dims image_padding(const Model& model, const Operation& pad) {
  const Dims* pairs = model.at(pad.inputs[1]).ints();
  if (pairs == nullptr || pairs->size() != 8 || !pads_zeros(model, pad)) return {};
  for (size_t i = 0; i < 4; ++i) {
    if ((*pairs)[i] != Dim(0)) return {};
  }
  for (size_t i = 4; i < 8; ++i) {
    const auto number = (*pairs)[i].fixed_value();
    if (!number || *number < 0) return {};
  }
  return Dims(pairs->begin() + 4, pairs->end());
}

// Returns true if the padding plus `added` is less than the filter's size, as Android demands.
bool fits_filter(const Model& model, const Operation& operation, const Dims& added) {
  const Dims& filter = model.at(operation.inputs[1]).dims;
  for (size_t i = 0; i < added.size(); ++i) {
    const Dim padding = (*model.at(operation.inputs[kFirstPadding + i]).ints())[0] + added[i];
    const Dim& size = filter[i < 2 ? 2 : 1];
    if (!padding.is_fixed() || !size.is_fixed() || padding.value() >= size.value()) return false;
  }
  return true;
}

}  // namespace

void fold_padding(Model& model) {
  const Uses uses(model);
  Builder builder(model);
  for (Operation& operation : model.operations) {
    if (!is_convolution(operation.code) || !has_explicit_padding(model, operation)) continue;
    const int index = uses.producer[static_cast<size_t>(operation.inputs[0])];
    if (index < 0) continue;
    const Operation& pad = model.operations[static_cast<size_t>(index)];
    if (pad.code != OperationCode::PAD && pad.code != OperationCode::PAD_V2) continue;
    const Dims padding = image_padding(model, pad);
    if (padding.empty()) continue;
    const Dims in_order{padding[2], padding[3], padding[0], padding[1]};
    if (!fits_filter(model, operation, in_order)) continue;
    for (size_t i = 0; i < in_order.size(); ++i) {
      OperandId& id = operation.inputs[kFirstPadding + i];
      id = builder.int32((*model.at(id).ints())[0] + in_order[i]);
    }
    operation.inputs[0] = pad.inputs[0];
  }
  drop_unread(model);
}

}  // namespace nnapi_convert::nnapi
