// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/normalise.h"

#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>

#include <algorithm>
#include <cmath>

#include "lib/base/error.h"
#include "lib/base/options_needed.h"
#include "lib/converter/frontend/arguments.h"
#include "lib/converter/frontend/bound_arguments.h"
#include "lib/converter/frontend/containers.h"
#include "lib/converter/frontend/dropped_effects.h"
#include "lib/converter/frontend/freeze.h"
#include "lib/converter/frontend/hidden_changes.h"
#include "lib/converter/frontend/nested_tensors.h"
#include "lib/converter/frontend/remove_inplace.h"
#include "lib/converter/frontend/stored_attributes.h"
#include "lib/converter/graph/changed_attributes.h"
#include "lib/converter/graph/filled_state.h"
#include "lib/converter/graph/float_width.h"
#include "lib/converter/graph/glue.h"
#include "lib/converter/graph/node_reads.h"
#include "lib/converter/load/custom_operators.h"
#include "lib/serialize/source_text.h"

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::Value;

std::vector<c10::IValue> constant_keys(const torch::jit::Node& dict) {
  std::vector<c10::IValue> keys;
  for (size_t i = 0; i < dict.inputs().size(); i += 2) {
    const auto key = torch::jit::toIValue(dict.input(i));
    if (key && is_named_key(*key->type())) keys.push_back(*key);
  }
  return keys;
}

}  // namespace

bool has_known_elements(const torch::jit::Node& node) {
  if (!is_glue(node)) return false;
  return node.kind() != c10::prim::DictConstruct || 2 * constant_keys(node).size() == node.inputs().size();
}

namespace {

bool is_container(const c10::Type& type) {
  return type.kind() == c10::TypeKind::ListType || type.kind() == c10::TypeKind::TupleType ||
         type.kind() == c10::TypeKind::DictType;
}

// True if --input names a tensor in the argument.
bool is_named(const std::string& argument, const NormaliseOptions& options) {
  return std::any_of(options.input_names.begin(), options.input_names.end(), [&](const std::string& name) {
    return name.size() > argument.size() && name.rfind(argument, 0) == 0 &&
           (name[argument.size()] == '[' || name[argument.size()] == '.');
  });
}

std::string hint_for_parts(const std::string& name, const c10::TypePtr& type, const NormaliseOptions& options) {
  if (!is_container(*type) || is_named(name, options)) {
    return hint_to_bind(name, type) + (options.may_split ? "" : "; --fallback partition converts it in parts");
  }
  return fmt::format("; name the tensors in it, for example --input '{}=1,3,224,224', to convert parts of it",
                     example_name(name, type));
}

// Asks for the tensors in a list: detectors take a list of pictures, each without a batch.
[[noreturn]] void ask_for_pictures(const std::string& name) {
  const std::string picture = name + "[0]=3,224,224";
  throw OptionsNeeded(ExitCode::kNotConvertible,
                      fmt::format("input {} of forward is List[Tensor]: name the tensors in it, for example --input "
                                  "'{}', to convert parts of the model",
                                  name, picture),
                      {"--input", picture});
}

// True for an argument that has one value, or whose parts all have. A tensor may be changed in place, which its caller
// sees: it stays an input.
bool is_bound(const ArgumentTree& tree, const BoundValues& bound) {
  if (bound.count(tree.path) != 0) return !tree.bound.isTensor();
  return !tree.elements.empty() && std::all_of(tree.elements.begin(), tree.elements.end(),
                                               [&](const ArgumentTree& part) { return is_bound(part, bound); });
}

// Returns the names of the arguments that the graph's inputs are for. Takes bound inputs out of the graph, where
// nothing reads them any more: the module around NNAPI checks their values.
std::vector<std::string> names_of_inputs(NormalisedModel& model, const LoadedModel& loaded,
                                         const NormaliseOptions& options) {
  const c10::FunctionSchema& schema = loaded.module.get_method("forward").function().getSchema();
  ForwardArguments arguments;
  if (!loaded.bound.empty()) arguments = read_arguments(schema, options.input_names, loaded.example(), loaded.bound);
  std::vector<std::string> names;
  for (size_t i = 1; i < schema.arguments().size(); ++i) {  // argument and input 0 are self
    const size_t number = names.size() + 1;
    const bool may_go = !arguments.empty() && is_bound(arguments[i - 1].tree, loaded.bound);
    if (may_go && model.graph->inputs()[number]->uses().empty()) {
      model.graph->eraseInput(number);
      model.arguments = arguments;
    } else {
      names.push_back(schema.arguments()[i].name());
    }
  }
  return names;
}

void read_inputs(NormalisedModel& model, const LoadedModel& loaded, const NormaliseOptions& options) {
  const std::vector<std::string> names = names_of_inputs(model, loaded, options);
  for (size_t i = 1; i < model.graph->inputs().size(); ++i) {
    Value* input = model.graph->inputs()[i];
    const std::string& name = names.at(i - 1);
    if (loaded.bound.count(name) != 0) {
      throw ConvertError(ExitCode::kNotConvertible,
                         fmt::format("input {} of forward is bound to a tensor, which TorchScript compares with a "
                                     "call's: NNAPI runs a model whole only if forward takes tensors of any values{}",
                                     name, options.may_split ? "" : "; --fallback partition converts it in parts"));
    }
    const bool is_list = input->type()->isSubtypeOf(*c10::ListType::ofTensors());
    const bool is_told = loaded.example() != nullptr || !options.input_names.empty();
    if (is_list && options.may_split && !is_told) ask_for_pictures(name);
    if (input->type()->kind() != c10::TypeKind::TensorType) {
      throw ConvertError(ExitCode::kNotConvertible,
                         fmt::format("input {} of forward is {}, and NNAPI runs a model whole only if forward takes "
                                     "tensors only{}",
                                     name, input->type()->repr_str(), hint_for_parts(name, input->type(), options)));
    }
    model.inputs.push_back(input);
    model.input_names.push_back(name);
  }
}

// Finds the inputs that are tensors.
void read_leaves(NormalisedModel& model) {
  const std::vector<const ArgumentTree*> all = leaves(model.arguments);
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i]->is_tensor()) continue;
    model.inputs.push_back(model.graph->inputs()[i + 1]);
    model.input_names.push_back(all[i]->path);
  }
}

