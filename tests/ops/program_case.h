// SPDX-License-Identifier: BSD-3-Clause
// Runs a case's model as a program of the shim, with no part of it on NNAPI, and compares with TorchScript.
#pragma once

#include <string>
#include <vector>

#include "tests/ops/op_case.h"

namespace nnapi_convert {

struct ProgramOutcome {
  std::string missing;                // operators that programs lack; empty: it ran
  std::vector<std::string> problems;  // what differs
};

ProgramOutcome check_program(OpCase& op_case);

}  // namespace nnapi_convert
