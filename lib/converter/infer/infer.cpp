#include "lib/converter/infer/infer.h"

#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/remove_mutation.h>

#include <algorithm>
#include <unordered_set>

#include "lib/base/error.h"
#include "lib/converter/formulas/formulas.h"
#include "lib/converter/graph/control_flow.h"
#include "lib/converter/graph/glue.h"
#include "lib/converter/graph/node_reads.h"
#include "lib/converter/infer/block_types.h"
#include "lib/converter/infer/closed_writes.h"
#include "lib/converter/infer/expand_composite.h"
#include "lib/converter/infer/known_rewrites.h"
#include "lib/converter/infer/loop_trial.h"
#include "lib/converter/infer/missing_rule.h"
#include "lib/converter/infer/runtime_sizes.h"
#include "lib/converter/infer/state_types.h"
#include "lib/converter/infer/trial_run.h"
#include "lib/converter/normalise/containers.h"
#include "lib/converter/normalise/unroll_loops.h"
#include "lib/ops/registry.h"
#include "lib/ops/tensor_limits.h"

namespace nnapi_convert {
namespace {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;

class Inference {
 public:
  Inference(NormalisedModel& model, const TypeMap& input_types, const InferOptions& options, const StateTypes& state)
      : model_(model), options_(options), state_(state), rewrites_(model) {
    result_.types = input_types;
    for (const Value* input : model.graph->inputs()) {
      if (input_types.count(input) == 0) failed_.insert(input);
    }
  }

  // Returns nothing if loops were unrolled: the caller begins inference again.
  c10::optional<InferredTypes> run() {
    if (!visit_nodes(*model_.graph->block())) return c10::nullopt;
    settle_pairs();
    if (!options_.keeps_numbers && result_.refusals.empty()) refuse_unset_outputs();
    result_.runtime_sizes = runtime_sizes_.sizes();
    return std::move(result_);
  }

  // Throws the ConvertError (kNotConvertible) of a node that run() left and that may change the shape of a tensor.
  void require_shapes() const {
    if (reshaping_) throw ConvertError(*reshaping_);
  }

  // True if run() left a node of known results because the graph changes one in place.
  bool left_written() const { return rewrites_.left_written(); }

 private:
  // False where loops were unrolled.
  bool visit_nodes(Block& block) {
    for (auto it = block.nodes().begin(); it != block.nodes().end();) {
      Node* node = *it;
      if (unroll(*node)) return false;
      Node* previous = node->prev();
      if (rewrite(node)) {
        it = std::next(previous->iterator());
        continue;
      }
      ++it;
      if (options_.control_flow == ControlFlow::kNnapi && is_control_flow(*node)) {
        if (!visit_control_flow(node)) return false;
      } else if (options_.keeps_numbers && is_control_flow(*node)) {
        if (!visit_blocks(node)) return false;
      } else {
        visit(node);
      }
    }
    return true;
  }

  // Unrolls loops if the number of rounds of this loop is now known. True if loops were unrolled.
  bool unroll(Node& node) {
    if (node.kind() != c10::prim::Loop || !torch::jit::toIValue(node.input(0))) return false;
    if (!is_counted(node)) {
      if (!options_.tries_loops) return false;
      const auto rounds = tried_rounds(node, result_.types, on_trial());
      if (!rounds) return false;
      count_rounds(node, *rounds);
    }
    return rewrites_.unroll();
  }

  // True if other nodes replaced this one; the caller visits them next. This ends: each time there is one prim::If
  // less, or one number less outside of tensors, or nodes of a longer lineage (KnownRewrites::expand).
  bool rewrite(Node* node) {
    return rewrites_.choose_branch(node) ||
           (!options_.keeps_numbers && rewrites_.replace_by_tensors(node, result_.types)) ||
           rewrites_.expand(node, result_.types);
  }

  // False where loops were unrolled.
  bool visit_control_flow(Node* node) {
    if (any_failed(node->inputs())) {
      failed(*node);
      return true;
    }
    if (const auto refusal = begin_control_flow(node, result_.types)) {
      refused(*node, *refusal);
      return true;
    }
    bool blocks_failed = false;
    for (Block* block : node->blocks()) {
      const size_t refusals = result_.refusals.size();
      if (!visit_nodes(*block)) return false;
      blocks_failed = blocks_failed || refusals != result_.refusals.size() || any_failed(block->outputs());
    }
    if (blocks_failed) {
      failed(*node);
    } else if (const auto refusal = end_control_flow(node, result_.types)) {
      refused(*node, *refusal);
    }
    return true;
  }

