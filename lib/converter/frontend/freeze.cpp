// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/freeze.h"

#include <fmt/format.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/passes/constant_propagation.h>
#include <torch/csrc/jit/passes/freeze_module.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/passes/lower_tuples.h>
#include <torch/csrc/jit/passes/peephole.h>
#include <torch/csrc/jit/passes/remove_mutation.h>

#include <algorithm>
#include <map>
#include <utility>

#include "lib/base/error.h"
#include "lib/converter/frontend/bound_arguments.h"
#include "lib/converter/frontend/changes_of_new_tensors.h"
#include "lib/converter/frontend/compute_in_float32.h"
#include "lib/converter/frontend/containers.h"
#include "lib/converter/frontend/forks.h"
#include "lib/converter/frontend/functional_form.h"
#include "lib/converter/frontend/hidden_changes.h"
#include "lib/converter/frontend/input_changes.h"
#include "lib/converter/frontend/kept_objects.h"
#include "lib/converter/frontend/observers.h"
#include "lib/converter/frontend/reduced_steps.h"
#include "lib/converter/frontend/unpack_prepacked.h"
#include "lib/converter/frontend/unroll_loops.h"
#include "lib/converter/frontend/weights_aside.h"
#include "lib/converter/graph/changed_attributes.h"
#include "lib/converter/graph/deep_copy.h"
#include "lib/converter/graph/element_writes.h"
#include "lib/converter/graph/float_width.h"
#include "lib/converter/graph/node_reads.h"
#include "lib/converter/graph/shared_memory.h"
#include "lib/converter/graph/traced_numbers.h"
#include "lib/converter/load/dynamic_quantisation.h"
#include "lib/converter/load/quantised_tables.h"

