// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/infer.h"

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/watched_run.h"
#include "lib/converter/frontend/node_typing.h"
#include "lib/converter/frontend/passes.h"
#include "lib/converter/frontend/state_types.h"
#include "lib/converter/graph/control_flow.h"

namespace nnapi_convert {
namespace {

using torch::jit::Block;
using torch::jit::Node;

// Visits the nodes of a graph in program order, types each, and tries the passes on nodes at each.
class Sweep {
 public:
  // `passes` may be empty: then the graph stays as it is.
  Sweep(NodeTyping& typing, Rewriting& rewriting, const std::vector<NodePass>& passes)
      : typing_(typing), rewriting_(rewriting), passes_(passes) {}

  // Visits all nodes. False if a pass changed nodes that were visited: the caller begins a new sweep.
  bool run() { return visit(*rewriting_.model.graph->block()); }

  int64_t visited() const { return visited_; }  // nodes, those that were visited again as well

  // Returns the names of the passes that changed the graph.
  const std::set<std::string_view>& changing_passes() const { return changing_; }

 private:
  bool visit(Block& block);
  void type(Node* node);
  bool type_with_blocks(Node* node);
  bool rewrite(Node* node, NodeState state);
  bool has_typed_blocks(const Node& node) const;

  NodeTyping& typing_;
  Rewriting& rewriting_;
  const std::vector<NodePass>& passes_;
  std::set<std::string_view> changing_;
  int64_t visited_ = 0;
};

bool Sweep::visit(Block& block) {
  for (auto it = block.nodes().begin(); it != block.nodes().end();) {
    tell_sign_of_life();
    ++visited_;
    Node* node = *it;
    Node* previous = node->prev();
    // Rewriting ends: each time there is one prim::If or tuple less, or one number less outside of tensors, or there
    // are new nodes of a longer lineage (lineage.h) or constants.
    if (rewrite(node, NodeState::kUntyped)) {
      if (rewriting_.begins_again) return false;
      it = std::next(previous->iterator());
      continue;
    }
    ++it;
    if (!has_typed_blocks(*node)) {
      type(node);
    } else if (!type_with_blocks(node)) {
      return false;
    }
  }
  return true;
}

bool Sweep::has_typed_blocks(const Node& node) const {
  const InferOptions& options = rewriting_.options;
  return is_control_flow(node) && (options.control_flow == ControlFlow::kNnapi || options.keeps_numbers);
}

void Sweep::type(Node* node) {
  if (!typing_.type(*node)) {
    if (rewrite(node, NodeState::kRefused)) return;
    typing_.refuse(*node);
  }
  rewrite(node, NodeState::kTyped);
}

bool Sweep::type_with_blocks(Node* node) {
  if (!typing_.enter(*node, rewriting_.infer_copy)) return true;
  for (Block* block : node->blocks()) {
    if (!visit(*block)) return false;
  }
  rewrite(node, NodeState::kBlocksTyped);
  typing_.leave(*node);
  return true;
}

// Tries the passes at the node until one replaces it.
bool Sweep::rewrite(Node* node, NodeState state) {
  for (const NodePass& pass : passes_) {
    if (pass.state != state) continue;
    const Rewritten rewritten = pass.run(node, rewriting_);
    if (rewritten != Rewritten::kNothing) changing_.insert(pass.name);
    if (rewritten == Rewritten::kReplaced) return true;
  }
  return false;
}

// Rewrites a graph, and types it, until nothing more is known.
class FixPoint {
 public:
  FixPoint(NormalisedModel& model, const TypeMap& input_types, const InferOptions& options, const StateTypes& state,
           bool is_copy);

  InferredTypes run();

 private:
  bool rewrite(TypedGraph& graph, bool may_change_types) const;
  void report(const std::set<std::string_view>& changing_passes, const TypeMap& types) const;

