// SPDX-License-Identifier: BSD-3-Clause
// Writes the graph of a method as a program's code (lib/format/program_format.h).
#pragma once

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include <string>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/emit/program_module.h"
#include "lib/serialize/program_writer.h"
#include "lib/types/tensor_type.h"

namespace nnapi_convert {

// A segment as methods call it.
struct SegmentCall {
  ProgramSegment counts;
  bool is_raw = false;  // with inputs and outputs in NNAPI's own form
};

// The program that a method is written into, and what the writer finds of the method.
struct ProgramPlace {
  ProgramWriter& writer;
  ModuleParts& parts;
  std::vector<SegmentCall>& segments;
  std::vector<Refusal>& refusals;  // what no program can say: then the method can't be used
  std::vector<Refusal>& raised;    // what no program can say in a branch: the program has an error in its place
};

// Writes a method of a module. `outputs` are those of NNAPI in a model that it runs whole, else none.
ProgramMethod write_method(const ProgramPlace& place, const torch::jit::Method& method,
                           const std::vector<Quantization>& outputs);
// Writes a graph whose arguments are tensors, without an object.
ProgramMethod write_function(const ProgramPlace& place, torch::jit::Graph& graph, const std::string& name);

}  // namespace nnapi_convert
