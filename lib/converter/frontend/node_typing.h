// SPDX-License-Identifier: BSD-3-Clause
// Types the nodes of a graph one by one, by the rules' shape functions.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <optional>
#include <unordered_set>
#include <vector>

#include "lib/base/error.h"
#include "lib/converter/frontend/inferred_types.h"
#include "lib/converter/frontend/loop_trial.h"
#include "lib/converter/frontend/runtime_sizes.h"
#include "lib/converter/frontend/state_types.h"
#include "lib/converter/graph/normalised_model.h"
#include "lib/ops/op_rule.h"

namespace nnapi_convert {

// The caller passes the nodes of the graph in program order. This class changes no node.
class NodeTyping {
 public:
  NodeTyping(const NormalisedModel& model, const TypeMap& input_types, const InferOptions& options,
             const StateTypes& state);

  const TypeMap& types() const { return result_.types; }

  // Types the results of a node whose blocks, if it has any, are not typed. False if the node has no rule or its rule
  // refuses it: then refuse() has to be called if the node stays.
  bool type(const TorchNode& node);
  // Reports the node that type() returned false for. Types its results by a trial run where possible.
  void refuse(const TorchNode& node);

  // Types the inputs of a node's blocks; `infer_copy` infers the types of a copy of a loop's body. False if the node is
  // refused: then its blocks have no types.
  bool enter(TorchNode& node, const InferTypes& infer_copy);
  // Types the results of a node that enter() returned true for, once its blocks are typed.
  void leave(const TorchNode& node);

  // Returns all types and refusals once all nodes are typed.
  InferredTypes result();
  // Throws the ConvertError (kNotConvertible) of the first node that may change the shape of a tensor in place.
  void require_shapes() const;

 private:
  template <typename Values>
  void set_types(const Values& values, const KnownTypes& types);
  template <typename Values>
  bool any_failed(const Values& values) const;
  void failed(const TorchNode& node);
  void refused(const TorchNode& node, const Refusal& refusal);

  bool type_operator(const TorchNode& node);
  bool type_open_sizes(const TorchNode& node);
  std::optional<Refusal> type_by_rule(const TorchNode& node, const OpRule& rule);
  void type_list(const TorchNode& node);
  void type_unpack(const TorchNode& node);
  void observe(const TorchNode& node, const std::optional<Refusal>& refusal);
  bool needs_failed(const TorchNode& node) const;
  void forget_changed_lists(const TorchNode& node);
  void refuse_pairs();
  void refuse_nested();
  void refuse_unset_outputs();

  const NormalisedModel& model_;
  const bool keeps_numbers_;
  const bool is_nnapis_control_flow_;
  const StateTypes& state_;
  RuntimeSizes runtime_sizes_;
  InferredTypes result_;
  std::unordered_set<const TorchValue*> failed_;
  std::optional<Refusal> rules_refusal_;  // of the node that type() returned false for last; none: it has no rule
  std::vector<size_t> refusals_before_;   // of the nodes that were entered and not left: refusals before their blocks
  std::optional<ConvertError> reshaping_;
};

}  // namespace nnapi_convert
