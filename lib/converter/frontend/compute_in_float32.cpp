// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/compute_in_float32.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

#include "lib/base/error.h"
#include "lib/converter/frontend/cast_values.h"
#include "lib/converter/frontend/original_dtypes.h"
#include "lib/converter/frontend/reduced_steps.h"
#include "lib/converter/graph/float_width.h"
#include "lib/converter/graph/glue.h"
#include "lib/converter/graph/node_reads.h"
#include "lib/ops/op_arguments.h"
#include "lib/ops/plain_calls.h"
#include "lib/ops/registry.h"

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

// Says which dtypes become float32.
using IsOther = bool (*)(at::ScalarType);

// True if an operator reads the value as integer indices. A cast would hide the input from the search for index ranges.
bool is_read_as_indices(const Value& value) {
  return std::any_of(value.uses().begin(), value.uses().end(), [](const torch::jit::Use& use) {
    const Index index = find_traits(*use.user).index;
    if (index == Index::kClass) return use.offset == 0;
    const c10::FunctionSchema* schema = use.user->maybeSchema();
    if (schema == nullptr || (index != Index::kRows && index != Index::kAlongDim)) return false;
    const std::string& name = schema->arguments().at(use.offset).name();
    return name == "index" || name == "indices";
  });
}

// True for an optional container that may be changed. It is None where the model is used, as the targets of a detector
// are, and stays as it is; a cast container would be another one, and changes of it would be lost.
bool is_left_as_it_is(const Value& input, OriginalDtypes& dtypes) {
  return input.type()->kind() == c10::TypeKind::OptionalType && dtypes.containers().is_changed(&input);
}

void require_unchanged(Graph& graph, OriginalDtypes& dtypes, IsOther is_other) {
  for (size_t i = 1; i < graph.inputs().size(); ++i) {  // input 0 is self
    const Value& input = *graph.inputs()[i];
    if (!is_container_of_tensors(input) || !dtypes.containers().is_changed(&input)) continue;
    if (is_left_as_it_is(input, dtypes) || !is_other(dtypes.sources().of_argument(i))) continue;
    refuse_widths(fmt::format("argument {} of forward, {}, may be changed", i, input.type()->repr_str()));
  }
}

void replace_uses(Value* value, const std::function<Value*()>& replacement) {
  std::vector<torch::jit::Use> uses = value->uses();  // a copy: the replacement may use the value, too
  Value* made = replacement();
  for (const torch::jit::Use& use : uses) use.user->replaceInput(use.offset, made);
}

void cast_inputs(Graph& graph, OriginalDtypes& dtypes, IsOther is_other) {
  const torch::jit::WithInsertPoint at_start(*graph.nodes().begin());
  for (size_t i = 1; i < graph.inputs().size(); ++i) {  // input 0 is self
    Value* input = graph.inputs()[i];
    if (!has_tensors(*input) || (is_plain_tensor(*input) && is_read_as_indices(*input))) continue;
    if (input->uses().empty() || is_left_as_it_is(*input, dtypes)) continue;
    if (!is_other(dtypes.sources().of_argument(i))) continue;
    replace_uses(input, [&] { return insert_cast(graph, input, {at::kFloat}); });
  }
}

// Casts each tensor of a container that isn't made in one place. Tensors whose key isn't known may have any key.
Value* cast_container(Graph& graph, Value* value, OriginalDtypes& dtypes) {
  std::map<std::string, std::set<at::ScalarType>> found = dtypes.all_in(value);
  const std::set<at::ScalarType> without_key = found[""];
  CastTarget target{without_key.empty() ? dtypes.sources().others : *without_key.begin()};
  bool is_changed = false;
  for (auto& [key, all] : found) {
    all.insert(without_key.begin(), without_key.end());
    if (all.size() > 1) {
      std::vector<std::string> names;
      for (const at::ScalarType dtype : all) names.emplace_back(dtype_name(dtype));
      std::sort(names.begin(), names.end());
      refuse_widths(fmt::format("{}: a result, {}, may hold tensors of several dtypes: {}", source_of(*value->node()),
                                value->type()->repr_str(), fmt::join(names, " and ")));
    }
    if (all.empty()) continue;
    if (*all.begin() != target.dtype) target.by_key[key] = *all.begin();
    is_changed = is_changed || *all.begin() != at::kFloat;
  }
  return is_changed ? insert_cast(graph, value, target) : value;
}

