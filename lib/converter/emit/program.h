// Makes the program of a module: what TorchScript runs of it, for runtimes without PyTorch
// (lib/format/program_format.h).
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <optional>
#include <string>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/serialize/program_writer.h"

namespace nnapi_convert {

// A method besides forward that no program can say, and the first reason.
struct LeftOutMethod {
  std::string name;
  Refusal reason;
};

struct ProgramResult {
  std::optional<Program> program;
  std::vector<Refusal> refusals;  // what no program can say of forward, if there is none
  std::vector<LeftOutMethod> left_out;
  std::vector<Refusal> raised;  // the same in branches, in whose place the program has an error
};

// The methods' graphs are inlined. Attributes that they read are the program's state. An attribute `comp` that is a
// compilation of the shim, of the module or of one of its attributes, is a segment; segments have numbers in the order
// of attributes, as in the archive's index.
ProgramResult make_program(const torch::jit::Module& module, const std::vector<std::string>& methods);

}  // namespace nnapi_convert
