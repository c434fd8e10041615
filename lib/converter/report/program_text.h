// SPDX-License-Identifier: BSD-3-Clause
// Reads the program of a file (lib/format/program_format.h), which the shim runs without PyTorch, and shows it as text.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "lib/program/program.h"
#include "lib/shim/archive.h"

namespace nnapi_convert {

struct FileProgram {
  nnapi_shim::Archive archive;  // holds the program's tensors
  std::unique_ptr<const nnapi_shim::program::Program> program;
};

// Reads the program of a file; nothing for a file without one. Throws ConvertError (kBadFile) for a damaged program.
std::optional<FileProgram> read_program(const std::string& path);

// Returns a line for each instruction: what it writes, what it does, and its place in the model's source. Registers are
// r0, r1; blocks stand indented.
//
//   forward(x: Tensor) -> Tensor
//     r1 = segment 0(r0)
//     r2 = aten::softmax.int(r1, 1, None)  # model.py:12
std::string to_text(const nnapi_shim::program::Program& program);

}  // namespace nnapi_convert
