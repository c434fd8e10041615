// SPDX-License-Identifier: BSD-3-Clause
// The options and the results of inference.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/graph/open_sizes.h"
#include "lib/ops/lineage.h"
#include "lib/ops/op_context.h"
#include "lib/types/options.h"

namespace nnapi_convert {

struct InferredTypes {
  TypeMap types;
  std::vector<Refusal> refusals;  // nodes without a type: they have no rule, or the rule refuses them
  RuntimeSizeList runtime_sizes;  // sizes that depend on values; `types` refers to them if keeps_numbers
  std::vector<Refusal> failures;  // operators that always run and that raise an error in PyTorch, too
};

struct InferOptions {
  ControlFlow control_flow = ControlFlow::kRefuse;
  bool keeps_numbers = false;                  // numbers stay numbers, so that TorchScript can still run the graph
  bool removes_changes = false;                // in place ones: in a whole graph all readers of a tensor are known
  Composites kept = {};                        // composites that stay the operators that they are
  std::set<std::string> disabled_passes = {};  // rewrites to leave out (lib/converter/frontend/passes.h)
  std::function<void(const std::string& pass, const std::string& text)> on_pass = {};  // see infer()
  bool takes_any_rows = true;  // rows of features may stay open, where no file states sizes (solve_sizes.h)
};

}  // namespace nnapi_convert
