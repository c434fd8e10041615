// SPDX-License-Identifier: BSD-3-Clause
// Writes the binary form of a program (lib/format/program_format.h, schemas/nnapi_program.md).
#pragma once

#include <ATen/core/ivalue.h>

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lib/format/program_format.h"
#include "lib/nnapi/constant.h"

namespace nnapi_convert {

using ProgramWords = std::vector<uint32_t>;

// A program as a record of an archive.
struct Program {
  ProgramWords words;
  std::vector<at::Tensor> tensors;  // the data: row-major, each at a multiple of kDataAlignment behind the words
  uint64_t bytes = 0;               // the record's size

  // Hands over the record's bytes.
  void write(const nnapi::ByteSink& sink) const;
};

struct ProgramArgument {
  std::string name, type;
  uint32_t default_plus_1 = 0;  // the number of the constant that is the default, plus 1
};

struct ProgramMethod {
  std::string name;
  std::vector<ProgramArgument> arguments;  // they are in the first registers
  std::string result_type;
  uint32_t registers = 0, result = 0;  // `result` is an operand
  ProgramWords code;
};

struct ProgramSegment {
  uint32_t inputs = 0, outputs = 0;
  // Number plus 1 of the method that computes the segment on the CPU; it is behind the named methods. 0: none.
  uint32_t fallback_plus_1 = 0;
};

// Returns true for dtypes that tensors in programs can have.
bool has_program_dtype(at::ScalarType dtype);

class ProgramWriter {
 public:
  // Without places an instruction doesn't tell the model's line that it comes from.
  explicit ProgramWriter(bool keeps_places = true) : keeps_places_(keeps_places) {}

  // Returns the word by which instructions refer to a place such as "model.py:12"; 0 for none.
  uint32_t place(const std::string& text) { return text.empty() || !keeps_places_ ? 0 : string(text) + 1; }
  // Returns the entry's number; an equal text or number has one entry.
  uint32_t string(const std::string& text);
  uint32_t op(const std::string& name);
  uint32_t constant(bool value);
  uint32_t constant(int64_t value);
  uint32_t constant(double value);
  uint32_t none();
  // Returns the constant's number. Throws std::invalid_argument, with what was found, for a value that programs can't
  // hold: tensors of other dtypes or of more axes, objects of custom classes.
  uint32_t constant(const c10::IValue& value);
  // Returns the number of an object with these constants as its fields.
  uint32_t object(const std::vector<uint32_t>& fields);

  // Returns the method's number.
  uint32_t add(ProgramMethod method) {
    methods_.push_back(std::move(method));
    return static_cast<uint32_t>(methods_.size() - 1);
  }
  void add(ProgramSegment segment) { segments_.push_back(segment); }

  // Returns the program. `state` is the constant that is the initial state. The writer can't be used afterwards.
  Program finish(uint32_t state);

 private:
  uint32_t add_constant(const ProgramWords& words);
  uint32_t tensor(const at::Tensor& tensor);
  uint32_t sequence(program_format::ConstantKind kind, const std::vector<uint32_t>& elements, size_t count);

  std::map<std::string, uint32_t> strings_, ops_;
  std::vector<std::string> string_order_;
  std::vector<uint32_t> op_names_;
  std::map<ProgramWords, uint32_t> constants_;
  std::vector<const ProgramWords*> constant_order_;
  std::unordered_map<const void*, uint32_t> tensor_numbers_;  // by tensor
  std::vector<at::Tensor> tensors_;
  uint64_t data_bytes_ = 0;
  std::vector<ProgramMethod> methods_;
  std::vector<ProgramSegment> segments_;
  bool keeps_places_;
};

}  // namespace nnapi_convert
