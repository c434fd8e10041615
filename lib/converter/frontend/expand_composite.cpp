// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/expand_composite.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "lib/converter/frontend/hidden_changes.h"
#include "lib/converter/frontend/remove_inplace.h"
#include "lib/converter/frontend/trial_run.h"
#include "lib/converter/graph/node_reads.h"
#include "lib/converter/graph/random_numbers.h"
#include "lib/converter/graph/torch_error.h"
#include "lib/ops/formulas.h"
#include "lib/ops/lineage.h"
#include "lib/ops/node_place.h"
#include "lib/ops/registry.h"

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::Stack;

std::optional<c10::OperatorHandle> composite_operator(const TorchNode& node) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  if (schema == nullptr || schema->is_mutable() || schema->is_vararg()) return std::nullopt;
  const auto found = c10::Dispatcher::singleton().findSchema(schema->operator_name());
  return found && is_composite(*found) ? std::optional<c10::OperatorHandle>(*found) : std::nullopt;
}

// Reads the arguments of a node: the tensors to trace, and the way to put them and the constants on the call's stack.
class Arguments {
 public:
  // Returns false if an argument is unknown, or if none is computed.
  bool read(const TorchNode& node, const TypeMap& types) {
    types_ = &types;
    for (const TorchValue* input : node.inputs()) {
      if (!read(const_cast<TorchValue*>(input))) return false;
    }
    return has_computed_;
  }

  const std::vector<TorchValue*>& values() const { return values_; }
  const Stack& tensors() const { return tensors_; }
  // Returns tensors() with other made-up values for the computed ones.
  const Stack& other_tensors() const { return other_tensors_; }

  Stack stack(const Stack& traced) const {
    Stack result;
    for (const Argument& argument : arguments_)
      result.push_back(argument.value ? *argument.value : made_of(argument, traced));
    return result;
  }

 private:
  enum class Kind { kTensor, kPair, kList };

  struct Argument {
    std::optional<c10::IValue> value;  // a constant; nothing for tensors
    std::vector<size_t> tensors;       // numbers of one tensor, of the parts of a complex one, or of a list's tensors
    Kind kind = Kind::kTensor;
  };

  static c10::IValue made_of(const Argument& argument, const Stack& traced) {
    if (argument.kind == Kind::kTensor) return traced[argument.tensors[0]];
    if (argument.kind == Kind::kPair) {
      return c10::ivalue::Tuple::create(traced[argument.tensors[0]], traced[argument.tensors[1]]);
    }
    c10::List<at::Tensor> list;
    for (const size_t tensor : argument.tensors) list.push_back(traced[tensor].toTensor());
    return list;
  }

  bool read(TorchValue* value) {
    if (is_pair(*value)) return read_pair(value->node()->inputs());
    if (const auto parts = parts_of_constant(*value)) {
      arguments_.push_back({*parts, {}, Kind::kTensor});
      return true;
    }
    if (value->type()->kind() == c10::TypeKind::TensorType) {
      const bool is_tensor = read_tensor(value);
      if (is_tensor) arguments_.push_back({std::nullopt, {tensors_.size() - 1}, Kind::kTensor});
      return is_tensor;
    }
    if (const auto constant = torch::jit::toIValue(value)) {
      arguments_.push_back({*constant, {}, Kind::kTensor});
      return true;
    }
    if (value->node()->kind() != c10::prim::ListConstruct) return false;
    Argument list{std::nullopt, {}, Kind::kList};
    for (TorchValue* element : value->node()->inputs()) {
      if (element->type()->kind() != c10::TypeKind::TensorType || !read_tensor(element)) return false;
      list.tensors.push_back(tensors_.size() - 1);
    }
    arguments_.push_back(std::move(list));
    return true;
  }

  static at::Tensor other_values(const at::Tensor& tensor) {
    return tensor.scalar_type() == at::kBool ? tensor.logical_not() : tensor + 1;
  }

  // Returns the real and imaginary parts of a complex constant; nothing for other values.
  static std::optional<c10::IValue> parts_of_constant(const TorchValue& value) {
    const auto constant = torch::jit::toIValue(&value);
    if (!constant || !is_complex(*constant)) return std::nullopt;
    if (!constant->isTensor()) {  // a number of float32 widens no tensor that it meets
      const c10::complex<double> number = constant->toScalar().toComplexDouble();
      return c10::ivalue::Tuple::create(at::scalar_tensor(number.real(), at::kFloat),
                                        at::scalar_tensor(number.imag(), at::kFloat));
    }
    const at::Tensor whole = constant->toTensor().detach();
    return c10::ivalue::Tuple::create(at::real(whole).contiguous(), at::imag(whole).contiguous());
  }