// Casts each tensor of a result. Looks into the nodes that make the result's lists and tuples.
Value* cast_result(Graph& graph, Value* value, OriginalDtypes& dtypes) {
  Node* node = value->node();
  if (is_plain_tensor(*value)) {
    const std::optional<at::ScalarType> dtype = dtypes.of(value);
    return dtype && *dtype != at::kFloat ? insert_cast(graph, value, {*dtype}) : value;
  }
  if (!is_container_of_tensors(*value)) return value;
  if (!is_glue(*node)) return cast_container(graph, value, dtypes);
  std::vector<Value*> elements;
  for (Value* input : node->inputs()) elements.push_back(cast_result(graph, input, dtypes));
  Node* copy = graph.createClone(node, [](Value* input) { return input; });
  for (size_t i = 0; i < elements.size(); ++i) copy->replaceInput(i, elements[i]);
  return graph.insertNode(copy)->output();
}

bool is_store(const Node& node) {
  return node.kind() == c10::prim::SetAttr && has_tensors(*node.input(1));
}

bool is_read(const Node& node) {
  return node.kind() == c10::prim::GetAttr && has_tensors(*node.output());
}

// Returns the arguments of the node that have tensors, and that it changes in place.
std::vector<const Value*> changed_by(const Node& node) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  std::vector<const Value*> changed;
  for (size_t i = 0; schema != nullptr && i < schema->arguments().size(); ++i) {
    const auto* alias = schema->arguments()[i].alias_info();
    if (alias != nullptr && alias->isWrite() && has_tensors(*node.input(i))) changed.push_back(node.input(i));
  }
  return changed;
}

bool is_in_loop(const Node& node) {
  const Node* owner = node.owningBlock()->owningNode();
  return owner != nullptr && (owner->kind() == c10::prim::Loop || is_in_loop(*owner));
}

// True if a node that may run later changes in place what `access` reads from an attribute or stores in it: the
// tensors, or the list or dict itself.
bool is_changed_later(Node& access, const std::vector<Node*>& changes, ContainerGroups& containers) {
  const Value* value = is_store(access) ? access.input(1) : access.output();
  std::unordered_set<const Value*> origins;
  containers.add_origins(value, origins);
  return std::any_of(changes.begin(), changes.end(), [&](Node* change) {
    if (!change->isAfter(&access) && !is_in_loop(access)) return false;
    const std::vector<const Value*> changed = changed_by(*change);
    return std::any_of(changed.begin(), changed.end(), [&](const Value* each) {
      if (!is_plain_tensor(*each)) return !is_plain_tensor(*value) && containers.is_same_group(each, value);
      std::unordered_set<const Value*> of_each;
      containers.add_origins(each, of_each);
      return std::any_of(of_each.begin(), of_each.end(), [&](const Value* one) { return origins.count(one) != 0; });
    });
  });
}

