// SPDX-License-Identifier: BSD-3-Clause
#include "lib/serialize/buffer_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "lib/base/error.h"
#include "lib/format/buffer_format.h"
#include "lib/nnapi/stored_form.h"
#include "lib/serialize/buffer_words.h"

namespace nnapi_convert {
namespace {

using buffer_format::ValueSource;

class BufferWriter {
 public:
  explicit BufferWriter(const nnapi::Model& model) : model_(model) {}

  SerializedModel write() {
    collect_constants();
    write_header();
    for (const nnapi::Operand& operand : model_.operands) write_operand(operand);
    for (const nnapi::OperandId id : constants_) write_value_record(id);
    for (const nnapi::Operation& operation : model_.operations) {
      put(static_cast<int32_t>(operation.code));
      put(count(operation.inputs.size(), "operation inputs"));
      put(count(operation.outputs.size(), "operation outputs"));
    }
    for (const nnapi::Operand& operand : model_.operands) put_dims(operand.dims);
    for (const nnapi::OperandId id : constants_) write_value_data(model_.at(id));
    for (const nnapi::Operation& operation : model_.operations) {
      for (const nnapi::OperandId id : operation.inputs) put(id);
      for (const nnapi::OperandId id : operation.outputs) put(id);
    }
    for (const nnapi::Boundary& input : model_.inputs) put(input.operand);
    for (const nnapi::Boundary& output : model_.outputs) put(output.operand);
    return std::move(result_);
  }

 private:
  static int32_t count(size_t value, const char* what) {
    if (value < buffer_format::kMaxCount) return static_cast<int32_t>(value);
    throw ConvertError(ExitCode::kNotConvertible,
                       fmt::format("the model has {} {}, and the buffer format holds less than {}", value, what,
                                   buffer_format::kMaxCount));
  }

  void put(int32_t word) { result_.words.push_back(word); }

  // Writes a number; for an expression, writes 0 and adds a patch.
  void put(const Dim& value) {
    if (!value.is_fixed()) result_.patches.push_back({result_.words.size(), value});
    const int64_t number = value.fixed_value().value_or(0);
    if (number < INT32_MIN || number > INT32_MAX) {
      throw ConvertError(ExitCode::kNotConvertible,
                         fmt::format("the model has the number {}, and the buffer format holds 32 bits", number));
    }
    put(static_cast<int32_t>(number));
  }

  void put_dims(const Dims& dims) {
    for (const Dim& dim : dims) put(dim);
  }

  void collect_constants() {
    for (size_t i = 0; i < model_.operands.size(); ++i) {
      if (model_.operands[i].is_constant()) constants_.push_back(static_cast<nnapi::OperandId>(i));
    }
  }

  void write_header() {
    put(buffer_format::kVersion);
    put(count(model_.operands.size(), "operands"));
    put(count(constants_.size(), "constants"));
    put(count(model_.operations.size(), "operations"));
    put(count(model_.inputs.size(), "inputs"));
    put(count(model_.outputs.size(), "outputs"));
  }

  void write_operand(const nnapi::Operand& operand) {
    put(static_cast<int32_t>(operand.type));
    put(count(operand.dims.size(), "dimensions"));
    put(float_bits(operand.scale));
    put(operand.zero_point);
  }

  static bool is_numbered(const nnapi::Operand& operand) {
    return operand.constant() != nullptr && operand.constant()->byte_count() > kMaxImmediateBytes;
  }

  void write_value_record(nnapi::OperandId id) {
    const nnapi::Operand& operand = model_.at(id);
    put(id);
    put(static_cast<int32_t>(is_numbered(operand) ? ValueSource::kNumberedBuffer : ValueSource::kImmediate));
    size_t bytes = 4;  // FLOAT32
    if (is_numbered(operand)) {
      bytes = 4 * buffer_format::kNumberedBufferWords;
    } else if (operand.constant() != nullptr) {
      bytes = operand.constant()->byte_count();
    } else if (operand.ints() != nullptr) {
      bytes = 4 * operand.ints()->size();
    } else if (operand.type == OperandCode::BOOL) {
      bytes = 1;
    }
    put(static_cast<int32_t>(bytes));
  }

  void write_value_data(const nnapi::Operand& operand) {
    if (is_numbered(operand)) {
      put(static_cast<int32_t>(result_.buffers.size()));
      put(0);
      put(byte_length(operand));
      result_.buffers.push_back(*operand.constant());
      result_.scales.push_back(nnapi::is_stored_as_int8(operand) ? operand.channels : nullptr);
    } else if (operand.constant() != nullptr) {
      put_bytes(operand.constant()->bytes());
    } else if (operand.ints() != nullptr) {
      put_dims(*operand.ints());
    } else if (const bool* flag = std::get_if<bool>(&operand.value)) {
      put(*flag ? 1 : 0);
    } else {
      NNC_ASSERT(std::holds_alternative<float>(operand.value), "version 1 says no such operand");
      put(float_bits(std::get<float>(operand.value)));
    }
  }

  // Returns the length that the loader sees: the module hands it float32 even if the archive has float16 or int8.
  static int32_t byte_length(const nnapi::Operand& operand) {
    const nnapi::Constant& constant = *operand.constant();
    const bool is_float = operand.type == OperandCode::TENSOR_FLOAT32;
    const size_t bytes = is_float ? sizeof(float) * constant.element_count() : constant.byte_count();
    if (bytes <= INT32_MAX) return static_cast<int32_t>(bytes);
    throw ConvertError(ExitCode::kNotConvertible,
                       fmt::format("a weight has {} bytes, and the stock loader takes {} at most", bytes, INT32_MAX));
  }

  void put_bytes(const std::vector<uint8_t>& bytes) {
    const size_t first = result_.words.size();
    result_.words.resize(first + (bytes.size() + 3) / 4, 0);
    if (!bytes.empty()) std::memcpy(result_.words.data() + first, bytes.data(), bytes.size());
  }

  const nnapi::Model& model_;
  std::vector<nnapi::OperandId> constants_;
  SerializedModel result_;
};

}  // namespace

bool SerializedModel::has_int8() const {
  return std::any_of(scales.begin(), scales.end(), [](const auto& each) { return each != nullptr; });
}

SerializedModel write_buffer(const nnapi::Model& model) {
  return BufferWriter(model).write();
}

std::string to_text(const SerializedModel& serialized) {
  std::string text = fmt::format("{} words, {} numbered buffers\n", serialized.words.size(), serialized.buffers.size());
  for (const WordPatch& patch : serialized.patches)
    text += fmt::format("word {} = {}\n", patch.word, patch.value.text());
  return text;
}

}  // namespace nnapi_convert
