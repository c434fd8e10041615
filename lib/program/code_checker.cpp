// SPDX-License-Identifier: BSD-3-Clause
#include "lib/program/code_checker.h"

#include <algorithm>

namespace nnapi_shim::program {

namespace format = nnapi_convert::program_format;
using format::Opcode;

namespace {

constexpr uint32_t kMostFields = 1u << 16;

}  // namespace

bool Program::CodeChecker::check(Method* method, bool may_call_segments) {
  method_ = method;
  may_call_segments_ = may_call_segments;
  if (defined_.size() < method->registers) defined_.resize(method->registers, 0);
  changes_.clear();
  for (uint32_t i = 0; i < method->arguments.size(); ++i) set(i, true);
  bool is_good = check_block(method->code_words, 0);
  const size_t end = reader_.at();
  is_good = is_good && check_operand(method->result);
  undo(0);
  reader_.skip_to(end);
  return is_good;
}

void Program::CodeChecker::set(uint32_t number, bool is_defined) {
  if ((defined_[number] != 0) == is_defined) return;
  changes_.push_back({number, defined_[number] != 0});
  defined_[number] = is_defined ? 1 : 0;
}

void Program::CodeChecker::undo(size_t begin) {
  while (changes_.size() > begin) {
    defined_[changes_.back().number] = changes_.back().was ? 1 : 0;
    changes_.pop_back();
  }
}

void Program::CodeChecker::leave(size_t begin, std::vector<uint32_t>* dropped) {
  std::vector<uint32_t> undefined;
  for (size_t i = begin; i < changes_.size(); ++i) {
    if (defined_[changes_[i].number] == 0) undefined.push_back(changes_[i].number);
  }
  undo(begin);
  for (const uint32_t number : undefined) {
    if (defined_[number] != 0) dropped->push_back(number);
  }
}

bool Program::CodeChecker::check_operand(uint32_t value) {
  if ((value & format::kConstantBit) != 0) {
    const size_t constants = program_.constants_.size();
    value &= ~format::kConstantBit;
    return value < constants || reader_.damaged("constant %u found, below %zu needed", value, constants);
  }
  if (value >= method_->registers) {
    return reader_.damaged("register %u found, below %u needed", value, method_->registers);
  }
  return defined_[value] != 0 || reader_.damaged("register %u is read before it is written", value);
}

bool Program::CodeChecker::read_operand() {
  uint32_t value = 0;
  return reader_.word(&value, "an operand") && check_operand(value);
}

bool Program::CodeChecker::read_operands(uint32_t count) {
  method_->most_inputs = std::max(method_->most_inputs, count);
  for (uint32_t i = 0; i < count; ++i) {
    if (!read_operand()) return false;
  }
  return true;
}

bool Program::CodeChecker::read_register(uint32_t* number) {
  return reader_.number(number, method_->registers, "a register");
}

bool Program::CodeChecker::read_results(uint32_t count) {
  method_->most_outputs = std::max(method_->most_outputs, count);
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t number = 0;
    if (!read_register(&number)) return false;
    set(number, true);
  }
  return true;
}

bool Program::CodeChecker::check_block(size_t words, uint32_t depth) {
  if (depth > format::kMostDepth) return reader_.damaged("blocks are nested deeper than %u", format::kMostDepth);
  const size_t count = reader_.count();
  if (reader_.at() > count || words > count - reader_.at()) return reader_.damaged("a block is longer than the words");
  const size_t end = reader_.at() + words;
  while (reader_.at() < end) {
    if (!check_instruction(depth)) return false;
  }
  return reader_.at() == end || reader_.damaged("a block ends within an instruction");
}

bool Program::CodeChecker::check_instruction(uint32_t depth) {
  uint32_t first = 0, count = 0;
  if (!reader_.word(&first, "an instruction")) return false;
  if (first >> 8 > program_.strings_.size()) return reader_.damaged("an instruction's place is no string");
  switch (static_cast<Opcode>(first & 0xff)) {
    case Opcode::kOperator:
      return check_operator();
    case Opcode::kIf:
      return check_if(depth);
    case Opcode::kLoop:
      return check_loop(depth);
    case Opcode::kSegment:
      return check_segment();
    case Opcode::kList:
    case Opcode::kTuple:
      return reader_.entries(&count, 1, "elements") && read_operands(count) && read_results(1);
    case Opcode::kDict:
      return reader_.entries(&count, 2, "pairs") && read_operands(2 * count) && read_results(1);
    case Opcode::kObject:
      return reader_.number(&count, kMostFields, "fields") && read_results(1);
    case Opcode::kGetField:
      return read_operand() && reader_.word(&count, "a field") && read_results(1);
    case Opcode::kSetField:
      return read_operand() && reader_.word(&count, "a field") && read_operand();
    case Opcode::kGetState:
      return read_results(1);
    case Opcode::kUnpack:
      return read_operand() && reader_.entries(&count, 1, "elements") && read_results(count);
    case Opcode::kRaise:
      return read_operand();
    case Opcode::kDrop:
      return check_drop();
    case Opcode::kRawSegment:
      return check_raw_segment();
  }
  return reader_.damaged("opcode %u is unknown", first & 0xff);
}