  bool read_pair(at::ArrayRef<TorchValue*> parts) {
    if (!read_tensor(parts[0]) || !read_tensor(parts[1])) return false;
    arguments_.push_back({std::nullopt, {tensors_.size() - 2, tensors_.size() - 1}, Kind::kPair});
    return true;
  }

  bool read_tensor(TorchValue* value) {
    const auto constant = torch::jit::toIValue(value);
    const bool is_constant = constant && constant->isTensor() && constant->toTensor().defined();
    const TensorType* type = tensor_type_of(value, *types_);
    if (!is_constant && (type == nullptr || type->is_quantized())) return false;
    const auto tensor = is_constant ? std::optional<at::Tensor>(constant->toTensor()) : made_up_tensor(*type);
    if (!tensor || tensor->is_quantized()) return false;
    has_computed_ = has_computed_ || !is_constant;
    values_.push_back(value);
    tensors_.emplace_back(tensor->detach());
    other_tensors_.emplace_back(is_constant ? tensor->detach() : other_values(*tensor));
    return true;
  }

  const TypeMap* types_ = nullptr;
  std::vector<TorchValue*> values_;
  Stack tensors_;
  Stack other_tensors_;
  std::vector<Argument> arguments_;
  bool has_computed_ = false;
};

using Call = std::function<Stack(const Stack&)>;

// Returns a function that calls the operator's kernel below the tracer, so that the trace has the operators it calls.
Call call_of(const c10::OperatorHandle& composite) {
  return [composite](const Stack& arguments) {
    Stack stack = arguments;
    composite.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), &stack);
    return stack;
  };
}

// Returns a function that calls the formula; complex results are put together from their parts.
Call call_of(const Formula& formula, const TorchNode& node) {
  return [&formula, &node](const Stack& arguments) {
    Stack results;
    for (const Formed& formed : formula.form(FormulaArguments(node.schema(), arguments))) {
      if (!formed.list.empty()) {
        results.emplace_back(c10::List<at::Tensor>(formed.list));
        continue;
      }
      results.emplace_back(formed.is_complex() ? at::complex(formed.real, formed.imaginary) : formed.real);
      // Makes a constant part of the trace, which refuses results that depend on no argument.
      if (torch::jit::tracer::isTracing()) torch::jit::tracer::getValueTrace(results.back());
    }
    return results;
  };
}

std::shared_ptr<Graph> trace(const Call& call, const Arguments& arguments, const Stack& tensors) {
  const c10::NoGradGuard no_grad;
  const auto traced_call = [&](const Stack& traced) { return call(arguments.stack(traced)); };
  const auto no_name = [](const at::Tensor&) { return std::string(); };
  return torch::jit::tracer::trace(tensors, traced_call, no_name, false).first->graph;
}

// True if all readers of a value, and of its views, overwrite its elements.
bool is_written_only(const TorchValue& value) {
  static const std::set<std::string> views = {"aten::select", "aten::slice"};
  return std::all_of(value.uses().begin(), value.uses().end(), [](const torch::jit::Use& use) {
    const std::string kind = use.user->kind().toQualString();
    const bool is_written = find_traits(*use.user).has(Fact::kOverwrites) ||
                            (views.count(kind) != 0 && is_written_only(*use.user->output()));
    return use.offset == 0 && is_written;
  });
}

// True for an operator that makes new memory which the trace would read unwritten: a trace doesn't record what ATen
// writes directly (at::tensor).
bool gives_unwritten(const TorchNode& node) {
  return find_traits(node).has(Fact::kUnwritten) && !is_written_only(*node.output());
}

bool is_list(const TorchNode& node) {
  return node.kind() == c10::prim::ListConstruct || node.kind() == c10::prim::ListUnpack ||
         node.kind() == c10::prim::TupleConstruct;
}

bool is_in(const std::vector<std::string>& lineage, const TorchNode& node) {
  return std::find(lineage.begin(), lineage.end(), operator_name(node)) != lineage.end();
}

