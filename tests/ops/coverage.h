// SPDX-License-Identifier: BSD-3-Clause
// Records which rules the cases reach.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <map>
#include <string>
#include <vector>

#include "tests/ops/op_case.h"

namespace nnapi_convert {

class RuleCoverage {
 public:
  void add(const OpCase& op_case);
  // Returns the rules without a case, and the rules that claim a lower feature level than all of their cases have.
  std::vector<std::string> problems() const;

 private:
  void add_nodes(const torch::jit::Graph& graph, int level);

  std::map<std::string, int> lowest_level_;  // by schema
};

}  // namespace nnapi_convert