namespace nnapi_convert {
namespace {

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

// Returns the method that a node calls; null for other nodes, and for methods of interfaces.
torch::jit::GraphFunction* called_method(const Node& node) {
  if (node.kind() != c10::prim::CallMethod) return nullptr;
  const auto type = node.input(0)->type()->cast<c10::ClassType>();
  return type == nullptr ? nullptr : torch::jit::tryToGraphFunction(type->getMethod(node.s(c10::attr::name)));
}

// Returns the function that a node calls; null for other nodes.
torch::jit::GraphFunction* called_function(const Node& node) {
  if (node.kind() != c10::prim::CallFunction) return nullptr;
  const auto type = node.input(0)->type()->cast<c10::FunctionType>();
  return type == nullptr ? nullptr : torch::jit::tryToGraphFunction(*type->function());
}

// Inlines calls. Freezing does it, too, but optimises each method by itself before, which takes most of its time.
// Starts with the innermost calls, as freezing does: values keep their names, and nodes all lines of the calls that
// lead to them.
void inline_calls(Block& block) {
  for (auto it = block.nodes().begin(); it != block.nodes().end();) {
    Node* node = *it++;
    torch::jit::GraphFunction* const function = called_function(*node);
    if (function != nullptr) node->removeInput(0);
    if (torch::jit::GraphFunction* callee = function != nullptr ? function : called_method(*node)) {
      const std::shared_ptr<torch::jit::Graph> graph = callee->graph()->copy();
      inline_calls(*graph->block());
      torch::jit::inlineCallTo(node, callee, graph.get());
    } else {
      for (Block* inner : node->blocks()) inline_calls(*inner);
    }
  }
}

bool has_training_mode(const torch::jit::Module& module) {
  bool trains = false;
  for (const torch::jit::Module& each : module.modules()) {
    trains = trains || (each.hasattr("training") && each.attr("training").toBool());
  }
  return trains;
}

bool is_off(const torch::jit::Value* train, bool modules_evaluate) {
  const Node& maker = *train->node();
  if (maker.kind() == c10::prim::GetAttr) return modules_evaluate && maker.s(c10::attr::name) == "training";
  const auto constant = torch::jit::toIValue(train);
  return constant && !constant->toBool();
}

// Removes dropouts that don't train: they give their input itself, not a copy, so that a change in place of one is seen
// in the other. No module trains if `modules_evaluate`.
void drop_dropouts(Graph& graph, bool modules_evaluate) {
  std::vector<Node*> nodes;
  for_each_node(graph, [&](Node& node) {
    const std::string kind = node.kind().toQualString();
    const bool is_dropout = kind == "aten::dropout" || kind == "aten::feature_dropout" ||
                            kind == "aten::alpha_dropout" || kind == "aten::feature_alpha_dropout";
    if (is_dropout && is_off(node.input(2), modules_evaluate)) nodes.push_back(&node);
  });
  for (Node* node : nodes) {
    node->output()->replaceAllUsesWith(node->input(0));
    node->destroy();
  }
}

// Returns the graph's inputs that are changed in place, with the warning to give if the change is then made on a copy.
std::vector<std::pair<const Value*, Warning>> changes_of_inputs(Graph& graph) {
  std::vector<std::pair<const Value*, Warning>> changes;
  for_each_node(graph, [&](Node& node) {
    const bool reads_input = !node.inputs().empty() && node.input(0)->node()->kind() == c10::prim::Param;
    if (reads_input && functional_kind(node)) changes.emplace_back(node.input(0), input_change_warning(node));
  });
  return changes;
}

bool is_changed(const Value& value) {
  return std::any_of(value.uses().begin(), value.uses().end(),
                     [](const torch::jit::Use& use) { return use.offset == 0 && functional_kind(*use.user); });
}

// Makes a model of another width, or one with steps of another width, compute in float32. Returns the dtypes of such
// steps.
std::vector<at::ScalarType> widen(const LoadedModel& loaded, const torch::jit::Module& module,
                                  std::shared_ptr<Graph>& graph) {
  if (const auto width = width_of(loaded)) {
    simplify_containers(graph);  // results are cast where their lists and dicts are made
    compute_in_float32(graph, *width, loaded.stated_floats);
    return {};
  }
  std::vector<at::ScalarType> reduced_steps = compute_steps_in_float32(module, graph, loaded.stated_floats);
  if (!reduced_steps.empty()) torch::jit::ConstantPropagation(graph, true);
  return reduced_steps;
}

// Simplifies the frozen graph, in which no attribute can change any more.
void simplify(const LoadedModel& loaded, FrozenModule& frozen) {
  std::shared_ptr<Graph> graph = frozen.module.get_method("forward").graph();
  torch::jit::Inline(*graph);
  // Unrolls loops whose number of rounds is known now; the lists that they append to are made at once.
  if (unroll_loops(graph)) torch::jit::RemoveListMutation(graph);
  torch::jit::LowerSimpleTuples(graph);
  unpack_prepacked(*graph);
  remove_dynamic_quantisation(graph);
  remove_quantised_tables(*graph);
  const auto changes = changes_of_inputs(*graph);
  frozen.reduced_steps = widen(loaded, frozen.module, graph);
  for (const auto& [input, warning] : changes) {
    if (!is_changed(*input)) frozen.warnings.push_back(warning);
  }
  torch::jit::PeepholeOptimize(graph);
  drop_dropouts(*graph, false);
}

// Returns the attributes that freezing must not make constants.
std::vector<AttributePath> kept_attributes(const LoadedModel& loaded) {
  std::vector<AttributePath> paths = changed_objects(loaded.module);
  const auto add = [&](const auto& others) {
    for (const AttributePath& path : others) {
      if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
    }
  };
  const std::vector<AttributePath> containers = changed_containers(loaded.module);
  add(containers);
  // Freezing takes away an attribute that forward sets if the tensor in it is also in a container that is kept.
  if (!containers.empty()) add(attributes_changed_by(loaded.module, "forward"));
  add(loaded.changed_elsewhere);
  return paths;
}

// Returns the module that has the attribute; nothing if freezing has taken the attribute away.
std::optional<torch::jit::Module> holder_of(const torch::jit::Module& module, const AttributePath& path) {
  torch::jit::Module holder = module;
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    if (!holder.hasattr(path[i])) return std::nullopt;
    holder = holder.attr(path[i]).toModule();
  }
  return holder.hasattr(path.back()) ? std::optional(holder) : std::nullopt;
}

// Takes away the attributes' values, from which their types would be read.
void forget_values(const torch::jit::Module& module, const std::vector<AttributePath>& paths) {
  for (const AttributePath& path : paths) {
    const auto holder = holder_of(module, path);
    if (!holder) continue;
    const std::string& name = path.back();
    const c10::IValue value = holder->attr(name);
    // Module::setattr() would ask for the type of the undefined tensor.
    if (value.isTensor()) holder->_ivalue()->setAttr(name, at::Tensor());
    if (value.isTensorList()) {
      holder->_ivalue()->setAttr(name, std::vector<at::Tensor>(value.toTensorVector().size()));
    }
    if (!value.isTuple()) continue;
    std::vector<c10::IValue> elements = value.toTupleRef().elements().vec();
    for (c10::IValue& element : elements) element = element.isTensor() ? c10::IValue(at::Tensor()) : element;
    holder->_ivalue()->setAttr(name, c10::ivalue::Tuple::create(std::move(elements)));
  }
}

// Returns the paths as LibTorch's freezing takes them: their names joined by dots.
std::vector<std::string> names_for_freezing(const std::vector<AttributePath>& paths) {
  std::vector<std::string> joined;
  for (const AttributePath& path : paths) {
    for (const std::string& name : path) {
      if (name.find('.') == std::string::npos) continue;
      throw ConvertError(
          ExitCode::kNotConvertible,
          fmt::format("the model changes its attribute \"{}\" as it runs, and PyTorch can't freeze a model "
                      "that changes an attribute with a dot in its name; give it another name",
                      fmt::join(path, "\".\"")));
    }
    joined.push_back(path_text(path));
  }
  return joined;
}

// Removes methods from the nodes' call stacks. Freezing destroys inlined methods, but LibTorch's interpreter reads
// their names for the message when an operator raises an error. A call stack keeps its lines, and calls a function that
// is never freed.
void forget_methods(Graph& graph) {
  static auto* const forward =
      new torch::jit::GraphFunction(c10::QualifiedName("forward"), std::make_shared<Graph>(), nullptr);
  using Stack = torch::jit::InlinedCallStackPtr;
  std::map<Stack, Stack> made;  // nodes share stacks
  for_each_node(graph, [&](Node& node) {
    // LibTorch gives nodes in branches of an inlined function no stack: they get the branch's, which is made already.
    const Node* around = node.owningBlock()->owningNode();
    if (!node.callstack() && around != nullptr && around->callstack()) node.setCallStack(*around->callstack());
    if (!node.callstack() || (around != nullptr && node.callstack() == around->callstack())) return;
    Stack& stack = made[*node.callstack()];
    if (!stack) {
      const auto calls = (*node.callstack())->vec();  // the innermost last
      for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
        using torch::jit::InlinedCallStack;
        stack = stack ? c10::make_intrusive<InlinedCallStack>(stack, forward, std::get<1>(*call))
                      : c10::make_intrusive<InlinedCallStack>(forward, std::get<1>(*call));
      }
    }
    node.setCallStack(stack);
  });
}

