// SPDX-License-Identifier: BSD-3-Clause
// A program that was read from its binary form (lib/format/program_format.h) and checked: the interpreter need not
// check whether numbers are in range, or whether a register was written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/program/operators.h"
#include "lib/program/type_text.h"

namespace nnapi_shim::program {

struct Argument {
  const char* name;
  Type type;
  bool has_default;
  Value default_value;
};

struct Method {
  const char* name;
  uint32_t registers;
  std::vector<Argument> arguments;
  Type result_type;
  uint32_t result;  // an operand
  uint32_t code_begin, code_words;
  uint32_t most_inputs, most_outputs;  // the most of any instruction
};

struct SegmentCounts {
  uint32_t inputs, outputs;
  uint32_t fallback_plus_1;  // the method that computes the segment on the CPU, plus 1; 0: none
};

// A program doesn't change, so that several threads may run it.
class Program {
 public:
  // Returns null, and one sentence in `error`, for a damaged record and for one that calls operators that are not in
  // the list. `data` has to outlive the program, whose tensors are in it.
  static std::unique_ptr<const Program> parse(const uint8_t* data, size_t bytes, char* error, size_t error_bytes);

  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() = default;

  const std::vector<Method>& methods() const { return methods_; }
  const Method* find_method(const char* name) const;  // or null
  // Returns the number of methods that are called by name; they come first.
  uint32_t named_methods() const { return named_methods_; }
  const std::vector<SegmentCounts>& segments() const { return segments_; }
  const uint32_t* words() const { return words_.data(); }
  const char* string(uint32_t number) const { return text_.data() + strings_[number]; }
  uint32_t operator_count() const { return static_cast<uint32_t>(operators_.size()); }
  const Operator& operator_at(uint32_t number) const { return operators_[number]; }
  const char* operator_name(uint32_t number) const { return string(operator_names_[number]); }
  const Value& constant(uint32_t number) const { return constants_[number]; }
  // Returns whether calls leave a state for later calls.
  bool has_state() const { return constants_[state_].sequence().count > 0; }
  // Makes the initial state, in memory of its own. Returns false if memory is short.
  bool make_state(Context& context, Value* state) const;

 private:
  class Reader;
  class CodeChecker;
  Program() = default;

  Pool pool_;  // of the constants; has to outlive them
  std::vector<uint32_t> words_;
  std::vector<char> text_;         // each string ends with a zero
  std::vector<uint32_t> strings_;  // where each begins
  std::vector<uint32_t> operator_names_;
  std::vector<Operator> operators_;
  std::vector<Value> constants_;
  uint32_t state_ = 0;
  std::vector<SegmentCounts> segments_;
  std::vector<Method> methods_;
  uint32_t named_methods_ = 0;
};

}  // namespace nnapi_shim::program
