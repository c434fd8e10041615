// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/fit_device.h"

#include <utility>

#include "lib/nnapi/builder.h"
#include "lib/nnapi/passes/convolution_inputs.h"

namespace nnapi_convert::nnapi {
namespace {

constexpr int kPadLevel = 2;
constexpr int kQuantisedPadLevel = 3;  // below this level, NNAPI does not define the value that pads quantised tensors

// Returns the convolution's padding in PAD's form: before and after each axis.
Dims pairs_of(const Model& model, const Operation& convolution) {
  const auto padding = [&](size_t index) {
    return model.at(convolution.inputs[kFirstPadding + index]).ints()->front();
  };
  const Dims height{padding(2), padding(3)}, width{padding(0), padding(1)};
  Dims pairs(8, Dim(0));
  const size_t first = runs_in_nchw(model, convolution) ? 4 : 2;
  for (size_t i = 0; i < 2; ++i) {
    pairs[first + i] = height[i];
    pairs[first + 2 + i] = width[i];
  }
  return pairs;
}

// Splits a convolution into a PAD and the convolution without padding.
std::pair<Operation, Operation> split(Model& model, const Operation& convolution) {
  Builder builder(model);
  const Dims pairs = pairs_of(model, convolution);
  Operand padded = model.at(convolution.inputs[0]);
  for (size_t axis = 0; axis < 4; ++axis) padded.dims[axis] += pairs[2 * axis] + pairs[2 * axis + 1];
  const OperandId image = builder.variable(std::move(padded));
  Operation pad{
      OperationCode::PAD, {convolution.inputs[0], builder.int32_tensor(pairs, {4, 2})}, {image}, convolution.source};
  Operation rest = convolution;
  rest.inputs[0] = image;
  for (size_t i = 0; i < 4; ++i) rest.inputs[kFirstPadding + i] = builder.int32(0);
  return {std::move(pad), std::move(rest)};
}

}  // namespace

void fit_device(Model& model, const DeviceProfile& device, int feature_level) {
  std::vector<Operation> operations;
  for (Operation& operation : model.operations) {
    const bool is_candidate = is_convolution(operation.code) && operation.inputs.size() > kFirstPadding + 4 &&
                              padding_style(model, operation) == PaddingStyle::kExplicit;
    if (is_candidate && !device.refusal(model, operation).empty()) {
      const bool is_quantised = is_quant8(model.at(operation.inputs[0]).type);
      auto [pad, rest] = split(model, operation);
      if (feature_level >= (is_quantised ? kQuantisedPadLevel : kPadLevel) && device.refusal(model, pad).empty() &&
          device.refusal(model, rest).empty()) {
        operations.push_back(std::move(pad));
        operation = std::move(rest);
      }
    }
    operations.push_back(std::move(operation));
  }
  model.operations = std::move(operations);
}

}  // namespace nnapi_convert::nnapi