bool Program::CodeChecker::check_operator() {
  uint32_t number = 0, inputs = 0, outputs = 0;
  if (!reader_.number(&number, program_.operators_.size(), "an operator")) return false;
  if (!reader_.entries(&inputs, 1, "inputs") || !reader_.entries(&outputs, 1, "outputs")) return false;
  const Operator& found = program_.operator_at(number);
  if ((found.inputs != kAny && found.inputs != inputs) || (found.outputs != kAny && found.outputs != outputs)) {
    return reader_.damaged("%.100s has %u inputs and %u outputs, %u and %u found", program_.operator_name(number),
                           found.inputs, found.outputs, inputs, outputs);
  }
  return read_operands(inputs) && read_results(outputs);
}

bool Program::CodeChecker::check_segment() {
  uint32_t number = 0, inputs = 0, outputs = 0;
  if (!may_call_segments_) return reader_.damaged("a segment's method calls segments");
  const std::vector<SegmentCounts>& segments = program_.segments_;
  if (!reader_.number(&number, segments.size(), "a segment")) return false;
  if (!reader_.word(&inputs, "inputs") || !reader_.word(&outputs, "outputs")) return false;
  const SegmentCounts& needed = segments[number];
  if (inputs != needed.inputs || outputs != needed.outputs) {
    return reader_.damaged("segment %u has %u inputs and %u outputs, %u and %u found", number, needed.inputs,
                           needed.outputs, inputs, outputs);
  }
  return read_operands(inputs) && read_results(outputs);
}

bool Program::CodeChecker::check_raw_segment() {
  uint32_t number = 0, arguments = 0, inputs = 0, outputs = 0;
  if (!may_call_segments_) return reader_.damaged("a segment's method calls segments");
  const std::vector<SegmentCounts>& segments = program_.segments_;
  if (!reader_.number(&number, segments.size(), "a segment")) return false;
  if (!reader_.entries(&arguments, 1, "arguments") || !reader_.entries(&inputs, 1, "inputs") ||
      !reader_.entries(&outputs, 1, "outputs")) {
    return false;
  }
  if (arguments != segments[number].inputs || outputs != segments[number].outputs) {
    return reader_.damaged("segment %u has %u inputs and %u outputs, %u and %u found", number, segments[number].inputs,
                           segments[number].outputs, arguments, outputs);
  }
  return read_operands(arguments + inputs) && read_results(outputs);
}

bool Program::CodeChecker::check_drop() {
  uint32_t count = 0;
  if (!reader_.entries(&count, 1, "registers")) return false;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t number = 0;
    if (!read_register(&number)) return false;
    set(number, false);
  }
  return true;
}

bool Program::CodeChecker::check_if(uint32_t depth) {
  uint32_t count = 0, lengths[2] = {0, 0};
  if (!read_operand() || !reader_.entries(&count, 3, "outputs")) return false;
  if (!reader_.word(&lengths[0], "a block's length") || !reader_.word(&lengths[1], "a block's length")) return false;
  method_->most_outputs = std::max(method_->most_outputs, count);
  const size_t registers = reader_.at(), begin = changes_.size();
  std::vector<uint32_t> dropped;
  size_t code = registers + size_t{3} * count;
  for (uint32_t branch = 0; branch < 2; ++branch) {
    reader_.skip_to(code);
    if (!check_block(lengths[branch], depth + 1)) return false;
    code = reader_.at();
    reader_.skip_to(registers + (branch + size_t{1}) * count);
    for (uint32_t i = 0; i < count; ++i) {
      if (!read_operand()) return false;
    }
    leave(begin, &dropped);
  }
  for (const uint32_t number : dropped) set(number, false);
  reader_.skip_to(registers);
  if (!read_results(count)) return false;
  reader_.skip_to(code);
  return true;
}

bool Program::CodeChecker::check_loop(uint32_t depth) {
  uint32_t count = 0, length = 0;
  if (!read_operand() || !read_operand()) return false;
  if (!reader_.entries(&count, 4, "carried values") || !reader_.word(&length, "a block's length")) return false;
  if (!read_operands(count)) return false;
  const size_t results = reader_.at(), begin = changes_.size();
  reader_.skip_to(results + count);
  if (!read_results(count + 1)) return false;
  const size_t given = reader_.at();
  reader_.skip_to(given + 1 + count);
  if (!check_block(length, depth + 1)) return false;
  const size_t end = reader_.at();
  reader_.skip_to(given);
  for (uint32_t i = 0; i < count + 1; ++i) {
    if (!read_operand()) return false;
  }
  std::vector<uint32_t> dropped;
  leave(begin, &dropped);
  if (!dropped.empty()) return reader_.damaged("a loop's body drops register %u, which is from outside", dropped[0]);
  reader_.skip_to(results);
  if (!read_results(count)) return false;
  reader_.skip_to(end);
  return true;
}

}  // namespace nnapi_shim::program
