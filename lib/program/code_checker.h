// SPDX-License-Identifier: BSD-3-Clause
// Checks the code of methods: all numbers, the lengths of blocks, and that registers are written before they are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/program/program.h"
#include "lib/program/word_reader.h"

namespace nnapi_shim::program {

class Program::CodeChecker {
 public:
  // Everything of the program but its methods has been read.
  CodeChecker(const Program& program, WordReader& reader) : program_(program), reader_(reader) {}

  // Reads the code, which begins at the reader's word, and sets the most inputs and outputs of an instruction.
  bool check(Method* method, bool may_call_segments);

 private:
  struct Change {
    uint32_t number;
    bool was;
  };

  void set(uint32_t number, bool is_defined);
  void undo(size_t begin);
  // Ends a block that began with the change `begin`: the registers that it wrote become undefined, and those that it
  // dropped are added to `dropped`.
  void leave(size_t begin, std::vector<uint32_t>* dropped);
  bool check_operand(uint32_t value);
  bool read_operand();
  bool read_operands(uint32_t count);
  bool read_register(uint32_t* number);
  bool read_results(uint32_t count);
  bool check_block(size_t words, uint32_t depth);
  bool check_instruction(uint32_t depth);
  bool check_operator();
  bool check_segment();
  bool check_raw_segment();
  bool check_drop();
  bool check_if(uint32_t depth);
  bool check_loop(uint32_t depth);

  const Program& program_;
  WordReader& reader_;
  Method* method_ = nullptr;
  bool may_call_segments_ = true;
  std::vector<uint8_t> defined_;  // by register: 1 or 0
  std::vector<Change> changes_;   // of `defined_`, in their order
};

}  // namespace nnapi_shim::program
