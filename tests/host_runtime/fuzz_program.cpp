// SPDX-License-Identifier: BSD-3-Clause
// The fuzzer's programs as bytes.
#include "tests/host_runtime/fuzz_program.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "lib/format/nnapi_codes.h"

namespace fuzz {
namespace {

enum Flag : uint8_t { kRelaxed = 1, kPadded = 2, kUnaligned = 4, kHalf = 8, kTraced = 16, kMisused = 32 };
enum OperandFlag : uint8_t { kQuantized = 64, kChannels = 128 };

// Reads zeros after the end.
class Reader {
 public:
  Reader(const uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  uint8_t byte() { return at_ < size_ ? data_[at_++] : 0; }
  uint32_t number() {
    uint32_t result = 0;
    for (int shift = 0; shift < 32; shift += 7) {
      const uint8_t next = byte();
      result |= static_cast<uint32_t>(next & 0x7f) << shift;
      if (next < 0x80) break;
    }
    return result;
  }
  std::size_t count(std::size_t most) { return std::min<std::size_t>(number(), most); }
  float real() {
    const uint32_t bits = byte() | byte() << 8 | byte() << 16 | static_cast<uint32_t>(byte()) << 24;
    float result = 0;
    std::memcpy(&result, &bits, sizeof result);
    return result;
  }
  std::vector<uint32_t> numbers(std::size_t most) {
    std::vector<uint32_t> result(count(most));
    for (uint32_t& entry : result) entry = number();
    return result;
  }
  Bytes pattern() {
    Bytes result(count(kMaxPattern));
    for (uint8_t& entry : result) entry = byte();
    return result;
  }
  bool at_end() const { return at_ == size_; }

 private:
  const uint8_t* data_;
  std::size_t size_, at_ = 0;
};

class Writer {
 public:
  void byte(uint8_t value) { bytes_.push_back(value); }
  void number(uint32_t value) {
    for (; value >= 0x80; value >>= 7) byte(static_cast<uint8_t>(value | 0x80));
    byte(static_cast<uint8_t>(value));
  }
  void real(float value) {
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    for (int shift = 0; shift < 32; shift += 8) byte(static_cast<uint8_t>(bits >> shift));
  }
  template <typename List, typename Write>
  void list(const List& list, std::size_t most, const Write& write) {
    const std::size_t count = std::min(list.size(), most);
    number(static_cast<uint32_t>(count));
    for (std::size_t i = 0; i < count; ++i) write(list[i]);
  }
  void numbers(const std::vector<uint32_t>& values, std::size_t most) {
    list(values, most, [this](uint32_t value) { number(value); });
  }
  Bytes take() { return std::move(bytes_); }

