// SPDX-License-Identifier: BSD-3-Clause
// The data that the passes on a graph may read and change while its types are inferred (passes.h has their list).
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include "lib/converter/frontend/inferred_types.h"
#include "lib/converter/frontend/loop_trial.h"
#include "lib/converter/frontend/written_values.h"
#include "lib/converter/graph/normalised_model.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

// The data that a pass on nodes may read and change.
struct Rewriting {
  NormalisedModel& model;
  const InferOptions& options;
  const TypeMap& types;             // of the nodes before the one that is visited, and of kTyped nodes themselves
  const InferTypes& infer_copy;     // infers the types of a copy of a loop's body
  const bool tries_loops = true;    // finds how often a loop runs by tries of its rounds
  const bool unrolls_loops = true;  // else loops of known rounds stay, as unrolled ones take too long
  WrittenValues written = WrittenValues(model.graph);
  bool left_written = false;  // a node of known results stays, as the graph changes one of them in place
  bool is_too_large = false;  // to have its loops of known rounds written out; choosing a branch makes it smaller
  bool begins_again = false;  // a pass changed nodes that were visited: the sweep ends
};

enum class Rewritten {
  kNothing,
  kAround,    // the node stays, and what other nodes read, or its own inputs, changed
  kReplaced,  // the node is gone; new nodes, if any, stand between the nodes before and after it
};

// The data that a pass on the graph may read and change once all nodes are typed.
struct TypedGraph {
  NormalisedModel& model;
  InferredTypes& inferred;
  const InferOptions& options;
  const bool left_written;  // see Rewriting
  const bool is_copy;       // of a graph or of a loop's body: the copy is thrown away

  bool is_whole() const { return !options.keeps_numbers; }
  bool is_refused() const { return !inferred.refusals.empty(); }
};

}  // namespace nnapi_convert
