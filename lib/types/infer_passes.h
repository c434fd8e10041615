// SPDX-License-Identifier: BSD-3-Clause
// The names of the passes of the stage infer, in their order (lib/converter/frontend/passes.cpp).
#pragma once

namespace nnapi_convert {

constexpr const char* kInferPasses[] = {"unroll_known_loops",
                                        "choose_branches",
                                        "pad_nested",
                                        "join_masked_parts",
                                        "numbers_to_tensors",
                                        "drop_casts",
                                        "expand_operators",
                                        "take_apart_tuples",
                                        "evaluate_constants",
                                        "numbers_into_loops",
                                        "numbers_out_of_blocks",
                                        "replace_empty",
                                        "replace_sizes",
                                        "drop_pairs",
                                        "evaluate_writes",
                                        "remove_changes",
                                        "drop_list_changes",
                                        "simplify_containers"};

}  // namespace nnapi_convert
