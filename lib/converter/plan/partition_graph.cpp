// SPDX-License-Identifier: BSD-3-Clause
// Makes the graph of a partitioned model from its plan, with the operations of each segment and those of the CPU.
#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <unordered_map>

#include "lib/converter/graph/glue.h"
#include "lib/converter/plan/model_graph.h"
#include "lib/converter/plan/partition.h"

namespace nnapi_convert {
namespace {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;

// Returns a constant number or short list of numbers as text; empty for others.
std::string constant_text(const c10::IValue& value) {
  if (value.isInt()) return std::to_string(value.toInt());
  if (value.isDouble()) return fmt::format("{}", value.toDouble());
  if (value.isBool()) return value.toBool() ? "true" : "false";
  if (value.isNone()) return "None";
  if (!value.isIntList() || value.toIntVector().size() > kShortList) return "";
  return fmt::format("[{}]", fmt::join(value.toIntVector(), ", "));
}

class PlanGraph {
 public:
  explicit PlanGraph(const PlannedGraph& planned) : planned_(planned) {
    for (size_t i = 0; i < planned.plan.cpu_nodes.size(); ++i) {
      for (const Node* node : planned.plan.cpu_nodes[i].nodes) reasons_[node] = i;
    }
  }

  ModelGraph run() {
    for (size_t i = 0; i < planned_.model.inputs.size(); ++i) {
      const size_t number = number_of(planned_.model.inputs[i]);
      graph_.values[number].name = planned_.model.input_names[i];
      graph_.inputs.push_back(number);
    }
    add_steps(planned_.plan.steps, -1);
    for (const Value* output : planned_.model.outputs) read(output, graph_.outputs);
    return std::move(graph_);
  }

 private:
  size_t number_of(const Value* value) {
    const auto found = numbers_.find(value);
    if (found != numbers_.end()) return found->second;
    const TensorType* tensor = tensor_type_of(value, planned_.types);
    size_t number = graph_.values.size();
    if (tensor != nullptr) {
      number = append(graph_, value->debugName(), *tensor);
    } else {
      graph_.values.push_back({value->debugName(), value->type()->repr_str()});
    }
    if (const auto constant = torch::jit::toIValue(value)) set_constant(graph_.values[number], *constant);
    return numbers_[value] = number;
  }

  static void set_constant(GraphValue& value, const c10::IValue& constant) {
    value.is_constant = true;
    value.constant = constant_text(constant);
    if (!constant.isTensor()) return;
    const at::Tensor& tensor = constant.toTensor();
    value.type = dtype_name(tensor.scalar_type());
    value.shape = to_dims(tensor.sizes().vec());
  }

  // Appends the number of a value; for a list, tuple or dict made in the graph, the numbers of its elements.
  void read(const Value* value, std::vector<size_t>& numbers) {
    if (!is_glue(*value->node())) {
      numbers.push_back(number_of(value));
      return;
    }
    for (const Value* element : value->node()->inputs()) read(element, numbers);
  }

  // Sets the inputs of a node with their argument names. Each element of a list has the name of the list's argument.
  void read_inputs(const Node& node, GraphNode& shown) {
    const c10::FunctionSchema* schema = node.maybeSchema();
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      read(node.input(i), shown.inputs);
      const bool is_named = schema != nullptr && i < schema->arguments().size();
      if (schema != nullptr) shown.arguments.resize(shown.inputs.size(), is_named ? schema->arguments()[i].name() : "");
    }
  }

  void add_steps(const std::vector<PlanStep>& steps, int block) {
    for (const PlanStep& step : steps) {
      if (step.segment >= 0) {
        add_segment(step.segment, block);
      } else {
        add_cpu(step.nodes, block);
      }
    }
  }

  const std::vector<PlanStep>& steps_of(const Block* block) const { return planned_.plan.blocks.at(block); }

  bool has_segments(const Node& node) const {
    const auto blocks = node.blocks();
    return std::any_of(blocks.begin(), blocks.end(), [&](const Block* block) {
      const std::vector<PlanStep>& steps = steps_of(block);
      return std::any_of(steps.begin(), steps.end(), [&](const PlanStep& step) {
        return step.segment >= 0 || std::any_of(step.nodes.begin(), step.nodes.end(),
                                                [&](const Node* inner) { return has_segments(*inner); });
      });
    });
  }

