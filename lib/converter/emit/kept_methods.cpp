// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/emit/kept_methods.h"

#include <fmt/format.h>
#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/passes/inliner.h>

#include <algorithm>
#include <set>

#include "lib/base/error.h"
#include "lib/converter/graph/node_reads.h"
#include "lib/converter/load/newer_branches.h"
#include "lib/serialize/class_copies.h"

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

std::shared_ptr<Graph> inlined(const torch::jit::Module& module, const std::string& name) {
  const std::shared_ptr<Graph> graph = module.get_method(name).graph()->copy();
  torch::jit::Inline(*graph);
  return graph;
}

bool is_access(const Node& node) {
  const bool is_kind = node.kind() == c10::prim::GetAttr || node.kind() == c10::prim::SetAttr;
  return is_kind && !gives_module(node) && !attribute_path(node).empty();
}

std::vector<Node*> accesses(Graph& graph) {
  std::vector<Node*> result;
  for_each_node(graph, [&](Node& node) {
    if (is_access(node)) result.push_back(&node);
  });
  return result;
}

bool is_plain(const c10::IValue& value) {
  return value.isNone() || value.isBool() || value.isInt() || value.isDouble() || value.isString();
}

const StateAttribute* find(const std::vector<StateAttribute>& state, const AttributePath& path) {
  const auto found = std::find_if(state.begin(), state.end(), [&](const auto& each) { return each.path == path; });
  return found == state.end() ? nullptr : &*found;
}

c10::TypePtr type_of(const Node& access) {
  return access.input(0)->type()->expectRef<c10::ClassType>().getAttribute(access.s(c10::attr::name));
}

// Returns the value as code may hold it: a parameter becomes a constant without a gradient.
c10::IValue as_constant(const c10::IValue& value) {
  return value.isTensor() && value.toTensor().defined() ? c10::IValue(value.toTensor().detach()) : value;
}

bool can_be_constant(const c10::IValue& value) {
  Graph scratch;
  return torch::jit::tryInsertConstant(scratch, as_constant(value)).has_value();
}

// Compares what a method needs with what the converted module has.
class Choice {
 public:
  Choice(const torch::jit::Module& original, const MethodChoice& which, std::vector<StateAttribute>& state)
      : original_(original), keeps_all_(which.keeps_all), state_(state) {
    for (const std::string& method : which.converted) {
      const std::shared_ptr<Graph> graph = inlined(original, method);
      for (const Node* access : accesses(*graph)) of_converted_.insert(attribute_path(*access));
    }
    if (!keeps_all_) return;
    for (const torch::jit::Method& method : original.get_methods()) {
      const std::set<AttributePath> more = attributes_changed_by(original, method.name());
      changed_.insert(more.begin(), more.end());
    }
  }

  bool is_wanted(Graph& graph) const {
    if (keeps_all_) return true;
    const std::vector<Node*> all = accesses(graph);
    return std::any_of(all.begin(), all.end(), [&](const Node* access) {
      return access->kind() == c10::prim::SetAttr || find(state_, attribute_path(*access)) != nullptr;
    });
  }

  // Returns why a method can't be kept; empty if it can.
  std::string problem(Graph& graph) const {
    const std::string of_attributes = keeps_all_ ? problem_of_values(graph) : problem_of_state(graph);
    if (!of_attributes.empty()) return of_attributes;
    return uses_module(graph) ? "it uses a module as a value" : "";
  }

  // Adds to the state the changed attributes of the method that converted methods don't have.
  void add_own(Graph& graph) {
    for (const Node* access : accesses(graph)) {
      const AttributePath path = attribute_path(*access);
      const bool is_changed = access->kind() == c10::prim::SetAttr || changed_.count(path) != 0;
      if (!is_changed || find(state_, path) != nullptr) continue;
      state_.push_back(state_attribute(state_.size(), path, type_of(*access), attribute_value(original_, path)));
    }
  }

 private:
  std::string problem_of_values(Graph& graph) const {
    for (const Node* access : accesses(graph)) {
      const AttributePath path = attribute_path(*access);
      if (find(state_, path) != nullptr) continue;
      const bool is_changed = access->kind() == c10::prim::SetAttr || changed_.count(path) != 0;
      const bool has_place =
          is_changed ? can_copy_values_of(type_of(*access)) : can_be_constant(attribute_value(original_, path));
      if (!has_place) return fmt::format("its attribute {} is a {}", path_text(path), type_of(*access)->repr_str());
    }
    return "";
  }

  std::string problem_of_state(Graph& graph) const {
    std::set<AttributePath> changed;
    for (const Node* access : accesses(graph)) {
      const AttributePath path = attribute_path(*access);
      if (access->kind() == c10::prim::SetAttr) changed.insert(path);
    }
    for (const Node* access : accesses(graph)) {
      const AttributePath path = attribute_path(*access);
      if (find(state_, path) != nullptr) continue;
      const bool is_own = changed.count(path) != 0 && of_converted_.count(path) == 0;
      if (is_own && can_copy_values_of(type_of(*access))) continue;
      if (changed.count(path) != 0)
        return "it changes the attribute " + path_text(path) + ", which forward reads as a constant";
      if (!is_plain(attribute_value(original_, path))) return "it reads the attribute " + path_text(path);
    }
    return "";
  }