// Casts what is read from the attributes that change, and what is stored in them. A tensor that is changed in place
// later stays as it is: a cast one would be another tensor.
void cast_attributes(Graph& graph, OriginalDtypes& dtypes, IsOther is_other) {
  std::vector<Node*> accesses, changes;
  for_each_node(graph, [&](Node& node) {
    if (is_read(node) || is_store(node)) accesses.push_back(&node);
    if (!changed_by(node).empty()) changes.push_back(&node);
  });
  std::vector<Node*> cast_ones;
  for (Node* node : accesses) {
    Value* value = is_store(*node) ? node->input(1) : node->output();
    if (!is_changed_later(*node, changes, dtypes.containers())) {
      cast_ones.push_back(node);
    } else if (!is_plain_tensor(*value) && is_other(dtypes.sources().of_attribute(*node))) {
      refuse_widths(fmt::format("{}: it changes attribute {}, {}, in place", source_of(*node), node->s(c10::attr::name),
                                value->type()->repr_str()));
    }
  }
  for (Node* node : cast_ones) {
    const torch::jit::WithInsertPoint place(is_store(*node) ? node : node->next());
    if (is_store(*node)) {
      node->replaceInput(1, cast_result(graph, node->input(1), dtypes));
    } else if (node->hasUses() && is_other(dtypes.sources().of_attribute(*node))) {
      replace_uses(node->output(), [&] { return insert_cast(graph, node->output(), {at::kFloat}); });
    }
  }
}

bool has_other_width(const at::Tensor& tensor, IsOther is_other) {
  return tensor.defined() && !tensor.is_quantized() && is_other(tensor.scalar_type());
}

at::Tensor in_float32(const at::Tensor& tensor, IsOther is_other) {
  return has_other_width(tensor, is_other) ? tensor.detach().to(at::kFloat) : tensor;
}

// Turns a constant tensor, or a constant list of tensors such as the weights of LSTM and GRU, into float32.
void make_constant_float32(Node& node, IsOther is_other) {
  const auto constant = torch::jit::toIValue(node.output());
  if (constant->isTensor() && has_other_width(constant->toTensor(), is_other)) {
    node.t_(c10::attr::value, in_float32(constant->toTensor(), is_other));
    node.output()->inferTypeFrom(node.t(c10::attr::value));
  }
  if (!constant->isTensorList()) return;
  c10::List<at::Tensor> list;
  for (const at::Tensor& tensor : constant->toTensorVector()) list.push_back(in_float32(tensor, is_other));
  node.ival_(c10::attr::value, list);
}

void make_float32(Node& node, IsOther is_other) {
  if (node.kind() == c10::prim::Constant) return make_constant_float32(node, is_other);
  if (is_autocast(node)) {
    node.output()->replaceAllUsesWith(node.input(0));
    return node.destroy();
  }
  const auto asked = asked_dtype(node);
  if (!asked || !is_other(*asked)) return;
  PlainCalls plain(&node);
  node.replaceInput(static_cast<size_t>(*node.schema().argumentIndexWithName("dtype")),
                    plain.constant(static_cast<int64_t>(at::kFloat)));
}

void make_all_float32(Graph& graph, OriginalDtypes& dtypes, IsOther is_other) {
  require_unchanged(graph, dtypes, is_other);
  std::vector<Node*> originals;
  for_each_node(graph, [&](Node& node) { originals.push_back(&node); });
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const torch::jit::WithInsertPoint at_end(graph.return_node());
    graph.return_node()->replaceInput(i, cast_result(graph, graph.outputs()[i], dtypes));
  }
  cast_attributes(graph, dtypes, is_other);
  for (Node* node : originals) make_float32(*node, is_other);
  cast_inputs(graph, dtypes, is_other);
}

}  // namespace

void compute_in_float32(const std::shared_ptr<Graph>& graph, at::ScalarType width, const StatedFloats& arguments) {
  OriginalDtypes dtypes(*graph, {width, arguments, {}});
  make_all_float32(*graph, dtypes, is_other_width);
}

std::vector<at::ScalarType> compute_steps_in_float32(const torch::jit::Module& module,
                                                     const std::shared_ptr<Graph>& graph,
                                                     const StatedFloats& arguments) {
  const SourceDtypes sources = sources_of_float32_model(module, *graph, arguments);
  if (!may_have_reduced_steps(*graph, sources)) return {};
  OriginalDtypes dtypes(*graph, sources);
  std::vector<at::ScalarType> found = reduced_steps(*graph, dtypes);
  if (!found.empty()) make_all_float32(*graph, dtypes, is_reduced);
  return found;
}

}  // namespace nnapi_convert