  InferTypes on_trial() const {
    return [trial = options_](NormalisedModel& body, const TypeMap& input_types) mutable {
      trial.is_trial = true;
      return infer(body, input_types, trial).types;
    };
  }

  // Types control flow that stays. A value that enters or leaves its blocks has a type only if all blocks and rounds
  // agree on it. False if loops were unrolled.
  bool visit_blocks(Node* node) {
    const bool is_loop = node->kind() == c10::prim::Loop;
    if (is_loop) set_types(node->blocks()[0]->inputs(), carried_types(*node, result_.types, on_trial()));
    for (Block* block : node->blocks()) {
      if (!visit_nodes(*block)) return false;
    }
    if (is_loop) {
      set_types(node->outputs(), carried_by(*node, result_.types));
    } else {
      set_types(node->outputs(), branch_types(*node, result_.types));
    }
    return true;
  }

  template <typename Values>
  void set_types(const Values& values, const std::vector<std::optional<TensorType>>& types) {
    for (size_t i = 0; i < types.size(); ++i) {
      if (types[i]) {
        result_.types[values[i]] = *types[i];
      } else {
        failed_.insert(values[i]);
      }
    }
  }

  template <typename Values>
  bool any_failed(const Values& values) const {
    return std::any_of(values.begin(), values.end(), [&](const Value* value) { return failed_.count(value) != 0; });
  }

  void refused(const Node& node, const Refusal& refusal) {
    result_.refusals.push_back(refusal);
    failed(node);
  }

  void visit(Node* node) {
    if (node->kind() == c10::prim::Uninitialized) return failed(*node);  // a value that an error leaves unset
    if (is_structural(*node) || rewrites_.take_apart(node)) return;
    if (const auto types = types_of_state(*node, state_)) return set_types(node->outputs(), *types);
    if (!is_filled_later(*node) && rewrites_.evaluate(node, result_.types)) return;
    if (node->kind() == c10::prim::ListConstruct) return visit_list(*node);
    if (node->kind() == c10::prim::ListUnpack) return visit_unpack(*node);
    if (!visit_operator(node)) return;
    if (options_.keeps_numbers) forget_changed_lists(*node);
    rewrites_.replace_fixed_sizes(node, result_.types);
  }

  // True for a list of tensors that the graph changes: its elements are known when its changes are removed.
  bool is_filled_later(const Node& node) const {
    if (options_.keeps_numbers || node.kind() != c10::prim::ListConstruct) return false;
    const bool has_tensors = node.output()->type()->isSubtypeOf(*c10::ListType::ofTensors());
    return has_tensors && may_be_changed(*node.output());
  }

  // Forgets the types of result lists that are changed later: their first elements don't tell the later ones.
  void forget_changed_lists(const Node& node) {
    for (const Value* output : node.outputs()) {
      if (output->type()->kind() != c10::TypeKind::ListType || !may_be_changed(*output)) continue;
      result_.types.erase(output);
      failed_.insert(output);
    }
  }

  // Types a node with open sizes in a graph that TorchScript runs. Rules must not take open sizes to be equal.
  bool visit_open_sizes(const Node& node) {
    if (!options_.keeps_numbers || (!has_open_sizes(node, result_.types) && !any_failed(node.inputs()))) return false;
    const auto types = reads_changed_list(node) ? std::nullopt : runtime_sizes_.types_of(node, result_.types);
    if (!types) {
      failed(node);
    } else {
      for (size_t i = 0; i < types->size(); ++i) result_.types[node.output(i)] = (*types)[i];
    }
    return true;
  }

  // True if the node reads a list that is changed after it is made: its ListConstruct doesn't show all elements.
  static bool reads_changed_list(const Node& node) {
    const auto inputs = node.inputs();
    return std::any_of(inputs.begin(), inputs.end(), [](const Value* input) {
      return input->node()->kind() == c10::prim::ListConstruct && !is_glue(*input->node());
    });
  }

  // Types a node by its rule or by observation. False if constants replaced the node.
  bool visit_operator(Node* node) {
    if (visit_open_sizes(*node)) return true;
    const bool reads_failed = needs_failed(*node) || (!options_.keeps_numbers && reads_changed_list(*node));
    const OpRule* rule = find_typed_rule(*node, result_.types);
    std::optional<Refusal> refusal;
    if (rule != nullptr && !reads_failed) refusal = type_by_rule(*node, *rule);
    if (rule != nullptr && !reads_failed && !refusal) return true;
    if (!reads_failed && !options_.keeps_numbers && rewrites_.replace_empty(node, result_.types)) return false;
    if (rule == nullptr) result_.refusals.push_back(missing_rule(*node, result_.types));
    if (refusal) result_.refusals.push_back(*refusal);
    reads_failed ? failed(*node) : observe(*node, refusal);
    return true;
  }