constexpr int kMostFreezes = 2;

bool keeps_weights(Graph& graph) {
  bool keeps = false;
  for_each_node(graph, [&](const Node& node) {
    keeps = keeps || (node.kind() == c10::prim::GetAttr && node.output()->type()->isSubtypeOf(*c10::TensorType::get()));
  });
  return keeps;
}

// Replaces attributes by constants.
void freeze(torch::jit::Module& module, const std::vector<AttributePath>& kept) {
  const WeightsAside weights(module, module.get_method("forward").graph(), kept);
  const std::vector<std::string> names = names_for_freezing(kept);
  for (int round = 0; round < kMostFreezes; ++round) {
    torch::jit::freeze_module_inplace(&module, names);
    if (!keeps_weights(*module.get_method("forward").graph())) break;
  }
  const CastsLeftOpen casts(module.get_method("forward").graph());
  weights.put_back(module.get_method("forward").graph());
}

// Refuses bound arguments that forward writes into: a caller sees the change in an argument, but nobody in the constant
// in its place.
void check_bound_unchanged(const std::shared_ptr<Graph>& graph, const LoadedModel& loaded) {
  const auto& arguments = loaded.module.get_method("forward").function().getSchema().arguments();
  std::optional<SharedMemory> memory;  // made at the first question
  for (size_t i = 1; i < arguments.size(); ++i) {
    const auto bound = loaded.bound.find(arguments[i].name());
    if (bound == loaded.bound.end() || !bound->second.isTensor() || !may_be_written(*graph->inputs()[i])) continue;
    if (!memory) memory.emplace(*graph, loaded.module);
    if (!memory->is_written(*graph->inputs()[i])) continue;
    throw ConvertError(
        ExitCode::kNotConvertible,
        fmt::format("forward changes its argument {} in place, so that it can't be bound to values; give "
                    "its sizes with --input instead",
                    arguments[i].name()));
  }
}

}  // namespace

FrozenModule frozen_module(const LoadedModel& loaded) {
  try {
    FrozenModule frozen{loaded.module.clone(true)};
    torch::jit::Module& module = frozen.module;
    const std::shared_ptr<Graph> graph = module.get_method("forward").graph();
    do {
      inline_calls(*graph->block());
      torch::jit::Inline(*graph);
    } while (run_forks_in_place(*graph));
    check_bound_unchanged(graph, loaded);
    insert_bound_values(*graph, loaded.module.get_method("forward").function().getSchema(), loaded.bound);
    check_nested_loops(*graph);
    drop_dropouts(*graph, !has_training_mode(module));
    apply_autocast(graph);
    settle_observers(graph, module);
    settle_hidden_changes(*graph);
    separate_glue(*graph);
    mark_numbers(*graph);
    make_changes_functional(*graph);
    forget_methods(*graph);
    freeze(module, kept_attributes(loaded));
    simplify(loaded, frozen);
    forget_methods(*module.get_method("forward").graph());
    check_bound_values(*module.get_method("forward").graph(), loaded.bound);
    forget_values(module, loaded.unsettled);
    return frozen;
  } catch (const ConvertError&) {
    throw;
  } catch (const std::exception& error) {
    throw ConvertError(ExitCode::kNotConvertible,
                       fmt::format("{} can't be frozen to constants: {}", loaded.path, first_line(error)));
  }
}

std::optional<torch::jit::Module> float_meaning(const LoadedModel& original) {
  const bool is_other = is_dynamically_quantised(original.module) || width_of(original);
  if (!is_other && !may_have_reduced_steps(original.module)) return std::nullopt;
  const FrozenModule frozen = frozen_module(original);
  if (!is_other && frozen.reduced_steps.empty()) return std::nullopt;
  return deep_copy(frozen.module);  // a run may change buffers, which the original has, too
}

std::optional<torch::jit::Module> with_float_products(const LoadedModel& original, Products which) {
  const torch::jit::Module module = frozen_module(original).module;
  if (make_float_products(*module.get_method("forward").graph(), which) == 0) return std::nullopt;
  return deep_copy(module);  // a run may change buffers, which the original has, too
}

}  // namespace nnapi_convert
