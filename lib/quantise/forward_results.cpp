// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/forward_results.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cstring>

namespace nnapi_convert {
namespace {

std::string below(const std::string& name, const std::string& key) {
  return name.empty() ? key : name + "." + key;
}

void add_results(const c10::IValue& value, const std::string& name, ForwardResult& results) {
  if (value.isTensor()) {
    const at::Tensor& tensor = value.toTensor();
    results.push_back({name, (tensor.is_quantized() ? tensor.dequantize() : tensor).contiguous()});
  } else if (value.isGenericDict()) {
    size_t number = 0;
    for (const auto& entry : value.toGenericDict()) {
      const std::string key = entry.key().isString() ? entry.key().toStringRef() : fmt::format("{}", number);
      ++number;
      add_results(entry.value(), below(name, key), results);
    }
  } else if (value.isTuple() || value.isList()) {
    const std::vector<c10::IValue> elements =
        value.isTuple() ? value.toTupleRef().elements().vec() : value.toListRef().vec();
    for (size_t i = 0; i < elements.size(); ++i) add_results(elements[i], below(name, fmt::format("{}", i)), results);
  }
}

// Returns the tensor of an output of floats or 32-bit integers.
at::Tensor tensor_of_output(const quantise::Bytes& bytes, const nnapi::Boundary& output, bool is_float,
                            const at::Tensor& like) {
  std::vector<int64_t> sizes = like.sizes().vec();
  if (output.nhwc) sizes = {sizes[0], sizes[2], sizes[3], sizes[1]};
  const at::Tensor tensor = at::empty(sizes, at::TensorOptions(is_float ? at::kFloat : at::kInt));
  if (tensor.nbytes() != bytes.size()) return like;
  if (!bytes.empty()) std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
  return (output.nhwc ? tensor.permute({0, 3, 1, 2}) : tensor).to(like.scalar_type()).contiguous();
}

}  // namespace

ForwardResult named_results(const c10::IValue& value) {
  ForwardResult results;
  add_results(value, value.isTensor() ? "result" : "", results);
  return results;
}

ForwardResult with_nnapi_results(const ForwardResult& original, const std::vector<quantise::Bytes>& bytes,
                                 const nnapi::Model& model, const ModuleInterface& interface) {
  ForwardResult results = original;
  for (size_t i = 0; i < results.size() && i < interface.outputs.size(); ++i) {
    const InterfaceOutput& output = interface.outputs[i];
    if (output.source != InterfaceOutput::Source::kNnapi) continue;
    const nnapi::Boundary& boundary = model.outputs.at(output.index);
    const OperandCode type = model.at(boundary.operand).type;
    if (type != OperandCode::TENSOR_FLOAT32 && type != OperandCode::TENSOR_INT32) continue;
    results[i].tensor =
        tensor_of_output(bytes.at(output.index), boundary, type == OperandCode::TENSOR_FLOAT32, original[i].tensor);
  }
  return results;
}

}  // namespace nnapi_convert
