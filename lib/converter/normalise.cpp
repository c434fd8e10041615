#include "lib/converter/normalise.h"

#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/passes/loop_unrolling.h>
#include <torch/csrc/jit/passes/lower_tuples.h>
#include <torch/csrc/jit/passes/peephole.h>
#include <torch/csrc/jit/passes/remove_mutation.h>

#include "lib/base/error.h"
#include "lib/converter/custom_operators.h"
#include "lib/converter/decompose.h"
#include "lib/converter/freeze.h"
#include "lib/converter/remove_inplace.h"

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::Value;

void read_inputs(NormalisedModel& model, const torch::jit::Module& original) {
  const auto& arguments = original.get_method("forward").function().getSchema().arguments();
  for (size_t i = 1; i < model.graph->inputs().size(); ++i) {  // input 0 is self
    Value* input = model.graph->inputs()[i];
    const std::string& name = arguments[i].name();
    if (input->type()->kind() != c10::TypeKind::TensorType) {
      throw ConvertError(
          ExitCode::kNotConvertible,
          fmt::format("input {} of forward is {}, and inputs have to be tensors; wrap the model in a module "
                      "whose forward takes tensors only",
                      name, input->type()->repr_str()));
    }
    model.inputs.push_back(input);
    model.input_names.push_back(name);
  }
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

NormalisedModel normalise(const LoadedModel& loaded, Diagnostics& diagnostics, bool keeps_effects) {
  declare_custom_operators();
  NormalisedModel model;
  model.frozen = frozen_module(loaded);
  model.graph = model.frozen.get_method("forward").graph()->copy();
  torch::jit::Inline(*model.graph);
  // Loops that run a number of times known now; the lists that they append to are made at once.
  if (torch::jit::UnrollConstantLoops(model.graph)) torch::jit::RemoveListMutation(model.graph);
  torch::jit::LowerSimpleTuples(model.graph);
  torch::jit::PeepholeOptimize(model.graph);
  read_inputs(model, loaded.module);
  remove_inplace(model.graph, diagnostics);
  decompose(model.graph);
  using torch::jit::DCESideEffectPolicy;
  torch::jit::EliminateDeadCode(model.graph, keeps_effects
                                                 ? DCESideEffectPolicy::DONT_DELETE_NODES_WITH_SIDE_EFFECTS
                                                 : DCESideEffectPolicy::ALLOW_DELETING_NODES_WITH_SIDE_EFFECTS);
  if (model.graph->outputs().size() != 1) throw ConvertError(ExitCode::kNotConvertible, "forward returns nothing");
  model.return_tree = read_return(model, model.graph->outputs()[0]);
  return model;
}

}  // namespace nnapi_convert
