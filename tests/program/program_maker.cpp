// SPDX-License-Identifier: BSD-3-Clause
#include "tests/program/program_maker.h"

#include <cstring>

#include "lib/format/crc32.h"

namespace nnapi_shim::program_testing {
namespace {

void put_wide(Code* to, uint64_t value) {
  to->push_back(static_cast<uint32_t>(value));
  to->push_back(static_cast<uint32_t>(value >> 32));
}

void put_all(Code* to, const Code& words) {
  to->insert(to->end(), words.begin(), words.end());
}

}  // namespace

Code operator+(Code first, const Code& second) {
  put_all(&first, second);
  return first;
}

ProgramMaker::ProgramMaker() {
  state_ = object({});
}

uint32_t ProgramMaker::string(const std::string& text) {
  const auto known = string_numbers_.find(text);
  if (known != string_numbers_.end()) return known->second;
  const auto number = static_cast<uint32_t>(strings_.size());
  strings_.push_back(text);
  string_numbers_[text] = number;
  return number;
}

uint32_t ProgramMaker::add(const Code& words) {
  constants_.push_back(words);
  return (constant_count() - 1) | format::kConstantBit;
}

uint32_t ProgramMaker::add_wide(uint32_t kind, uint64_t value) {
  Code words = {kind};
  put_wide(&words, value);
  return add(words);
}

uint32_t ProgramMaker::real(double value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return add_wide(3, bits);
}

uint32_t ProgramMaker::tensor(format::ScalarType dtype, const std::vector<int64_t>& sizes, const void* data,
                              size_t bytes) {
  data_.resize((data_.size() + format::kDataAlignment - 1) / format::kDataAlignment * format::kDataAlignment);
  Code words = {5, static_cast<uint32_t>(dtype), static_cast<uint32_t>(sizes.size())};
  for (const int64_t size : sizes) put_wide(&words, static_cast<uint64_t>(size));
  put_wide(&words, data_.size());
  const auto* from = static_cast<const uint8_t*>(data);
  data_.insert(data_.end(), from, from + bytes);
  return add(words);
}

uint32_t ProgramMaker::add_sequence(uint32_t kind, const std::vector<uint32_t>& operands, uint32_t each) {
  Code words = {kind, static_cast<uint32_t>(operands.size()) / each};
  for (const uint32_t operand : operands) words.push_back(operand & ~format::kConstantBit);
  return add(words);
}

Code ProgramMaker::op(const std::string& name, const Code& inputs, const Code& outputs, const std::string& place) {
  auto known = operator_numbers_.find(name);
  if (known == operator_numbers_.end()) {
    known = operator_numbers_.emplace(name, static_cast<uint32_t>(operators_.size())).first;
    operators_.push_back(string(name));
  }
  const Code head = {0 | place_of(place), known->second, static_cast<uint32_t>(inputs.size()),
                     static_cast<uint32_t>(outputs.size())};
  return head + inputs + outputs;
}

Code ProgramMaker::if_(uint32_t condition, const Code& outputs, const Code& true_block, const Code& true_values,
                       const Code& false_block, const Code& false_values) {
  const Code head = {1, condition, static_cast<uint32_t>(outputs.size()), static_cast<uint32_t>(true_block.size()),
                     static_cast<uint32_t>(false_block.size())};
  return head + outputs + true_values + false_values + true_block + false_block;
}

Code ProgramMaker::loop(uint32_t most, uint32_t condition, const Code& starts, const Code& results,
                        const Code& body_registers, uint32_t body_condition, const Code& body_values,
                        const Code& body) {
  const Code head = {2, most, condition, static_cast<uint32_t>(starts.size()), static_cast<uint32_t>(body.size())};
  return head + starts + results + body_registers + Code{body_condition} + body_values + body;
}

Code ProgramMaker::segment(uint32_t number, const Code& inputs, const Code& outputs) {
  const Code head = {3, number, static_cast<uint32_t>(inputs.size()), static_cast<uint32_t>(outputs.size())};
  return head + inputs + outputs;
}

Code ProgramMaker::make(format::Opcode opcode, const Code& operands, uint32_t result) {
  const auto count = static_cast<uint32_t>(operands.size()) / (opcode == format::Opcode::kDict ? 2 : 1);
  return Code{static_cast<uint32_t>(opcode), count} + operands + Code{result};
}

Code ProgramMaker::unpack(uint32_t value, const Code& results) {
  return Code{11, value, static_cast<uint32_t>(results.size())} + results;
}

Code ProgramMaker::drop(const Code& registers) {
  return Code{13, static_cast<uint32_t>(registers.size())} + registers;
}

std::vector<uint8_t> ProgramMaker::make_record() {
  for (const MadeMethod& method : methods_) {
    string(method.name);
    string(method.result_type);
    for (const MadeArgument& argument : method.arguments) {
      string(argument.name);
      string(argument.type);
    }
  }
  Code words(format::kHeaderWords);
  words.push_back(static_cast<uint32_t>(strings_.size()));
  std::string text;
  for (const std::string& each : strings_) {
    words.push_back(static_cast<uint32_t>(each.size()));
    text += each;
  }
  text.resize((text.size() + 3) / 4 * 4);
  const size_t text_begin = words.size();
  words.resize(text_begin + text.size() / 4);
  if (!text.empty()) std::memcpy(&words[text_begin], text.data(), text.size());
  words.push_back(static_cast<uint32_t>(operators_.size()));
  put_all(&words, operators_);
  words.push_back(constant_count());
  for (const Code& constant : constants_) put_all(&words, constant);
  words.push_back(state_ & ~format::kConstantBit);
  words.push_back(static_cast<uint32_t>(segments_.size()));
  for (const auto& segment : segments_) put_all(&words, {segment.inputs, segment.outputs, segment.fallback_plus_1});
  words.push_back(static_cast<uint32_t>(methods_.size()));
  for (const MadeMethod& method : methods_) {
    put_all(&words, {string(method.name), method.registers, static_cast<uint32_t>(method.arguments.size())});
    for (const MadeArgument& argument : method.arguments) {
      put_all(&words, {string(argument.name), string(argument.type), argument.default_constant});
    }
    put_all(&words, {string(method.result_type), method.result, static_cast<uint32_t>(method.code.size())});
    put_all(&words, method.code);
  }
  const size_t alignment = format::kDataAlignment;
  const size_t data_begin = (words.size() * 4 + alignment - 1) / alignment * alignment;
  words[format::kMagicWord] = format::kMagic;
  words[format::kVersionWord] = format::kVersion;
  words[format::kWordCount] = static_cast<uint32_t>(words.size());
  words[format::kDataBegin] = static_cast<uint32_t>(data_begin);
  words[format::kDataBytes] = static_cast<uint32_t>(data_.size());
  std::vector<uint8_t> record(data_begin);
  std::memcpy(record.data(), words.data(), words.size() * 4);
  record.insert(record.end(), data_.begin(), data_.end());
  set_checksum(&record);
  return record;
}

void ProgramMaker::set_checksum(std::vector<uint8_t>* record) {
  uint32_t words = 0;
  if (record->size() < format::kHeaderWords * 4) return;
  std::memcpy(&words, record->data() + 4 * format::kWordCount, 4);
  const size_t behind = (format::kChecksum + 1) * 4;
  if (uint64_t{words} * 4 > record->size() || words < format::kHeaderWords) return;
  const uint32_t checksum = nnapi_convert::crc32(record->data() + behind, size_t{words} * 4 - behind);
  std::memcpy(record->data() + 4 * format::kChecksum, &checksum, 4);
}

}  // namespace nnapi_shim::program_testing
