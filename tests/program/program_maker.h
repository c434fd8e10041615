// SPDX-License-Identifier: BSD-3-Clause
// Writes programs in their binary form, for tests of what reads and runs them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lib/format/program_format.h"

namespace nnapi_shim::program_testing {

namespace format = nnapi_convert::program_format;

using Code = std::vector<uint32_t>;

// Appends instructions to each other.
Code operator+(Code first, const Code& second);

struct MadeArgument {
  std::string name, type = "Tensor";
  uint32_t default_constant = 0;  // plus 1
};

struct MadeMethod {
  std::string name = "forward";
  uint32_t registers = 0;
  std::vector<MadeArgument> arguments;
  std::string result_type = "Tensor";
  uint32_t result = 0;
  Code code;
};

class ProgramMaker {
 public:
  ProgramMaker();

  uint32_t string(const std::string& text);
  // Operands of constants.
  uint32_t none() { return add({0}); }
  uint32_t boolean(bool value) { return add({1, value ? 1u : 0u}); }
  uint32_t integer(int64_t value) { return add_wide(2, static_cast<uint64_t>(value)); }
  uint32_t real(double value);
  uint32_t text(const std::string& value) { return add({4, string(value)}); }
  uint32_t device() { return add({10}); }
  uint32_t tensor(format::ScalarType dtype, const std::vector<int64_t>& sizes, const void* data, size_t bytes);
  uint32_t floats(const std::vector<int64_t>& sizes, const std::vector<float>& values) {
    return tensor(format::ScalarType::kFloat32, sizes, values.data(), values.size() * sizeof(float));
  }
  // Of operands.
  uint32_t list(const std::vector<uint32_t>& elements) { return add_sequence(6, elements, 1); }
  uint32_t tuple(const std::vector<uint32_t>& elements) { return add_sequence(7, elements, 1); }
  uint32_t dict(const std::vector<uint32_t>& pairs) { return add_sequence(8, pairs, 2); }
  uint32_t object(const std::vector<uint32_t>& fields) { return add_sequence(9, fields, 1); }
  uint32_t add(const Code& words);
  uint32_t constant_count() const { return static_cast<uint32_t>(constants_.size()); }

  // Instructions. `place` is in the source, or "".
  Code op(const std::string& name, const Code& inputs, const Code& outputs, const std::string& place = "");
  Code if_(uint32_t condition, const Code& outputs, const Code& true_block, const Code& true_values,
           const Code& false_block, const Code& false_values);
  // `body_registers`: the round's number, then one for each carried value.
  Code loop(uint32_t most, uint32_t condition, const Code& starts, const Code& results, const Code& body_registers,
            uint32_t body_condition, const Code& body_values, const Code& body);
  Code segment(uint32_t number, const Code& inputs, const Code& outputs);
  Code make(format::Opcode opcode, const Code& operands, uint32_t result);  // kList, kTuple, kDict
  Code make_object(uint32_t fields, uint32_t result) { return {7, fields, result}; }
  Code get_field(uint32_t object, uint32_t field, uint32_t result) { return {8, object, field, result}; }
  Code set_field(uint32_t object, uint32_t field, uint32_t value) { return {9, object, field, value}; }
  Code get_state(uint32_t result) { return {10, result}; }
  Code unpack(uint32_t value, const Code& results);
  Code raise(uint32_t message, const std::string& place = "") { return {12 | place_of(place), message}; }
  Code drop(const Code& registers);

  void add_method(MadeMethod method) { methods_.push_back(std::move(method)); }
  // `fallback_plus_1`: the method that computes the same, plus 1.
  void add_segment(uint32_t inputs, uint32_t outputs, uint32_t fallback_plus_1 = 0) {
    segments_.push_back({inputs, outputs, fallback_plus_1});
  }
  void set_state(uint32_t constant) { state_ = constant; }  // an operand

  // The record. Its words, and where sections begin, are kept for tests that damage them.
  std::vector<uint8_t> make_record();
  static void set_checksum(std::vector<uint8_t>* record);

 private:
  uint32_t add_wide(uint32_t kind, uint64_t value);
  uint32_t add_sequence(uint32_t kind, const std::vector<uint32_t>& operands, uint32_t each);
  uint32_t place_of(const std::string& place) { return place.empty() ? 0 : (string(place) + 1) << 8; }

  std::vector<std::string> strings_;
  std::map<std::string, uint32_t> string_numbers_;
  Code operators_;
  std::map<std::string, uint32_t> operator_numbers_;
  std::vector<Code> constants_;
  uint32_t state_ = 0;
  struct Segment {
    uint32_t inputs, outputs, fallback_plus_1;
  };
  std::vector<Segment> segments_;
  std::vector<MadeMethod> methods_;
  std::vector<uint8_t> data_;
};

}  // namespace nnapi_shim::program_testing