ReturnTree::Kind kind_of(const torch::jit::Node& container) {
  if (container.kind() == c10::prim::DictConstruct) return ReturnTree::Kind::kDict;
  return container.kind() == c10::prim::ListConstruct ? ReturnTree::Kind::kList : ReturnTree::Kind::kTuple;
}

// Returns the numbers of the container node's inputs that are elements, not keys of a dict.
std::vector<size_t> element_inputs(const torch::jit::Node& container) {
  std::vector<size_t> numbers;
  const size_t step = container.kind() == c10::prim::DictConstruct ? 2 : 1;
  for (size_t i = step - 1; i < container.inputs().size(); i += step) numbers.push_back(i);
  return numbers;
}

// Collects the tensors that are known in a result of any type.
void read_tensors(NormalisedModel& model, Value* value, ReturnTree& tree) {
  if (value->type()->kind() == c10::TypeKind::TensorType) {
    tree.tensor = model.outputs.size();
    model.outputs.push_back(value);
    return;
  }
  const torch::jit::Node& node = *value->node();
  tree.kind = has_known_elements(node) ? kind_of(node) : ReturnTree::Kind::kOther;
  if (tree.kind == ReturnTree::Kind::kOther) return;
  if (tree.kind == ReturnTree::Kind::kDict) tree.keys = constant_keys(node);
  for (const size_t number : element_inputs(node)) {
    read_tensors(model, const_cast<Value*>(node.input(number)), tree.elements.emplace_back());
  }
}

// Returns the value with `outputs`, from number `next` on, in the place of the tensors that read_tensors() found.
Value* with_tensors(Graph& graph, Value* value, const std::vector<Value*>& outputs, size_t& next) {
  if (value->type()->kind() == c10::TypeKind::TensorType) return outputs[next++];
  torch::jit::Node* node = value->node();
  if (!has_known_elements(*node)) return value;
  torch::jit::Node* copy = graph.createClone(node, [](Value* input) { return input; });
  bool is_same = true;
  for (const size_t number : element_inputs(*node)) {
    Value* element = with_tensors(graph, node->input(number), outputs, next);
    is_same = is_same && element == node->input(number);
    copy->replaceInput(number, element);
  }
  if (is_same) {
    copy->destroy();
    return value;
  }
  return copy->insertBefore(graph.return_node())->output();
}

// Returns the type of element `number` in a container that forward declares as of type `declared`; that of `element` if
// the container is declared in another way.
c10::TypePtr declared_element(const c10::TypePtr& declared, size_t number, const Value& element) {
  if (const auto tuple = declared->cast<c10::TupleType>()) {
    return number < tuple->elements().size() ? tuple->elements()[number] : element.type();
  }
  if (const auto list = declared->cast<c10::ListType>()) return list->getElementType();
  if (const auto dict = declared->cast<c10::DictType>()) return dict->getValueType();
  return element.type();
}

bool is_plain_constant(const c10::IValue& value) {
  if (value.isDouble()) return std::isfinite(value.toDouble());
  return value.isNone() || value.isInt() || value.isBool() || value.isString();
}

