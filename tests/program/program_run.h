// SPDX-License-Identifier: BSD-3-Clause
// Opens and runs made programs in tests.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lib/program/interpreter.h"
#include "tests/program/program_maker.h"

namespace nnapi_shim::program_testing {

// For people: "3", "2.5", "[1, 2]", "None"; the elements of a tensor as "<1 2>".
std::string text_of(const program::Value& value);

// Adds 1 to each float of each input.
class AddingSegments final : public program::SegmentRunner {
 public:
  bool run_segment(uint32_t segment, program::Context& context, const program::Value* const* inputs,
                   program::Value* outputs) override;
  bool run_raw_segment(uint32_t segment, program::Context& context, const program::Value* const* arguments_and_inputs,
                       uint32_t arguments, uint32_t inputs, program::Value* outputs) override;
  std::vector<uint32_t> ran;
};

// A program and one context for its calls.
class OpenProgram {
 public:
  explicit OpenProgram(ProgramMaker& maker) : OpenProgram(maker.make_record()) {}
  explicit OpenProgram(std::vector<uint8_t> record);
  OpenProgram(const OpenProgram&) = delete;
  OpenProgram& operator=(const OpenProgram&) = delete;
  ~OpenProgram();

  bool is_good() const { return program_ != nullptr; }
  const program::Program& program() const { return *program_; }
  const std::string& error() const { return error_; }  // of opening, or of the newest run
  // Runs a method. Returns false if it failed.
  bool run(const std::string& method, std::vector<program::Value> arguments, program::Value* result);
  // The result of forward as text: "3", "2.5", "[1, 2]", "error".
  std::string text(std::vector<program::Value> arguments = {}, const std::string& method = "forward");
  program::Value floats(const std::vector<int64_t>& sizes, const std::vector<float>& values);

  program::Context context;
  AddingSegments segments;

 private:
  std::vector<uint8_t> record_;
  std::unique_ptr<const program::Program> program_;
  program::Value state_;
  std::string error_;
};

}  // namespace nnapi_shim::program_testing