  size_t count_inside(const Node& node) const {
    size_t count = 0;
    for (const Block* block : node.blocks()) {
      for (const PlanStep& step : steps_of(block)) {
        count += step.nodes.size();
        for (const Node* inner : step.nodes) count += count_inside(*inner);
      }
    }
    return count;
  }

  // Adds the blocks of a branch or loop. Their steps follow the step that ends with the branch or loop.
  void add_blocks(const Node& node, int parent) {
    const size_t step = graph_.steps.size() - 1;
    for (const Block* block : node.blocks()) {
      const size_t number = graph_.blocks.size();
      graph_.blocks.push_back({place_of(*block), step, parent});
      const size_t first = node.kind() == c10::prim::Loop ? 1 : 0;  // skips a body's condition output and counter input
      for (size_t i = 0; first == 1 && i + 1 < block->inputs().size(); ++i) {
        std::vector<size_t> initial;
        read(node.input(i + 2), initial);
        const size_t inner = number_of(block->inputs()[i + 1]);
        for (const size_t value : initial) graph_.blocks[number].inputs.push_back({value, inner});
      }
      add_steps(steps_of(block), static_cast<int>(number));
      for (size_t i = 0; i < node.outputs().size(); ++i) {
        std::vector<size_t> inner;
        read(block->outputs()[i + first], inner);
        if (first == 1) read(node.input(i + 2), inner);  // a loop without rounds returns its first values
        const size_t outer = number_of(node.output(i));
        for (const size_t value : inner) graph_.blocks[number].outputs.push_back({outer, value});
      }
    }
  }

  void add_cpu(const std::vector<Node*>& nodes, int block) {
    GraphStep step;
    for (const Node* node : nodes) {
      GraphNode shown{node->kind().toQualString(), source_of(*node), {}, {}};
      read_inputs(*node, shown);
      for (const Value* output : node->outputs()) shown.outputs.push_back(number_of(output));
      const auto reason = reasons_.find(node);
      if (reason != reasons_.end()) {
        shown.reason = reason->second;
        shown.macs = planned_.plan.cpu_nodes[reason->second].macs;
      }
      const bool is_shown = has_segments(*node);
      if (!is_shown) shown.inside = count_inside(*node);
      step.nodes.push_back(std::move(shown));
      if (!is_shown) continue;
      push_cpu(step, block);
      add_blocks(*node, block);
    }
    push_cpu(step, block);
  }

  void push_cpu(GraphStep& step, int block) {
    if (step.nodes.empty()) return;
    step.block = block;
    graph_.steps.push_back(std::move(step));
    step = {};
  }

  void add_segment(int number, int block) {
    const PlannedSegment& planned = planned_.plan.segments[static_cast<size_t>(number)];
    const size_t step = graph_.steps.size();
    const std::vector<size_t> operands = append(graph_, planned.part.model, number);
    for (size_t i = step; i < graph_.steps.size(); ++i) graph_.steps[i].block = block;
    for (const nnapi::Boundary& input : planned.part.model.inputs) {
      const size_t outer = number_of(planned.segment.inputs[input.argument]);
      graph_.steps[step].inputs.push_back({outer, operands[static_cast<size_t>(input.operand)]});
    }
    const std::vector<InterfaceOutput>& outputs = planned.part.interface.outputs;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const size_t outer = number_of(planned.segment.outputs[i]);
      if (outputs[i].source != InterfaceOutput::Source::kNnapi) continue;
      const nnapi::OperandId id = planned.part.model.outputs[outputs[i].index].operand;
      graph_.steps[step].outputs.push_back({outer, operands[static_cast<size_t>(id)]});
    }
  }

  const PlannedGraph& planned_;
  ModelGraph graph_;
  std::unordered_map<const Value*, size_t> numbers_;
  std::unordered_map<const Node*, size_t> reasons_;
};

}  // namespace

ModelGraph graph_of(const PlannedGraph& planned) {
  return PlanGraph(planned).run();
}

}  // namespace nnapi_convert
