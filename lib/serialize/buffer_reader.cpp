// SPDX-License-Identifier: BSD-3-Clause
#include "lib/serialize/buffer_reader.h"

#include <fmt/format.h>

#include <cstring>

#include "lib/format/buffer_format.h"
#include "lib/serialize/word_cursor.h"

namespace nnapi_convert {
namespace {

using buffer_format::ValueSource;

class BufferReader : private WordCursor {
 public:
  using WordCursor::WordCursor;

  BufferModel read() {
    const int32_t version = next("version");
    if (version != buffer_format::kVersion) {
      fail(fmt::format("version {} found, {} needed", version, buffer_format::kVersion));
    }
    const size_t operands = next_count("operand count", buffer_format::kOperandWords);
    const size_t values = next_count("value count", buffer_format::kValueWords);
    const size_t operations = next_count("operation count", buffer_format::kOperationWords);
    const size_t inputs = next_count("input count", 1);
    const size_t outputs = next_count("output count", 1);
    read_records(operands, values, operations);
    read_details();
    model_.inputs = next_operands(inputs, "model input");
    model_.outputs = next_operands(outputs, "model output");
    if (position() != count()) fail(fmt::format("{} words found, {} needed", count(), position()));
    return std::move(model_);
  }

 private:
  // Reads a count of records that take at least `words_each` later words each.
  size_t next_count(const char* what, uint64_t words_each) {
    const auto value = static_cast<uint32_t>(next(what));
    if (value >= buffer_format::kMaxCount) {
      fail(fmt::format("{} {} found, less than {} needed", what, value, buffer_format::kMaxCount));
    }
    // The records of all counts together must fit into the buffer. Otherwise a small file could make the reader take
    // much memory.
    promised_ += value * words_each;
    if (promised_ > count()) fail(fmt::format("{}: {} words promised, {} found", what, promised_, count()));
    return value;
  }

  int32_t next_operand(const char* what) {
    const int32_t id = next(what);
    if (id < 0 || static_cast<size_t>(id) >= model_.operands.size()) {
      fail(fmt::format("{}: operand {} found, and the model has {} operands", what, id, model_.operands.size()));
    }
    return id;
  }

  std::vector<int32_t> next_operands(size_t size, const char* what) {
    require(size, what);
    std::vector<int32_t> ids(size);
    for (int32_t& id : ids) id = next_operand(what);
    return ids;
  }

  void read_records(size_t operands, size_t values, size_t operations) {
    for (size_t i = 0; i < operands; ++i) {
      BufferOperand operand{next("operand type"), {}, 0, 0};
      operand.dims.resize(next_count("dimension count", 1));
      operand.scale = next_float("scale");
      operand.zero_point = next("zero point");
      model_.operands.push_back(std::move(operand));
    }
    for (size_t i = 0; i < values; ++i) {
      BufferValue value{next_operand("value"), next("value source"), {}};
      value.length = static_cast<uint32_t>(next("value length"));
      model_.values.push_back(std::move(value));
    }
    for (size_t i = 0; i < operations; ++i) {
      BufferOperation operation{next("operation code"), {}, {}};
      operation.inputs.resize(next_count("operation input count", 1));
      operation.outputs.resize(next_count("operation output count", 1));
      model_.operations.push_back(std::move(operation));
    }
  }

  void read_details() {
    for (BufferOperand& operand : model_.operands) {
      for (uint32_t& dim : operand.dims) dim = static_cast<uint32_t>(next("dimension"));
    }
    for (BufferValue& value : model_.values) read_value(value);
    for (BufferOperation& operation : model_.operations) {
      operation.inputs = next_operands(operation.inputs.size(), "operation input");
      operation.outputs = next_operands(operation.outputs.size(), "operation output");
    }
  }

  void read_value(BufferValue& value) {
    const uint64_t length = value.length;
    const uint64_t words = (uint64_t{length} + 3) / 4;
    require(words, "value data");
    if (value.source == static_cast<int32_t>(ValueSource::kImmediate)) {
      value.bytes.resize(length);
      const int32_t* data = take(words, "value data");
      if (length != 0) std::memcpy(value.bytes.data(), data, length);
      return;
    }
    if (value.source != static_cast<int32_t>(ValueSource::kNumberedBuffer)) {
      fail(fmt::format("value source {} found, 0 or 2 needed", value.source));
    }
    if (length != 4 * buffer_format::kNumberedBufferWords) {
      fail(fmt::format("a numbered buffer's value has {} bytes, 12 needed", length));
    }
    value.buffer = static_cast<uint32_t>(next("buffer number"));
    value.offset = static_cast<uint32_t>(next("buffer offset"));
    value.length = static_cast<uint32_t>(next("buffer length"));
  }

  uint64_t promised_ = 0;  // words that the counts read so far announce
  BufferModel model_;
};

}  // namespace

BufferModel read_buffer(const int32_t* words, size_t count) {
  return BufferReader(words, count).read();
}

}  // namespace nnapi_convert