  NormalisedModel& model_;
  const TypeMap& input_types_;
  const InferOptions& options_;
  const StateTypes& state_;
  const bool is_copy_;
  InferTypes infer_copy_;
  std::vector<NodePass> node_passes_;
};

InferredTypes infer_copy(NormalisedModel& copy, const TypeMap& input_types, InferOptions options,
                         const StateTypes& state) {
  options.on_pass = {};
  return FixPoint(copy, input_types, options, state, true).run();
}

FixPoint::FixPoint(NormalisedModel& model, const TypeMap& input_types, const InferOptions& options,
                   const StateTypes& state, bool is_copy)
    : model_(model), input_types_(input_types), options_(options), state_(state), is_copy_(is_copy) {
  infer_copy_ = [this](NormalisedModel& body, const TypeMap& types) {
    return infer_copy(body, types, options_, {}).types;
  };
  for (const NodePass& pass : node_passes()) {
    if (options.disabled_passes.count(pass.name) != 0 || (pass.is_for_whole_graphs && options.keeps_numbers)) continue;
    node_passes_.push_back(pass);
  }
}

// Each round types all nodes in program order, with the passes on nodes, then runs the passes on the graph until one
// changes types. Rounds end: unrolled graphs have a greatest size (unroll_loops.h), and tries of loops and rounds that
// passes on the graph begin are limited.
InferredTypes FixPoint::run() {
  constexpr int kMostRounds = 200;    // rounds that passes on the graph begin
  constexpr int kMostUnrolled = 200;  // rounds in which loops are tried
  // Limits the visits of nodes in rounds that loops begin: each round unrolls one loop, so that a nested loop takes as
  // many as the outer ones have rounds. About 20 seconds.
  constexpr int64_t kMostVisited = 4'000'000;
  int rounds = 0, unrolled = 0;
  int64_t visited = 0;
  for (;;) {
    NodeTyping typing(model_, input_types_, options_, state_);
    Rewriting rewriting{
        model_, options_, typing.types(), infer_copy_, unrolled < kMostUnrolled, visited < kMostVisited};
    Sweep sweep(typing, rewriting, node_passes_);
    const bool is_done = sweep.run();
    report(sweep.changing_passes(), typing.types());
    if (!is_done) {
      ++unrolled;
      visited += sweep.visited();
      continue;
    }
    InferredTypes inferred = typing.result();
    TypedGraph graph{model_, inferred, options_, rewriting.left_written, is_copy_};
    if (rewrite(graph, rounds++ < kMostRounds)) continue;
    typing.require_shapes();
    return inferred;
  }
}

// Runs the passes on the graph until one changes types; true if one did.
bool FixPoint::rewrite(TypedGraph& graph, bool may_change_types) const {
  for (const GraphPass& pass : graph_passes()) {
    const bool is_left_out =
        options_.disabled_passes.count(pass.name) != 0 || (pass.changes_types && !may_change_types);
    if (is_left_out || !pass.run(graph)) continue;
    report({pass.name}, {});
    if (pass.changes_types) return true;
  }
  return false;
}

void FixPoint::report(const std::set<std::string_view>& changing_passes, const TypeMap& types) const {
  if (!options_.on_pass || changing_passes.empty()) return;
  const std::string text = to_text(model_, types);
  for (const std::string_view pass : changing_passes) options_.on_pass(std::string(pass), text);
}

// Types the attributes that forward changes.
StateTypes state_of(const NormalisedModel& model, const TypeMap& input_types, const InferOptions& options) {
  if (!options.keeps_numbers) return {};
  return state_types(model, input_types, [&](auto& copy, const auto& types, const auto& assumed) {
    return infer_copy(copy, types, options, assumed).types;
  });
}

}  // namespace

InferOptions infer_options(const FrontendOptions& options) {
  InferOptions result;
  result.control_flow = options.control_flow;
  result.disabled_passes = options.disabled_passes;
  result.on_pass = options.on_dump;
  result.takes_any_rows = options.takes_any_rows;
  return result;
}

InferredTypes types_of(const NormalisedModel& model, const TypeMap& input_types, const InferOptions& options) {
  const StateTypes state = state_of(model, input_types, options);
  NormalisedModel same = model;  // shares the graph with `model`
  const InferTypes infer_body = [&](NormalisedModel& body, const TypeMap& types) {
    return infer_copy(body, types, options, {}).types;
  };
  NodeTyping typing(same, input_types, options, state);
  Rewriting rewriting{same, options, typing.types(), infer_body};
  Sweep(typing, rewriting, {}).run();
  return typing.result();
}

InferredTypes infer(NormalisedModel& model, const TypeMap& input_types, const InferOptions& options) {
  const StateTypes state = state_of(model, input_types, options);
  return FixPoint(model, input_types, options, state, false).run();
}

InferredTypes infer(NormalisedModel& model, const std::vector<TensorType>& input_types, const InferOptions& options) {
  TypeMap types;
  for (size_t i = 0; i < input_types.size(); ++i) types[model.inputs[i]] = input_types[i];
  return infer(model, types, options);
}

}  // namespace nnapi_convert