  static bool uses_module(Graph& graph) {
    bool uses = false;
    for_each_node(graph, [&](const Node& node) {
      if (is_access(node) || gives_module(node)) return;
      const auto inputs = node.inputs();
      uses = uses || std::any_of(inputs.begin(), inputs.end(), [](const Value* v) { return v->type()->is_module(); });
    });
    return uses;
  }

  const torch::jit::Module& original_;
  bool keeps_all_;
  std::vector<StateAttribute>& state_;
  std::set<AttributePath> of_converted_;
  std::set<AttributePath> changed_;  // by any method; empty unless all are kept
};

void redirect(Node* access, Value* self, const std::vector<StateAttribute>& state, const torch::jit::Module& original) {
  Graph& graph = *access->owningGraph();
  const torch::jit::WithInsertPoint here(access);
  const AttributePath path = attribute_path(*access);
  const StateAttribute* attribute = find(state, path);
  if (attribute == nullptr) {
    access->output()->replaceAllUsesWith(graph.insertConstant(as_constant(attribute_value(original, path))));
  } else if (access->kind() == c10::prim::GetAttr) {
    Value* read = graph.insertNode(graph.createGetAttr(holder_of_state(graph, self), attribute->name))->output();
    access->output()->replaceAllUsesWith(read);
  } else {
    graph.insertNode(graph.createSetAttr(holder_of_state(graph, self), attribute->name, access->input(1)));
  }
  access->destroy();
}

void leave_out(const std::string& method, const std::string& problem, const MethodChoice& which,
               Diagnostics& diagnostics) {
  if (which.keeps_all && method == "forward") {
    throw ConvertError(ExitCode::kNotConvertible, fmt::format("forward can't stay as it is: {}; convert it, too: "
                                                              "--method forward",
                                                              problem));
  }
  diagnostics.warn(fmt::format("the method {} is left out: {}", method, problem));
}

}  // namespace

std::vector<KeptMethod> kept_methods(const torch::jit::Module& original, const MethodChoice& which,
                                     std::vector<StateAttribute>& state, Diagnostics& diagnostics) {
  if (state.empty() && !which.keeps_all) return {};
  std::vector<KeptMethod> kept;
  Choice choice(original, which, state);
  for (const torch::jit::Method& method : original.get_methods()) {
    const bool is_converted =
        std::find(which.converted.begin(), which.converted.end(), method.name()) != which.converted.end();
    const bool is_of_bundling = which.keeps_all && method.name().find("bundled_input") != std::string::npos;
    if (is_converted || is_of_bundling) continue;
    const std::shared_ptr<Graph> graph = inlined(original, method.name());
    if (!choice.is_wanted(*graph)) continue;
    const std::string problem = choice.problem(*graph);
    if (!problem.empty()) {
      leave_out(method.name(), problem, which, diagnostics);
      continue;
    }
    raise_for_newer_operators(*graph);
    choice.add_own(*graph);
    kept.push_back({method.function().getSchema(), graph, original});
  }
  return kept;
}

void add_state(torch::jit::Module& holder, const std::vector<StateAttribute>& state, ClassCopies& classes) {
  for (const StateAttribute& attribute : state) {
    holder.register_attribute(attribute.name, classes.type(attribute.type), classes.value(attribute.value));
  }
}

Value* holder_of_state(Graph& graph, Value* self) {
  if (!self->type()->expectRef<c10::ClassType>().hasAttribute(kStateHolder)) return self;
  return graph.insertNode(graph.createGetAttr(self, kStateHolder))->output();
}

void add_method(const torch::jit::Module& host, const KeptMethod& method, const std::vector<StateAttribute>& state) {
  Graph& graph = *method.graph;
  const std::vector<Node*> all = accesses(graph);
  Value* self = graph.insertInput(0, "self");
  self->setType(host.type());
  for (Node* access : all) redirect(access, self, state, method.original);
  torch::jit::EliminateDeadCode(method.graph, torch::jit::DCESideEffectPolicy::DONT_DELETE_NODES_WITH_SIDE_EFFECTS);
  graph.eraseInput(1);
  std::vector<c10::Argument> arguments = method.schema.arguments();
  arguments[0] = c10::Argument("self", host.type());
  const std::string name = method.schema.name();
  const c10::QualifiedName full_name(*host.type()->name(), name);
  torch::jit::Function* function = host._ivalue()->compilation_unit()->create_function(full_name, method.graph);
  function->setSchema({name, "", std::move(arguments), method.schema.returns()});
  host.type()->addMethod(function);
}

}  // namespace nnapi_convert
