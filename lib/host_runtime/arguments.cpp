// SPDX-License-Identifier: BSD-3-Clause
// Sets and checks the inputs and outputs of an execution.
#include "lib/format/operation_table.h"
#include "lib/host_runtime/execution.h"
#include "lib/host_runtime/failure.h"

namespace nnapi_convert::host {
namespace {

std::string subject_of(Direction direction, int32_t index) {
  return fmt::format("{} {}", name_of(direction), index);
}

}  // namespace

Execution::Argument& Execution::argument(Direction direction, int32_t index) {
  require_preparing(subject_of(direction, index).c_str());
  std::vector<Argument>& arguments = direction == Direction::kInput ? inputs_ : outputs_;
  if (index < 0 || static_cast<std::size_t>(index) >= arguments.size()) {
    bad_data("{} index {} found, below {} needed", name_of(direction), index, arguments.size());
  }
  Argument& result = arguments[static_cast<std::size_t>(index)];
  if (result.set) fail(ResultCode::BAD_STATE, "{}: set before", subject_of(direction, index));
  return result;
}

const Operand& Execution::operand(Direction direction, std::size_t index) const {
  const Model& model = compilation_->model();
  return model.operands()[direction == Direction::kInput ? model.inputs()[index] : model.outputs()[index]];
}

Shape Execution::merged_shape(Direction direction, int32_t index, const ANeuralNetworksOperandType* type) const {
  const Operand& declared = operand(direction, static_cast<std::size_t>(index));
  if (!type) return declared.shape;
  const std::string subject = subject_of(direction, index);
  if (type->type != static_cast<int32_t>(declared.type)) {
    bad_data("{}: type {} found, {} needed", subject, nnapi_convert::name_of(static_cast<OperandCode>(type->type)),
             nnapi_convert::name_of(declared.type));
  }
  const Operand given = make_operand(*type, subject, compilation_->model().feature_level());
  if (given.scale != declared.scale || given.zero_point != declared.zero_point) {
    bad_data("{}: scale {}, zero point {} found, {}, {} needed", subject, given.scale, given.zero_point, declared.scale,
             declared.zero_point);
  }
  std::optional<Shape> both = merged(declared.shape, given.shape);
  if (!both) bad_data("{}: dimensions {} found, {} needed", subject, to_string(given.shape), to_string(declared.shape));
  return *std::move(both);
}

// Checks a buffer's length. With padding enabled, a buffer may be longer than its value.
void Execution::check_length(Direction direction, int32_t index, const Argument& argument) const {
  const std::string subject = subject_of(direction, index);
  if (!argument.shape.known()) {
    if (direction == Direction::kOutput) return;
    bad_data("{}: dimensions {} found, known ones needed", subject, to_string(argument.shape));
  }
  const auto needed =
      static_cast<uint64_t>(byte_length(operand(direction, static_cast<std::size_t>(index)).type, argument.shape));
  if (argument.length == needed || (padding_ && argument.length > needed)) return;
  bad_data("{}: {} bytes found, {}{} needed", subject, argument.length, padding_ ? "at least " : "", needed);
}

void Execution::set_buffer(Direction direction, int32_t index, const ANeuralNetworksOperandType* type, void* buffer,
                           std::size_t length) {
  Argument& target = argument(direction, index);
  if (!buffer && length != 0) {
    fail(ResultCode::UNEXPECTED_NULL, "{}: no buffer found for {} bytes", subject_of(direction, index), length);
  }
  Argument given = {true, merged_shape(direction, index, type), buffer, length, nullptr, nullptr};
  if (buffer) check_length(direction, index, given);
  target = std::move(given);
  any_set_ = true;
}

void Execution::check_device_memory(Direction direction, int32_t index, const Argument& argument,
                                    std::size_t offset) const {
  const std::string subject = subject_of(direction, index);
  const MemoryDescriptor& descriptor = argument.device->descriptor();
  if (offset != 0 || argument.length != 0) {
    bad_data("{}: offset {} and length {} found, 0 and 0 needed for a memory from a descriptor", subject, offset,
             argument.length);
  }
  if (!descriptor.has_role(compilation_.get(), direction, static_cast<uint32_t>(index))) {
    bad_data("{}: its memory's descriptor does not list this use", subject);
  }
  if (merged(argument.shape, descriptor.shape())) return;
  bad_data("{}: dimensions {} found, those of its memory needed: {}", subject, to_string(argument.shape),
           to_string(descriptor.shape()));
}

void Execution::set_memory(Direction direction, int32_t index, const ANeuralNetworksOperandType* type,
                           std::shared_ptr<Memory> memory, std::size_t offset, std::size_t length) {
  Argument& target = argument(direction, index);
  Argument given = {true, merged_shape(direction, index, type), nullptr, length, memory, nullptr};
  given.device = std::dynamic_pointer_cast<DeviceMemory>(memory);
  if (given.device) {
    check_device_memory(direction, index, given, offset);
    given.shape = *merged(given.shape, given.device->descriptor().shape());
  } else {
    const auto& mapped = dynamic_cast<const MappedMemory&>(*memory);
    const bool is_input = direction == Direction::kInput;
    if (is_input ? !mapped.readable() : !mapped.writable()) {
      bad_data("{}: its memory is not {}", subject_of(direction, index), is_input ? "readable" : "writable");
    }
    given.buffer = mapped.at(offset, length);
    check_length(direction, index, given);
  }
  target = std::move(given);
  any_set_ = true;
}

}  // namespace nnapi_convert::host
