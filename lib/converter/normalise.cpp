#include "lib/converter/normalise.h"

#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>

#include "lib/base/error.h"
#include "lib/converter/arguments.h"
#include "lib/converter/containers.h"
#include "lib/converter/custom_operators.h"
#include "lib/converter/decompose.h"
#include "lib/converter/dropped_effects.h"
#include "lib/converter/freeze.h"
#include "lib/converter/node_reads.h"
#include "lib/converter/remove_inplace.h"

namespace nnapi_convert {
namespace {

using torch::jit::Value;

void read_inputs(NormalisedModel& model, const torch::jit::Module& original) {
  const auto& arguments = original.get_method("forward").function().getSchema().arguments();
  for (size_t i = 1; i < model.graph->inputs().size(); ++i) {  // input 0 is self
    Value* input = model.graph->inputs()[i];
    const std::string& name = arguments[i].name();
    if (input->type()->kind() != c10::TypeKind::TensorType) {
      throw ConvertError(
          ExitCode::kNotConvertible,
          fmt::format(
              "input {0} of forward is {1}, and NNAPI runs a model whole only if forward takes tensors only; name "
              "the tensors in it, for example --input {0}[0]=1,3,224,224, to convert parts of it",
              name, input->type()->repr_str()));
    }
    model.inputs.push_back(input);
    model.input_names.push_back(name);
  }
}

// The leaves that are tensors.
void read_leaves(NormalisedModel& model) {
  const std::vector<const ArgumentTree*> all = leaves(model.arguments);
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i]->is_tensor()) continue;
    model.inputs.push_back(model.graph->inputs()[i + 1]);
    model.input_names.push_back(all[i]->path);
  }
}

// What is known of a result of any type.
void read_tensors(NormalisedModel& model, Value* value, ReturnTree& tree) {
  if (value->type()->kind() == c10::TypeKind::TensorType) {
    tree.tensor = model.outputs.size();
    model.outputs.push_back(value);
    return;
  }
  tree.kind = ReturnTree::Kind::kTuple;
  if (value->node()->kind() != c10::prim::TupleConstruct && value->node()->kind() != c10::prim::ListConstruct) return;
  for (Value* element : value->node()->inputs()) read_tensors(model, element, tree.elements.emplace_back());
}

ReturnTree read_return(NormalisedModel& model, Value* value);

ReturnTree read_dict(NormalisedModel& model, const torch::jit::Node& node) {
  ReturnTree tree;
  tree.kind = ReturnTree::Kind::kDict;
  for (size_t i = 0; i < node.inputs().size(); i += 2) {
    const auto key = torch::jit::toIValue(node.input(i));
    if (!key || !key->isString()) {
      throw ConvertError(ExitCode::kNotConvertible, "forward returns a dict whose keys are no constant strings");
    }
    tree.keys.push_back(key->toStringRef());
    tree.elements.push_back(read_return(model, node.input(i + 1)));
  }
  return tree;
}

ReturnTree read_return(NormalisedModel& model, Value* value) {
  ReturnTree tree;
  const auto kind = value->node()->kind();
  if (value->type()->kind() == c10::TypeKind::TensorType) {
    tree.tensor = model.outputs.size();
    model.outputs.push_back(value);
    return tree;
  }
  if (kind == c10::prim::TupleConstruct) {
    tree.kind = ReturnTree::Kind::kTuple;
  } else if (kind == c10::prim::ListConstruct) {
    tree.kind = ReturnTree::Kind::kList;
  } else if (kind == c10::prim::DictConstruct) {
    return read_dict(model, *value->node());
  } else {
    throw ConvertError(
        ExitCode::kNotConvertible,
        fmt::format("forward returns {} made by {}; tensors, and tuples, lists and dicts of them can be returned",
                    value->type()->repr_str(), kind.toQualString()));
  }
  for (Value* element : value->node()->inputs()) tree.elements.push_back(read_return(model, element));
  return tree;
}

}  // namespace

namespace {

NormalisedModel frozen_model(const LoadedModel& loaded) {
  declare_custom_operators();
  NormalisedModel model;
  model.frozen = frozen_module(loaded);
  model.graph = model.frozen.get_method("forward").graph()->copy();
  if (model.graph->outputs().size() != 1) throw ConvertError(ExitCode::kNotConvertible, "forward returns nothing");
  return model;
}

// True if the graph puts tensors into lists or dicts, or takes them out, in place.
bool changes_containers(torch::jit::Graph& graph) {
  bool changes = false;
  for (torch::jit::Node* outer : graph.nodes()) {
    for_each_node(*outer, [&](const torch::jit::Node& node) {
      const c10::FunctionSchema* schema = node.maybeSchema();
      const auto kind = node.inputs().empty() ? c10::TypeKind::NoneType : node.input(0)->type()->kind();
      const bool is_container = kind == c10::TypeKind::ListType || kind == c10::TypeKind::DictType;
      changes = changes || (is_container && schema != nullptr && schema->is_mutable());
    });
  }
  return changes;
}

void make_canonical(NormalisedModel& model, Diagnostics& diagnostics, torch::jit::DCESideEffectPolicy effects) {
  remove_inplace(model.graph, diagnostics);
  decompose(model.graph);
  torch::jit::EliminateDeadCode(model.graph, effects);
}

}  // namespace

NormalisedModel normalise(const LoadedModel& loaded, Diagnostics& diagnostics) {
  NormalisedModel model = frozen_model(loaded);
  if (changes_containers(*model.graph)) simplify_containers(model.graph);
  read_inputs(model, loaded.module);
  warn_of_dropped_effects(*model.graph, diagnostics);
  make_canonical(model, diagnostics, torch::jit::DCESideEffectPolicy::ALLOW_DELETING_NODES_WITH_SIDE_EFFECTS);
  model.return_tree = read_return(model, model.graph->outputs()[0]);
  return model;
}

NormalisedModel normalise_for_parts(const LoadedModel& loaded, const std::vector<std::string>& input_names,
                                    Diagnostics& diagnostics) {
  NormalisedModel model = frozen_model(loaded);
  const c10::FunctionSchema& schema = loaded.module.get_method("forward").function().getSchema();
  model.arguments =
      read_arguments(schema, input_names, loaded.bundled_inputs.empty() ? nullptr : &loaded.bundled_inputs[0]);
  flatten_arguments(*model.graph, model.arguments);
  read_leaves(model);
  simplify_containers(model.graph);
  make_canonical(model, diagnostics, torch::jit::DCESideEffectPolicy::DONT_DELETE_NODES_WITH_SIDE_EFFECTS);
  read_tensors(model, model.graph->outputs()[0], model.return_tree);
  return model;
}

}  // namespace nnapi_convert