  // Sets the types of the node's results by its rule, or returns why the rule refuses the node.
  std::optional<Refusal> type_by_rule(const Node& node, const OpRule& rule) {
    try {
      const OpArguments args(node, result_.types);
      std::vector<ValueType> types = rule.shape(args);
      NNC_ASSERT(types.size() == node.outputs().size(), node.kind().toQualString());
      if (!options_.keeps_numbers) require_sizes(args, types);
      for (size_t i = 0; i < types.size(); ++i) result_.types[node.output(i)] = std::move(types[i]);
      return std::nullopt;
    } catch (const NodeRefused& error) {
      return error.refusal();
    } catch (const ConvertError& error) {  // sizes beyond int64
      return Refusal{source_of(node), node.kind().toQualString(), error.what(), "", ""};
    }
  }

  // Refuses tensors with sizes that NNAPI can't have, though TorchScript can.
  static void require_sizes(const OpArguments& args, const std::vector<ValueType>& types) {
    for (const ValueType& type : types) {
      TensorTypes tensors;
      if (const auto* list = std::get_if<TensorTypes>(&type)) tensors = *list;
      if (const auto* tensor = std::get_if<TensorType>(&type)) tensors = {*tensor};
      for (const TensorType& tensor : tensors) {
        args.require(!is_empty(tensor), "a result " + to_text(tensor), "sizes of 1 or more");
        const std::string problem = excess(tensor);
        args.require(problem.empty(), problem, "what NNAPI can address");
      }
    }
  }

  bool needs_failed(const Node& node) const {
    const auto inputs = node.inputs();
    return std::any_of(inputs.begin(), inputs.end(), [&](const Value* input) {
      return failed_.count(input) != 0 && !(options_.keeps_numbers && takes_any_number(node, *input));
    });
  }

  // Observes the types of a refused node's results: the node stays on the CPU, but later nodes may run on NNAPI.
  void observe(const Node& node, const std::optional<Refusal>& refusal = std::nullopt) {
    if (!reshaping_ && reshapes_argument(node, result_.types)) {
      reshaping_.emplace(ExitCode::kNotConvertible,
                         source_of(node) + ": " + node.kind().toQualString() +
                             " may change the shape of a tensor in place; needed: a new tensor of that shape");
    }
    std::string error;
    const auto types = observed_types(node, result_.types, error);
    const bool always_runs = node.owningBlock() == model_.graph->block();
    if (!error.empty() && always_runs) {
      result_.failures.push_back(
          refusal.value_or(Refusal{source_of(node), node.kind().toQualString(), "it raises an error", "", ""}));
    }
    if (!types) return failed(node);
    for (size_t i = 0; i < types->size(); ++i) result_.types[node.output(i)] = (*types)[i];
  }

  // Types a list of sizes. Rules read the elements of a list of tensors in place.
  void visit_list(const Node& node) {
    const auto inputs = node.inputs();
    if (any_failed(inputs) || (options_.keeps_numbers && !is_glue(node))) return failed(node);
    if (node.output()->type()->cast<c10::ListType>()->getElementType()->kind() != c10::TypeKind::IntType) return;
    Dims sizes;
    for (const Value* input : inputs) {
      if (const auto constant = torch::jit::toIValue(input)) {
        sizes.emplace_back(constant->toInt());
        continue;
      }
      const auto found = result_.types.find(input);
      const Dims* size = found == result_.types.end() ? nullptr : std::get_if<Dims>(&found->second);
      if (size == nullptr || size->size() != 1) {
        return refused(node, {source_of(node), node.kind().toQualString(),
                              "the size %" + input->debugName() + " depends on the values of a tensor",
                              "sizes computed from the inputs' sizes alone", ""});
      }
      sizes.push_back((*size)[0]);
    }
    result_.types[node.output()] = std::move(sizes);
  }