 private:
  Bytes bytes_;
};

// Small numbers of either sign take one byte.
uint32_t zigzag(int32_t value) {
  return (static_cast<uint32_t>(value) << 1) ^ static_cast<uint32_t>(value >> 31);
}

int32_t from_zigzag(uint32_t value) {
  return static_cast<int32_t>((value >> 1) ^ (0 - (value & 1)));
}

Operand read_operand(Reader& reader) {
  Operand operand;
  operand.type = reader.number();
  const uint8_t how = reader.byte();
  operand.source = static_cast<Source>((how & 63) % static_cast<uint8_t>(Source::kCount));
  operand.dims = reader.numbers(kMaxRank);
  if (how & kQuantized) {
    operand.scale = reader.real();
    operand.zero_point = from_zigzag(reader.number());
  }
  if (how & kChannels) {
    operand.channel_dim = reader.number();
    operand.channel_scales.resize(reader.count(kMaxPattern));
    for (float& scale : operand.channel_scales) scale = reader.real();
  }
  if (operand.source == Source::kModel) {
    operand.graph = reader.number();
  } else if (operand.source != Source::kOmitted) {
    operand.pattern = reader.pattern();
  }
  return operand;
}

void write_operand(const Operand& operand, Writer& writer) {
  const bool quantized = operand.scale != 0 || operand.zero_point != 0;
  writer.number(operand.type);
  writer.byte(static_cast<uint8_t>(static_cast<int>(operand.source) | (quantized ? kQuantized : 0) |
                                   (operand.channel_scales.empty() ? 0 : kChannels)));
  writer.numbers(operand.dims, kMaxRank);
  if (quantized) {
    writer.real(operand.scale);
    writer.number(zigzag(operand.zero_point));
  }
  if (!operand.channel_scales.empty()) {
    writer.number(operand.channel_dim);
    writer.list(operand.channel_scales, kMaxPattern, [&](float scale) { writer.real(scale); });
  }
  if (operand.source == Source::kModel) {
    writer.number(operand.graph);
  } else if (operand.source != Source::kOmitted) {
    writer.list(operand.pattern, kMaxPattern, [&](uint8_t byte) { writer.byte(byte); });
  }
}

Graph read_graph(Reader& reader) {
  Graph graph;
  for (std::size_t left = reader.count(kMaxOperands); left > 0 && !reader.at_end(); --left) {
    graph.operands.push_back(read_operand(reader));
  }
  for (std::size_t left = reader.count(kMaxOperations); left > 0 && !reader.at_end(); --left) {
    Operation operation;
    operation.code = reader.number();
    operation.inputs = reader.numbers(kMaxArguments);
    operation.outputs = reader.numbers(kMaxArguments);
    graph.operations.push_back(operation);
  }
  graph.inputs = reader.numbers(kMaxArguments);
  graph.outputs = reader.numbers(kMaxArguments);
  return graph;
}

void write_graph(const Graph& graph, Writer& writer) {
  writer.list(graph.operands, kMaxOperands, [&](const Operand& operand) { write_operand(operand, writer); });
  writer.list(graph.operations, kMaxOperations, [&](const Operation& operation) {
    writer.number(operation.code);
    writer.numbers(operation.inputs, kMaxArguments);
    writer.numbers(operation.outputs, kMaxArguments);
  });
  writer.numbers(graph.inputs, kMaxArguments);
  writer.numbers(graph.outputs, kMaxArguments);
}

}  // namespace

Program decode(const uint8_t* data, std::size_t size) {
  Reader reader(data, size);
  Program program;
  program.level = static_cast<uint8_t>(1 + (reader.byte() + 7) % 8);
  program.way = static_cast<Way>(reader.byte() % static_cast<uint8_t>(Way::kCount));
  const uint8_t flags = reader.byte();
  program.relaxed = flags & kRelaxed;
  program.padded = flags & kPadded;
  program.unaligned = flags & kUnaligned;
  program.half = flags & kHalf;
  program.traced = flags & kTraced;
  program.misused = flags & kMisused;
  for (std::size_t left = 1 + reader.count(kMaxGraphs - 1); left > 0; --left) {
    program.graphs.push_back(read_graph(reader));
  }
  return program;
}

Bytes encode(const Program& program) {
  Writer writer;
  writer.byte(program.level);
  writer.byte(static_cast<uint8_t>(program.way));
  writer.byte(static_cast<uint8_t>((program.relaxed ? kRelaxed : 0) | (program.padded ? kPadded : 0) |
                                   (program.unaligned ? kUnaligned : 0) | (program.half ? kHalf : 0) |
                                   (program.traced ? kTraced : 0) | (program.misused ? kMisused : 0)));
  writer.number(static_cast<uint32_t>(program.graphs.size() - 1));
  for (const Graph& graph : program.graphs) write_graph(graph, writer);
  return writer.take();
}

std::size_t element_size(uint32_t type) {
  using nnapi_convert::OperandCode;
  switch (static_cast<OperandCode>(type)) {
    case OperandCode::FLOAT32:
    case OperandCode::INT32:
    case OperandCode::UINT32:
    case OperandCode::TENSOR_FLOAT32:
    case OperandCode::TENSOR_INT32:
      return 4;
    case OperandCode::FLOAT16:
    case OperandCode::TENSOR_FLOAT16:
    case OperandCode::TENSOR_QUANT16_SYMM:
    case OperandCode::TENSOR_QUANT16_ASYMM:
      return 2;
    case OperandCode::BOOL:
    case OperandCode::TENSOR_BOOL8:
    case OperandCode::TENSOR_QUANT8_ASYMM:
    case OperandCode::TENSOR_QUANT8_SYMM:
    case OperandCode::TENSOR_QUANT8_SYMM_PER_CHANNEL:
    case OperandCode::TENSOR_QUANT8_ASYMM_SIGNED:
      return 1;
    case OperandCode::MODEL:
      break;
  }
  return 0;
}

}  // namespace fuzz