// True if each operator of the graph has a rule, can be taken apart, or depends on constants only. An operator of the
// lineage must not come again: it is made of itself, as index_fill is made of a copy and index_fill_.
bool has_rules(const Graph& graph, const std::vector<std::string>& lineage) {
  std::set<const TorchValue*> closed;
  for (const TorchNode* node : graph.nodes()) {
    const c10::FunctionSchema* schema = node->maybeSchema();
    if (schema != nullptr && (schema->is_mutable() || reads_values(*node) || gives_unwritten(*node))) return false;
    const auto inputs = node->inputs();
    const bool is_closed =
        !draws_random_numbers(*node) &&
        std::all_of(inputs.begin(), inputs.end(), [&](const auto* input) { return closed.count(input) != 0; });
    if (is_closed) {
      closed.insert(node->outputs().begin(), node->outputs().end());
    } else if (!is_list(*node) && find_rule(*node) == nullptr &&
               ((!may_have_formula(*node) && !composite_operator(*node)) || sizes_depend_on_values(*node) ||
                is_in(lineage, *node))) {
      return false;
    }
  }
  return true;
}

// True if the node takes a complex tensor that the CPU makes. Such tensors may carry the mark that they are conjugated,
// which a trace doesn't record, and formulas take a complex tensor as a pair of its parts.
bool takes_complex(const TorchNode& node, const TypeMap& types) {
  const auto inputs = node.inputs();
  return std::any_of(inputs.begin(), inputs.end(), [&](const TorchValue* input) {
    const TensorType* type = tensor_type_of(input, types);
    const bool is_complex = type != nullptr && c10::isComplexType(type->dtype);
    return is_complex && !is_pair(*input) && !torch::jit::toIValue(input);
  });
}

std::vector<TorchValue*> insert(const Graph& graph, TorchNode& node, const std::vector<TorchValue*>& inputs) {
  torch::jit::WithInsertPoint here(&node);
  TorchNode* before = node.prev();
  const std::vector<TorchValue*> outputs =
      torch::jit::insertGraph(*node.owningGraph(), const_cast<Graph&>(graph), inputs);
  for (TorchNode* inserted = before->next(); inserted != &node; inserted = inserted->next()) {
    take_place(*inserted, node);
    inserted->setScope(node.scope());
  }
  return outputs;
}

}  // namespace

bool is_composite(const c10::OperatorHandle& handle) {
  return handle.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd) ||
         (handle.hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutograd) &&
          !handle.hasKernelForDispatchKey(c10::DispatchKey::CPU));
}

std::vector<TorchValue*> expand_composite(TorchNode& node, const TypeMap& types) {
  if (!node.blocks().empty() || takes_complex(node, types)) return {};
  const Formula* formula = find_formula(node, types);  // one for known values, if sizes depend on values
  const bool is_left = sizes_depend_on_values(node) || draws_random_numbers(node);
  if (formula == nullptr && is_left) return {};
  const auto composite = formula == nullptr ? composite_operator(node) : std::nullopt;
  Arguments arguments;
  if ((formula == nullptr && !composite) || !arguments.read(node, types)) return {};
  std::shared_ptr<Graph> graph;
  try {
    const Call call = formula != nullptr ? call_of(*formula, node) : call_of(*composite);
    graph = trace(call, arguments, arguments.tensors());
    // Two traces on different values differ if the operator reads numbers from tensors: traces hold them as constants.
    if (formula == nullptr &&
        graph->toString(false) != trace(call, arguments, arguments.other_tensors())->toString(false)) {
      return {};
    }
    settle_hidden_changes(*graph);
  } catch (const std::exception&) {
    return {};  // the call raises an error: the original raises it, too, or it branches on values
  }
  Diagnostics ignored;
  remove_inplace(graph, ignored);
  if (graph->outputs().size() != node.outputs().size() || !has_rules(*graph, lineage_of(node).operators)) return {};
  return insert(*graph, node, arguments.values());
}

std::optional<Refusal> formula_refusal(const TorchNode& node, const TypeMap& types) {
  const Formula* formula = find_formula(node, types);
  if (formula == nullptr) return std::nullopt;
  Arguments arguments;
  if (!arguments.read(node, types)) {
    return FormulaRefused("flexible sizes, or an argument that is computed", "fixed sizes and constant arguments",
                          "give every size of the input with --input")
        .refusal_of(node);
  }
  try {
    const c10::NoGradGuard no_grad;
    (void)call_of(*formula, node)(arguments.stack(arguments.tensors()));
  } catch (const FormulaRefused& refused) {
    return refused.refusal_of(node);
  } catch (const std::exception& error) {
    return FormulaRefused("arguments that PyTorch refuses: " + torch_reason(error), "others").refusal_of(node);
  }
  return std::nullopt;
}

}  // namespace nnapi_convert
