// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/emit/segment_on_cpu.h"

#include <fmt/format.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/passes/inliner.h>

#include <optional>
#include <unordered_map>
#include <utility>

#include "lib/converter/emit/emit_cpu.h"
#include "lib/converter/graph/recognised_forms.h"

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

// Finds the tensors of a result in the nodes that make its lists, tuples and dicts. Returns false if other nodes make
// it.
bool find_tensors(const ReturnTree& tree, Value* value, std::vector<Value*>& tensors) {
  if (tree.kind == ReturnTree::Kind::kTensor) {
    tensors.at(tree.tensor) = value;
    return true;
  }
  if (tree.kind == ReturnTree::Kind::kConstant) return true;
  const Node& node = *value->node();
  const bool is_dict = tree.kind == ReturnTree::Kind::kDict;
  const auto kind = is_dict                                ? c10::prim::DictConstruct
                    : tree.kind == ReturnTree::Kind::kList ? c10::prim::ListConstruct
                                                           : c10::prim::TupleConstruct;
  const size_t each = is_dict ? 2 : 1;
  if (node.kind() != kind || node.inputs().size() != each * tree.elements.size()) return false;
  for (size_t i = 0; i < tree.elements.size(); ++i) {
    if (!find_tensors(tree.elements[i], node.input(each * i + each - 1), tensors)) return false;
  }
  return true;
}

uint64_t constant_bytes(const Graph& graph) {
  uint64_t bytes = 0;
  for (const Node* node : graph.nodes()) {
    if (node->kind() != c10::prim::Constant) continue;
    const std::optional<c10::IValue> value = torch::jit::toIValue(node->output());
    if (value && value->isTensor()) bytes += value->toTensor().nbytes();
  }
  return bytes;
}

// Gives a tensor of the caller the form of NNAPI's output. Returns nothing if NNAPI changes its rank, and the sizes are
// open or the output is NHWC.
std::optional<Value*> physical(Graph& graph, Value* tensor, const InterfaceOutput& output,
                               const nnapi::Boundary& boundary, const nnapi::Operand& operand) {
  if (output.dtype == at::kLong) tensor = graph.insert(c10::aten::to, {tensor, at::kInt});
  if (output.shape) {
    if (!all_fixed(operand.dims) || boundary.nhwc) return std::nullopt;
    std::vector<int64_t> sizes;
    for (const Dim& dim : operand.dims) sizes.push_back(dim.value());
    return graph.insert(c10::aten::reshape, {tensor, sizes});
  }
  return boundary.nhwc ? graph.insert(c10::aten::permute, {tensor, std::vector<int64_t>{0, 2, 3, 1}}) : tensor;
}

// Returns a copy of `graph` whose result is a tuple of NNAPI's outputs. `tensors` are those of the interface's outputs.
std::shared_ptr<Graph> with_outputs(const std::shared_ptr<Graph>& graph, const std::vector<Value*>& tensors,
                                    const NnapiPart& part, bool is_raw) {
  auto copy = std::make_shared<Graph>();
  std::unordered_map<Value*, Value*> copies;
  for (Value* input : graph->inputs()) copies[input] = copy->addInput()->copyMetadata(input);
  for (Node* node : graph->nodes()) {
    Node* made = copy->appendNode(copy->createClone(node, [&](Value* value) { return copies.at(value); }));
    for (size_t i = 0; i < node->outputs().size(); ++i) copies[node->output(i)] = made->output(i);
  }
  std::vector<Value*> outputs;
  for (size_t i = 0; i < part.model.outputs.size(); ++i) {
    const nnapi::Boundary& boundary = part.model.outputs[i];
    for (size_t k = 0; k < part.interface.outputs.size() && outputs.size() == i; ++k) {
      const InterfaceOutput& output = part.interface.outputs[k];
      if (output.source != InterfaceOutput::Source::kNnapi || output.index != i) continue;
      Value* tensor = copies.at(tensors.at(k));
      const auto made = is_raw ? physical(*copy, tensor, output, boundary, part.model.at(boundary.operand)) : tensor;
      if (!made) throw std::invalid_argument("an output whose rank NNAPI changes");
      outputs.push_back(*made);
    }
  }
  copy->registerOutput(copy->insertNode(copy->createTuple(outputs))->output());
  torch::jit::EliminateDeadCode(copy);  // drops the result's other parts
  use_recognised_forms(*copy);
  return copy;
}

SegmentOnCpu refused(const std::string& reason) {
  return [reason](bool /*is_raw*/) -> std::shared_ptr<Graph> { throw std::invalid_argument(reason); };
}

// Returns why a segment is too large for the CPU; empty if it isn't.
std::string refusal_of_size(const PlannedSegment& planned) {
  if (planned.uncounted > 0) return "its multiply-adds are unknown";
  if (planned.macs <= kMostMacsOnCpu) return "";
  return fmt::format("{} multiply-adds, at most {} needed", planned.macs, kMostMacsOnCpu);
}

SegmentOnCpu on_cpu(const std::shared_ptr<Graph>& graph, std::vector<Value*> tensors, const NnapiPart& part) {
  if (const uint64_t bytes = constant_bytes(*graph); bytes > kMostBytesOnCpu) {
    return refused(fmt::format("{} bytes of weights, at most {} needed", bytes, kMostBytesOnCpu));
  }
  for (const InterfaceInput& input : part.interface.inputs) {
    if (input.type.is_quantized() || input.quantize) return refused("quantised tensors as inputs");
  }
  for (const nnapi::Boundary& boundary : part.model.outputs) {
    if (part.model.at(boundary.operand).scale != 0) return refused("quantised tensors as outputs");
  }
  return
      [graph, tensors = std::move(tensors), &part](bool is_raw) { return with_outputs(graph, tensors, part, is_raw); };
}

}  // namespace

SegmentOnCpu segment_on_cpu(const PlannedSegment& planned) {
  if (const std::string reason = refusal_of_size(planned); !reason.empty()) return refused(reason);
  return on_cpu(planned.segment.model.graph, planned.segment.model.outputs, planned.part);
}

SegmentOnCpu whole_on_cpu(const PlannedSegment& planned, const LoadedModel& loaded) {
  if (const std::string reason = refusal_of_size(planned); !reason.empty()) return refused(reason);
  const ModuleInterface& interface = planned.part.interface;
  const torch::jit::Module frozen = torch::jit::freeze(cpu_counterpart(loaded, interface, {}));
  const std::shared_ptr<Graph> graph = frozen.get_method("forward").graph()->copy();
  torch::jit::Inline(*graph);
  if (graph->inputs()[0]->hasUses() || graph->inputs().size() != interface.inputs.size() + 1) {
    return refused("arguments or attributes that change");
  }
  graph->eraseInput(0);
  std::vector<Value*> tensors(interface.outputs.size());
  if (!find_tensors(interface.return_tree, graph->outputs()[0], tensors)) return refused("a result that it computes");
  return on_cpu(graph, std::move(tensors), planned.part);
}

}  // namespace nnapi_convert
