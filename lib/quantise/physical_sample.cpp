// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/physical_sample.h"

#include <ATen/ATen.h>

#include <cstring>

namespace nnapi_convert {
namespace {

at::ScalarType element_type(OperandCode type) {
  switch (type) {
    case OperandCode::TENSOR_INT32:
      return at::kInt;
    case OperandCode::TENSOR_BOOL8:
    case OperandCode::TENSOR_QUANT8_ASYMM:  // bytes of pixels
      return at::kByte;
    default:
      return at::kFloat;
  }
}

}  // namespace

quantise::Sample physical_sample(const nnapi::Model& model, const std::vector<at::Tensor>& tensors) {
  quantise::Sample sample;
  for (const at::Tensor& tensor : tensors) sample.shapes.push_back(tensor.sizes().vec());
  for (const nnapi::Boundary& input : model.inputs) {
    at::Tensor tensor = tensors.at(input.argument).to(element_type(model.at(input.operand).type));
    if (input.nhwc) tensor = tensor.permute({0, 2, 3, 1});
    tensor = tensor.contiguous();
    quantise::Bytes bytes(tensor.nbytes());
    if (!bytes.empty()) std::memcpy(bytes.data(), tensor.data_ptr(), bytes.size());
    sample.inputs.push_back(std::move(bytes));
  }
  return sample;
}

}  // namespace nnapi_convert
