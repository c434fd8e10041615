// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/reduced_steps.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/autocast.h>
#include <torch/csrc/jit/passes/constant_propagation.h>
#include <torch/csrc/jit/passes/inliner.h>

#include <algorithm>
#include <set>

#include "lib/converter/graph/changed_attributes.h"
#include "lib/converter/graph/float_width.h"
#include "lib/converter/graph/glue.h"
#include "lib/converter/graph/node_reads.h"

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

// Returns the floating-point dtypes of the attributes that the graph reads; Undefined for others.
std::map<AttributePath, at::ScalarType> dtypes_of_attributes(const torch::jit::Module& module, Graph& graph) {
  std::map<AttributePath, at::ScalarType> dtypes;
  for_each_node(graph, [&](const Node& node) {
    if (node.kind() != c10::prim::GetAttr || !has_tensors(*node.output())) return;
    const AttributePath path = attribute_path(node);
    if (path.empty()) return;
    dtypes.emplace(path, float_dtype_in(attribute_value(module, path)).value_or(at::ScalarType::Undefined));
  });
  return dtypes;
}

bool is_any_reduced(const std::map<AttributePath, at::ScalarType>& dtypes) {
  return std::any_of(dtypes.begin(), dtypes.end(), [](const auto& each) { return is_reduced(each.second); });
}

// True if a node makes a tensor in float16 or bfloat16.
bool makes_reduced(Graph& graph) {
  bool makes = false;
  for_each_node(graph, [&](const Node& node) {
    if (makes || node.outputs().size() != 1 || !has_tensors(*node.output())) return;
    const auto constant = torch::jit::toIValue(node.output());
    const auto dtype = constant ? float_dtype_in(*constant) : asked_dtype(node);
    makes = is_autocast(node) || (dtype && is_reduced(*dtype));
  });
  return makes;
}

// True for a node that makes, enters or leaves the object of torch.autocast, and for one that sets its attributes.
bool is_of_autocast(const Node& node) {
  const Value* object = node.kind() == c10::prim::CreateObject ? node.output()
                        : node.inputs().empty()                ? nullptr
                                                               : node.input(0);
  if (object == nullptr) return false;
  const auto type = object->type()->cast<c10::ClassType>();
  return type != nullptr && type->name() && type->name()->name() == "autocast";
}

bool enters_autocast(Graph& graph) {
  bool enters = false;
  for_each_node(
      graph, [&](const Node& node) { enters = enters || (node.kind() == c10::prim::Enter && is_of_autocast(node)); });
  return enters;
}

// Returns which argument of a cast to float16 or bfloat16 is the dtype; nothing for other nodes.
std::optional<size_t> reduced_dtype_input(const Node& node) {
  constexpr size_t kOfAutocast = 4;
  if (!is_autocast(node) && node.kind() != c10::aten::to) return std::nullopt;
  const auto index = is_autocast(node) ? kOfAutocast : node.schema().argumentIndexWithName("dtype").value_or(0);
  if (index == 0 || index >= node.inputs().size()) return std::nullopt;
  const auto dtype = torch::jit::toIValue(node.input(index));
  const bool is_it = dtype && dtype->isInt() && is_reduced(static_cast<at::ScalarType>(dtype->toInt()));
  return is_it ? std::optional<size_t>(index) : std::nullopt;
}

bool is_cast(const Node& node) {
  static const auto kTypeAs = c10::Symbol::fromQualString("aten::type_as");
  return node.kind() == c10::aten::to || node.kind() == kTypeAs || is_autocast(node);
}

}  // namespace

SourceDtypes sources_of_float32_model(const torch::jit::Module& module, Graph& graph, const StatedFloats& arguments) {
  return {at::kFloat, arguments, dtypes_of_attributes(module, graph)};
}

bool may_have_reduced_steps(Graph& graph, const SourceDtypes& sources) {
  return is_any_reduced(sources.attributes) || makes_reduced(graph);
}

void apply_autocast(std::shared_ptr<Graph> graph) {
  if (!enters_autocast(*graph)) return;
  torch::jit::ConstantPropagation(graph);  // the pass needs constants for the object's attributes
  torch::jit::Autocast(graph);
  std::vector<Node*> nodes;
  for_each_node(*graph, [&](Node& node) {
    if (is_of_autocast(node)) nodes.push_back(&node);
  });
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    const bool is_used = std::any_of((*node)->outputs().begin(), (*node)->outputs().end(),
                                     [](const Value* output) { return output->hasUses(); });
    if (!is_used) (*node)->destroy();
  }
}

CastsLeftOpen::CastsLeftOpen(std::shared_ptr<Graph> graph) : graph_(std::move(graph)) {
  for_each_node(*graph_, [&](Node& node) {
    const auto index = reduced_dtype_input(node);
    if (!index) return;
    Value*& input = inputs_[static_cast<at::ScalarType>(torch::jit::toIValue(node.input(*index))->toInt())];
    if (input == nullptr) input = graph_->insertInput(1)->setType(c10::IntType::get());  // behind the input self
    node.replaceInput(*index, input);
  });
}

CastsLeftOpen::~CastsLeftOpen() {
  const torch::jit::WithInsertPoint at_begin(*graph_->nodes().begin());
  for (const auto& [dtype, input] : inputs_) {
    input->replaceAllUsesWith(graph_->insertConstant(static_cast<int64_t>(dtype)));
    graph_->eraseInput(input->offset());
  }
}

bool may_have_reduced_steps(const torch::jit::Module& module) {
  const auto is_any = [](const auto& tensors) {
    for (const at::Tensor& tensor : tensors) {
      if (tensor.defined() && !tensor.is_quantized() && is_reduced(tensor.scalar_type())) return true;
    }
    return false;
  };
  if (is_any(module.parameters()) || is_any(module.buffers())) return true;
  const std::shared_ptr<Graph> graph = module.get_method("forward").graph()->copy();
  torch::jit::Inline(*graph);
  return enters_autocast(*graph) || makes_reduced(*graph);
}

std::vector<at::ScalarType> reduced_steps(Graph& graph, const OriginalDtypes& dtypes) {
  std::set<at::ScalarType> found;
  for_each_node(graph, [&](const Node& node) {
    if (is_cast(node) || is_glue(node) || node.maybeSchema() == nullptr) return;
    for (const Value* input : node.inputs()) {
      const auto dtype = has_tensors(*input) ? dtypes.of(input) : std::nullopt;
      if (dtype && is_reduced(*dtype)) found.insert(*dtype);
    }
  });
  return {found.begin(), found.end()};
}

}  // namespace nnapi_convert
