// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/verify/stock_view.h"

#include <fmt/format.h>

#include "lib/base/error.h"
#include "lib/format/buffer_format.h"

namespace nnapi_convert {
namespace {

constexpr int32_t kSustainedSpeed = 2;  // the preference of PyTorch's runtime; the words do not tell it

nnapi_shim::OperandView operand_view(const BufferOperand& operand) {
  for (const uint32_t size : operand.dims) {
    if (size == 0) throw ConvertError(ExitCode::kBadFile, "the NNAPI model has a size of 0, a known size needed");
  }
  nnapi_shim::OperandView view;
  view.type = operand.type;
  view.rank = static_cast<uint32_t>(operand.dims.size());
  view.dims = operand.dims.data();
  view.scale = operand.scale;
  view.zero_point = operand.zero_point;
  return view;
}

const uint8_t* numbered_bytes(const BufferValue& value, const std::vector<nnapi_shim_buffer>& weights) {
  if (value.buffer >= weights.size()) {
    throw ConvertError(ExitCode::kBadFile, fmt::format("weight buffer {} found in the NNAPI model, which has {}",
                                                       value.buffer, weights.size()));
  }
  const nnapi_shim_buffer& buffer = weights[value.buffer];
  if (uint64_t{value.offset} + value.length > buffer.bytes) {
    throw ConvertError(ExitCode::kBadFile,
                       fmt::format("{} bytes from byte {} on found as a value, weight buffer {} has {} bytes",
                                   value.length, value.offset, value.buffer, buffer.bytes));
  }
  return static_cast<const uint8_t*>(buffer.data) + value.offset;
}

nnapi_shim::ValueView value_view(const BufferValue& value, const std::vector<nnapi_shim_buffer>& weights) {
  const bool is_numbered = value.source == static_cast<int32_t>(buffer_format::ValueSource::kNumberedBuffer);
  nnapi_shim::ValueView view;
  view.operand = static_cast<uint32_t>(value.operand);
  view.source = nnapi_shim::format::ValueSource::kImmediate;
  view.data = is_numbered ? numbered_bytes(value, weights) : value.bytes.data();
  view.length = value.length;
  return view;
}

// NNAPI's numbers of operands are unsigned; the reader has checked these.
const uint32_t* operands_of(const std::vector<int32_t>& operands) {
  return reinterpret_cast<const uint32_t*>(operands.data());
}

nnapi_shim::OperationView operation_view(const BufferOperation& operation) {
  nnapi_shim::OperationView view;
  view.code = operation.code;
  view.input_count = static_cast<uint32_t>(operation.inputs.size());
  view.output_count = static_cast<uint32_t>(operation.outputs.size());
  view.inputs = operands_of(operation.inputs);
  view.outputs = operands_of(operation.outputs);
  return view;
}

void add_boundary(const std::vector<int32_t>& operands, std::vector<nnapi_shim::BoundaryView>& boundary,
                  std::vector<uint32_t>& numbers) {
  for (const int32_t operand : operands) {
    numbers.push_back(static_cast<uint32_t>(operand));
    boundary.push_back({numbers.back(), static_cast<int32_t>(boundary.size())});
  }
}

}  // namespace

nnapi_shim::ModelView view_of(const BufferModel& model, const std::vector<nnapi_shim_buffer>& weights) {
  nnapi_shim::SubgraphView main;
  for (const BufferOperand& operand : model.operands) main.operands.push_back(operand_view(operand));
  for (const BufferValue& value : model.values) main.values.push_back(value_view(value, weights));
  for (const BufferOperation& operation : model.operations) main.operations.push_back(operation_view(operation));
  add_boundary(model.inputs, main.inputs, main.input_operands);
  add_boundary(model.outputs, main.outputs, main.output_operands);
  nnapi_shim::ModelView view;
  view.preference = kSustainedSpeed;
  view.models.push_back(std::move(main));
  return view;
}

}  // namespace nnapi_convert
