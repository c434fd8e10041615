// SPDX-License-Identifier: BSD-3-Clause
#include "tests/ops/buffer_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/serialize/buffer_reader.h"

namespace nnapi_convert {
namespace {

bool same_operand(const nnapi::Operand& operand, const BufferOperand& found) {
  const bool same_dims =
      std::equal(operand.dims.begin(), operand.dims.end(), found.dims.begin(), found.dims.end(),
                 [](const Dim& dim, uint32_t size) { return dim.fixed_value().value_or(0) == size; });
  return same_dims && static_cast<int32_t>(operand.type) == found.type && operand.scale == found.scale &&
         operand.zero_point == found.zero_point;
}

bool same_operation(const nnapi::Operation& operation, const BufferOperation& found) {
  return static_cast<int32_t>(operation.code) == found.code && operation.inputs == found.inputs &&
         operation.outputs == found.outputs;
}

bool same_boundary(const std::vector<nnapi::Boundary>& boundary, const std::vector<int32_t>& found) {
  return std::equal(boundary.begin(), boundary.end(), found.begin(), found.end(),
                    [](const nnapi::Boundary& one, int32_t id) { return one.operand == id; });
}

// The bytes of a constant, wherever the buffer holds them.
std::vector<uint8_t> bytes_of(const BufferValue& value, const SerializedModel& serialized) {
  if (!value.bytes.empty()) return value.bytes;
  const std::vector<uint8_t> buffer = serialized.buffers.at(value.buffer).bytes();
  return {buffer.begin() + value.offset, buffer.begin() + value.offset + value.length};
}

void compare_values(const nnapi::Model& model, const SerializedModel& serialized, const BufferModel& found,
                    std::vector<std::string>& problems) {
  const auto constants = std::count_if(model.operands.begin(), model.operands.end(),
                                       [](const nnapi::Operand& operand) { return operand.is_constant(); });
  if (static_cast<size_t>(constants) != found.values.size())
    problems.emplace_back("another number of values in the buffer");
  for (const BufferValue& value : found.values) {
    const nnapi::Constant* constant = model.at(value.operand).constant();
    if (constant == nullptr || constant->bytes() == bytes_of(value, serialized)) continue;
    problems.push_back(fmt::format("other bytes of operand {} in the buffer", value.operand));
  }
}

}  // namespace

std::vector<std::string> round_trip_problems(const nnapi::Model& model, const SerializedModel& serialized) {
  const BufferModel found = read_buffer(serialized.words.data(), serialized.words.size());
  std::vector<std::string> problems;
  const auto require = [&](bool condition, const char* what) {
    if (!condition) problems.push_back(fmt::format("other {} in the buffer", what));
  };
  require(std::equal(model.operands.begin(), model.operands.end(), found.operands.begin(), found.operands.end(),
                     same_operand),
          "operands");
  require(std::equal(model.operations.begin(), model.operations.end(), found.operations.begin(), found.operations.end(),
                     same_operation),
          "operations");
  require(same_boundary(model.inputs, found.inputs), "inputs");
  require(same_boundary(model.outputs, found.outputs), "outputs");
  compare_values(model, serialized, found, problems);
  return problems;
}

}  // namespace nnapi_convert