// Makes nodes of a constant list, tuple or dict, and returns the first of them.
Value* as_construction(Graph& graph, Value* constant) {
  const auto value = torch::jit::toIValue(constant);
  const bool is_container = value && (value->isTuple() || value->isList() || value->isGenericDict());
  if (!is_container) return constant;
  torch::jit::WithInsertPoint at_end(graph.return_node());
  std::vector<Value*> elements;
  if (value->isTuple()) {
    for (const c10::IValue& each : value->toTupleRef().elements()) elements.push_back(graph.insertConstant(each));
    const auto type = constant->type()->cast<c10::TupleType>();
    return graph.insertNode(graph.createTuple(elements, type && type->schema() ? type : nullptr))->output();
  }
  if (value->isList()) {
    for (const c10::IValue& each : value->toListRef()) elements.push_back(graph.insertConstant(each));
    const auto type = constant->type()->expectRef<c10::ListType>().getElementType();
    return graph.insertNode(graph.createList(type, elements))->output();
  }
  std::vector<Value*> keys;
  for (const auto& entry : value->toGenericDict()) {
    keys.push_back(graph.insertConstant(entry.key()));
    elements.push_back(graph.insertConstant(entry.value()));
  }
  const auto& type = constant->type()->expectRef<c10::DictType>();
  return graph.insertNode(graph.createDict(type.getKeyType(), type.getValueType(), keys, elements))->output();
}

[[noreturn]] void refuse_return(const torch::jit::Node& maker, const c10::Type& type) {
  const std::string where = source_of(maker);
  throw ConvertError(
      ExitCode::kNotConvertible,
      fmt::format("forward returns a value of type {} that {}{} makes; NNAPI runs a model whole only if it returns "
                  "tensors and constants, and tuples, lists and dicts whose elements are known before it runs",
                  type.repr_str(), maker.kind().toQualString(), where.empty() ? "" : " at " + where));
}

ReturnTree read_return(NormalisedModel& model, Value* value, const c10::TypePtr& declared);

ReturnTree read_dict(NormalisedModel& model, const torch::jit::Node& node, const c10::TypePtr& declared) {
  ReturnTree tree;
  tree.kind = ReturnTree::Kind::kDict;
  tree.declared = declared;
  for (size_t i = 0; i < node.inputs().size(); i += 2) {
    const auto key = torch::jit::toIValue(node.input(i));
    if (!key || !is_named_key(*key->type())) {
      throw ConvertError(ExitCode::kNotConvertible, "forward returns a dict whose keys are no constants");
    }
    tree.keys.push_back(*key);
    Value* element = const_cast<Value*>(node.input(i + 1));
    tree.elements.push_back(read_return(model, element, declared_element(declared, 0, *element)));
  }
  return tree;
}

ReturnTree read_return(NormalisedModel& model, Value* value, const c10::TypePtr& declared) {
  ReturnTree tree;
  tree.declared = declared;
  if (value->type()->kind() == c10::TypeKind::TensorType) {
    tree.tensor = model.outputs.size();
    model.outputs.push_back(value);
    return tree;
  }
  const auto constant = torch::jit::toIValue(value);
  if (constant && is_plain_constant(*constant)) {
    tree.kind = ReturnTree::Kind::kConstant;
    tree.constant = *constant;
    return tree;
  }
  torch::jit::Node& node = *as_construction(*model.graph, value)->node();
  if (node.kind() == c10::prim::TupleConstruct) {
    tree.kind = ReturnTree::Kind::kTuple;
    const auto type = value->type()->cast<c10::TupleType>();
    if (type != nullptr && type->name()) tree.named = type;
  } else if (node.kind() == c10::prim::ListConstruct) {
    tree.kind = ReturnTree::Kind::kList;
  } else if (node.kind() == c10::prim::DictConstruct) {
    return read_dict(model, node, declared);
  } else {
    refuse_return(node, *value->type());
  }
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    tree.elements.push_back(read_return(model, node.input(i), declared_element(declared, i, *node.input(i))));
  }
  return tree;
}

}  // namespace

