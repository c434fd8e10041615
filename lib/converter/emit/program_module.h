// SPDX-License-Identifier: BSD-3-Clause
// Reads from a module what its program takes: types as text, segments and state.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lib/serialize/program_writer.h"

namespace nnapi_convert {

// The attribute of a segment that is its compilation for the shim.
constexpr const char* kCompilationAttribute = "comp";

// Returns the type as programs write it. Throws std::invalid_argument for one that they lack.
std::string program_type(const c10::TypePtr& type);

// Returns the module and the modules in it that are segments, in the order of attributes, as they are stored.
std::vector<torch::jit::Module> segments_of(const torch::jit::Module& module);

// Lists the segments in a module, and the attributes that are its state, in the order in which they are used.
class ModuleParts {
 public:
  explicit ModuleParts(const torch::jit::Module& module) : segments_(segments_of(module)) {}

  size_t segment_count() const { return segments_.size(); }
  // Returns the segment's number; nothing if the module is no segment.
  std::optional<uint32_t> segment(const torch::jit::Module& module) const;
  // Returns the number of the state's field that is `holder`'s attribute of that name.
  uint32_t field(const torch::jit::Module& holder, const std::string& name);
  // Writes the state, and returns its number. Throws std::invalid_argument for an attribute that programs can't hold,
  // and for one that shares elements with another, of which `is_changed` says that a method changes it.
  uint32_t write_state(ProgramWriter& writer, const std::function<bool(const std::string&)>& is_changed) const;

 private:
  struct Field {
    torch::jit::Module holder;
    std::string name;
  };
  std::vector<torch::jit::Module> segments_;
  std::vector<Field> fields_;
};

}  // namespace nnapi_convert
