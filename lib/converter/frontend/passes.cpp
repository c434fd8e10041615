// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/passes.h"

#include "lib/converter/frontend/rewrites.h"

namespace nnapi_convert {

const std::vector<NodePass>& node_passes() {
  static const std::vector<NodePass> passes = {
      {"unroll_known_loops", NodeState::kUntyped, false, unroll_known_loops},
      {"choose_branches", NodeState::kUntyped, false, choose_branch},
      {"pad_nested", NodeState::kUntyped, false, pad_nested},
      {"join_masked_parts", NodeState::kUntyped, false, join_masked_parts},
      {"numbers_to_tensors", NodeState::kUntyped, true, replace_by_tensors},
      {"drop_casts", NodeState::kUntyped, false, drop_cast},
      {"expand_operators", NodeState::kUntyped, false, expand_operator},
      {"take_apart_tuples", NodeState::kUntyped, false, take_apart_tuple},
      {"evaluate_constants", NodeState::kUntyped, false, evaluate_constant},
      {"numbers_into_loops", NodeState::kUntyped, true, carry_tensors},
      {"numbers_out_of_blocks", NodeState::kBlocksTyped, true, give_tensors},
      {"replace_empty", NodeState::kRefused, true, replace_empty},
      {"replace_sizes", NodeState::kTyped, false, replace_sizes},
  };
  return passes;
}

const std::vector<GraphPass>& graph_passes() {
  static const std::vector<GraphPass> passes = {
      {"drop_pairs", false, drop_pairs},
      {"evaluate_writes", true, evaluate_writes},
      {"remove_changes", true, remove_changes},
      {"drop_list_changes", true, drop_list_changes},
      {"simplify_containers", true, simplify_typed_containers},
  };
  return passes;
}

}  // namespace nnapi_convert
