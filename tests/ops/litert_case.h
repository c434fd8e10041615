// SPDX-License-Identifier: BSD-3-Clause
// Writes a case for LiteRT: its file, inputs, and what the host's NNAPI computes of them. A script runs LiteRT and
// compares (tests/tools/litert_ops.py).
#pragma once

#include <filesystem>
#include <string>

#include "tests/ops/op_case.h"

namespace nnapi_convert {

// Writes FOLDER/STEM.tflite and, for each of two samples, inputs and results in the file's own types and layouts.
// Returns one line of JSON that names them, or the reason why LiteRT can't run the case.
std::string write_litert_case(OpCase& op_case, const std::filesystem::path& folder, const std::string& stem);

}  // namespace nnapi_convert