  // Types the elements that a ListUnpack takes from a list: sizes, or tensors that a rule has typed one by one.
  void visit_unpack(const Node& node) {
    if (failed_.count(node.input())) return failed(node);
    const auto found = result_.types.find(node.input());
    const size_t count = node.outputs().size();
    std::vector<ValueType> elements;
    if (found != result_.types.end()) {
      if (const auto* tensors = std::get_if<TensorTypes>(&found->second)) {
        elements.assign(tensors->begin(), tensors->end());
      } else if (const auto* sizes = std::get_if<Dims>(&found->second)) {
        for (const Dim& size : *sizes) elements.emplace_back(Dims{size});
      }
    }
    if (elements.size() != count) {
      result_.refusals.push_back(missing_rule(node, result_.types));
      return failed(node);
    }
    for (size_t i = 0; i < count; ++i) result_.types[node.output(i)] = std::move(elements[i]);
  }

  // Removes nodes that join the parts of complex numbers, if other nodes read the parts only.
  void settle_pairs() {
    std::vector<Node*> pairs;
    for_each_node(*model_.graph, [&](Node& node) {
      if (node.outputs().size() == 1 && is_pair(*node.output())) pairs.push_back(&node);
    });
    for (Node* node : pairs) {
      const auto& outputs = model_.outputs;
      const bool is_returned = std::find(outputs.begin(), outputs.end(), node->output()) != outputs.end();
      if (is_returned || !node->output()->uses().empty()) {
        result_.refusals.push_back({source_of(*node), node->kind().toQualString(), "complex numbers", "real ones",
                                    "NNAPI has no complex operands: use the parts, as by view_as_real, abs or angle"});
      } else {
        result_.types.erase(node->output());
        node->destroy();
      }
    }
  }

  void refuse_unset_outputs() {
    for (const Value* output : model_.outputs) {
      if (failed_.count(output) == 0) continue;
      result_.refusals.push_back({source_of(*output->node()), output->node()->kind().toQualString(),
                                  "forward gives %" + output->debugName() + ", which an error before it leaves unset",
                                  "a model that runs with these inputs", "check the sizes given by --input"});
    }
  }

  void failed(const Node& node) {
    for (const Value* output : node.outputs()) failed_.insert(output);
  }

  NormalisedModel& model_;
  InferOptions options_;
  const StateTypes& state_;
  KnownRewrites rewrites_;
  RuntimeSizes runtime_sizes_;
  std::optional<ConvertError> reshaping_;
  InferredTypes result_;
  std::unordered_set<const Value*> failed_;
};

bool remove_changes_of_lists(NormalisedModel& model) {
  return keeping_outputs(model, [](auto& graph) { return torch::jit::RemoveListMutation(graph); });
}

// Repeats inference until it finds nothing new. This ends: it begins again only after it unrolled loops
// (unroll_loops.h), after there are fewer changes of lists or of tensors, or at most kMostRounds times.
InferredTypes infer_until_done(NormalisedModel& model, const TypeMap& input_types, InferOptions options,
                               const StateTypes& state) {
  constexpr int kMostRounds = 20;     // of what is known of sizes and of containers in turn
  constexpr int kMostUnrolled = 200;  // times that loops are tried: each begins inference again
  int unrolled = 0;
  const bool may_know_more = options.keeps_numbers && !options.is_trial;
  for (int round = 0;;) {
    Inference inference(model, input_types, options, state);
    auto types = inference.run();
    if (!types) {
      options.tries_loops = ++unrolled < kMostUnrolled;
      continue;
    }
    if (inference.left_written() && evaluate_closed_writes(model, types->types)) continue;
    // Chosen branches may hold changes of lists, and lists of known elements are changed.
    const bool is_refused = !options.keeps_numbers && !types->refusals.empty();
    if (is_refused && remove_changes_of_lists(model)) continue;
    const bool may_simplify = may_know_more || is_refused;
    if (may_simplify && round++ < kMostRounds && keeping_outputs(model, simplify_containers)) continue;
    inference.require_shapes();
    return std::move(*types);
  }
}

}  // namespace

InferredTypes infer(NormalisedModel& model, const TypeMap& input_types, const InferOptions& options) {
  if (!options.keeps_numbers || options.is_trial) return infer_until_done(model, input_types, options, {});
  const StateTypes state = state_types(model, input_types, [&](auto& copy, const auto& types, const auto& assumed) {
    InferOptions trial = options;
    trial.is_trial = true;
    return infer_until_done(copy, types, trial, assumed).types;
  });
  return infer_until_done(model, input_types, options, state);
}

InferredTypes infer(NormalisedModel& model, const std::vector<TensorType>& input_types, const InferOptions& options) {
  TypeMap types;
  for (size_t i = 0; i < input_types.size(); ++i) types[model.inputs[i]] = input_types[i];
  return infer(model, types, options);
}

}  // namespace nnapi_convert