namespace {

NormalisedModel model_of(const FrozenModule& frozen) {
  declare_custom_operators();
  NormalisedModel model;
  model.frozen = frozen.module;
  model.graph = model.frozen.get_method("forward").graph()->copy();
  if (model.graph->outputs().size() != 1) throw ConvertError(ExitCode::kNotConvertible, "forward returns nothing");
  read_stored_attributes(*model.graph);
  return model;
}

// True if the graph puts tensors into lists or dicts, or takes them out, in place.
bool changes_containers(Graph& graph) {
  bool changes = false;
  for_each_node(graph, [&](const torch::jit::Node& node) {
    const c10::FunctionSchema* schema = node.maybeSchema();
    const auto kind = node.inputs().empty() ? c10::TypeKind::NoneType : node.input(0)->type()->kind();
    const bool is_container = kind == c10::TypeKind::ListType || kind == c10::TypeKind::DictType;
    changes = changes || (is_container && schema != nullptr && schema->is_mutable());
  });
  return changes;
}

void make_canonical(NormalisedModel& model, Diagnostics& diagnostics, torch::jit::DCESideEffectPolicy effects) {
  remove_changes_in_place(model, diagnostics);
  separate_copies(*model.graph);
  pad_nested_tensors(model);
  torch::jit::EliminateDeadCode(model.graph, effects);
}

}  // namespace

namespace {

// Refuses attributes that forward changes and that other methods read: the changes would be dropped, as forward doesn't
// read them again.
void check_effects_on_methods(const NormalisedModel& model, const LoadedModel& loaded, bool may_split) {
  if (loaded.read_elsewhere.empty()) return;
  for (const AttributePath& path : attributes_changed_by(model.frozen, "forward")) {
    if (loaded.read_elsewhere.count(path) == 0) continue;
    throw ConvertError(ExitCode::kNotConvertible,
                       fmt::format("it changes the attribute {}, which other methods read, and NNAPI alone keeps no "
                                   "state{}",
                                   path_text(path), may_split ? "" : "; --fallback partition converts it in parts"));
  }
}

void normalise_for_nnapi(NormalisedModel& model, const LoadedModel& loaded, const NormaliseOptions& options,
                         Diagnostics& diagnostics) {
  check_effects_on_methods(model, loaded, options.may_split);
  if (changes_containers(*model.graph)) simplify_containers(model.graph);
  read_inputs(model, loaded, options);
  warn_of_dropped_effects(*model.graph, diagnostics);
  make_canonical(model, diagnostics, torch::jit::DCESideEffectPolicy::ALLOW_DELETING_NODES_WITH_SIDE_EFFECTS);
  const auto& returns = loaded.module.get_method("forward").function().getSchema().returns();
  model.return_tree = read_return(model, model.graph->outputs()[0], returns[0].type());
}

void normalise_for_both(NormalisedModel& model, const LoadedModel& loaded, const std::vector<std::string>& input_names,
                        Diagnostics& diagnostics) {
  const c10::FunctionSchema& schema = loaded.module.get_method("forward").function().getSchema();
  model.arguments = read_arguments(schema, input_names, loaded.example(), loaded.bound);
  model.declared = schema.returns()[0].type();
  flatten_arguments(*model.graph, model.arguments);
  read_leaves(model);
  simplify_containers(model.graph);
  make_canonical(model, diagnostics, torch::jit::DCESideEffectPolicy::DONT_DELETE_NODES_WITH_SIDE_EFFECTS);
  warn_of_unbound(*model.graph, model.arguments, diagnostics);
  mark_filled_state(model);
  find_outputs(model);
}

}  // namespace

NormalisedModel normalise(const LoadedModel& loaded, const NormaliseOptions& options, Diagnostics& diagnostics) {
  return normalise(loaded, frozen_module(loaded), options, diagnostics);
}

NormalisedModel normalise(const LoadedModel& loaded, const FrozenModule& frozen, const NormaliseOptions& options,
                          Diagnostics& diagnostics) {
  NormalisedModel model = model_of(frozen);
  model.run_by = options.run_by;
  if (const auto width = width_of(loaded)) warn_of_float_width(*width, diagnostics);
  warn_of_reduced_steps(frozen.reduced_steps, diagnostics);
  for (const Warning& warning : frozen.warnings) diagnostics.warn(warning);
  if (options.run_by == RunBy::kNnapi) {
    normalise_for_nnapi(model, loaded, options, diagnostics);
  } else {
    normalise_for_both(model, loaded, options.input_names, diagnostics);
  }
  return model;
}

void remove_changes_in_place(NormalisedModel& model, Diagnostics& diagnostics) {
  for (const Value* input : remove_inplace(model.graph, diagnostics)) {
    const auto found = std::find(model.inputs.begin(), model.inputs.end(), input);
    if (found != model.inputs.end()) model.changed_inputs.push_back(static_cast<size_t>(found - model.inputs.begin()));
  }
}

void find_outputs(NormalisedModel& model) {
  model.outputs.clear();
  model.return_tree = {};
  read_tensors(model, model.graph->outputs()[0], model.return_tree);
}

void return_outputs(NormalisedModel& model) {
  size_t next = 0;
  Value* result = with_tensors(*model.graph, model.graph->outputs()[0], model.outputs, next);
  model.graph->return_node()->replaceInput(0, result);
}

}  // namespace nnapi_convert
