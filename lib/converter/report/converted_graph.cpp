// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/report/converted_graph.h"

#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "lib/converter/graph/glue.h"
#include "lib/converter/report/report.h"
#include "lib/format/operation_table.h"
#include "lib/serialize/partitioned_source.h"
#include "lib/serialize/row_calls_source.h"

namespace nnapi_convert {
namespace {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;

const std::string kSegment = "segment_";
const std::string kRows = row_calls_method(0).substr(0, row_calls_method(0).size() - 1);

// Reads forward's graph of a partitioned model: calls of segments, and the CPU's nodes between them.
class ConvertedFileGraph {
 public:
  explicit ConvertedFileGraph(const ConvertedFile& file) : file_(file) {}

  ModelGraph run() {
    const auto forward = file_.module.get_method("forward").graph();
    for (const Node* node : forward->nodes()) {
      if (is_check(*node)) add_inputs(*node);
    }
    add_nodes(*forward->block(), -1);
    for (const Value* output : forward->outputs()) read(output, graph_.outputs);
    return std::move(graph_);
  }

 private:
  // True for the call of the check, which gets all inputs that are tensors, wherever forward's arguments hold them.
  static bool is_check(const Node& node) {
    return node.kind() == c10::prim::CallMethod && node.s(c10::attr::name) == kCheckMethod;
  }

  void add_inputs(const Node& check) {
    for (size_t i = 1; i < check.inputs().size(); ++i) {  // input 0 is self
      const MetadataInput& input = file_.metadata.inputs.at(i - 1);
      numbers_[check.inputs()[i]] = append(graph_, input.name, input.type);
      graph_.inputs.push_back(graph_.values.size() - 1);
    }
  }

  size_t number_of(const Value* value) {
    const auto found = numbers_.find(value);
    if (found != numbers_.end()) return found->second;
    graph_.values.push_back({value->debugName(), value->type()->repr_str()});
    if (const auto constant = torch::jit::toIValue(value)) {
      graph_.values.back().is_constant = true;
      if (constant->isInt()) graph_.values.back().constant = std::to_string(constant->toInt());
    }
    return numbers_[value] = graph_.values.size() - 1;
  }

  void read(const Value* value, std::vector<size_t>& numbers) {
    if (!is_glue(*value->node())) {
      numbers.push_back(number_of(value));
      return;
    }
    for (const Value* element : value->node()->inputs()) read(element, numbers);
  }

  void add_nodes(const Block& block, int number) {
    const int outside = std::exchange(block_, number);
    for (const Node* node : block.nodes()) add(*node);
    end_cpu();
    block_ = outside;
  }

  void add(const Node& node) {
    const auto kind = node.kind();
    if (!is_operation(node)) return;
    if (kind == c10::prim::CallMethod) return add_call(node);
    const bool is_unpacking = kind == c10::prim::TupleUnpack && node.input()->node()->kind() == c10::prim::CallMethod;
    if (is_unpacking) return;
    GraphNode shown{kind.toQualString(), source_of(node), {}, {}};
    for (const Value* input : node.inputs()) read(input, shown.inputs);
    for (const Value* output : node.outputs()) shown.outputs.push_back(number_of(output));
    const bool is_shown = calls_segments(node);
    if (!is_shown) shown.inside = count_inside(node);
    cpu_.nodes.push_back(std::move(shown));
    if (!is_shown) return;
    end_cpu();
    add_blocks(node);
  }

  static bool calls_segments(const Node& node) {
    if (segment_of(node)) return true;
    const auto blocks = node.blocks();
    return std::any_of(blocks.begin(), blocks.end(), [](const Block* block) {
      return std::any_of(block->nodes().begin(), block->nodes().end(),
                         [](const Node* inner) { return calls_segments(*inner); });
    });
  }

  static bool is_operation(const Node& node) {
    return node.kind() != c10::prim::Constant && node.kind() != c10::prim::GetAttr && !is_glue(node);
  }

  static size_t count_inside(const Node& node) {
    size_t count = 0;
    for (const Block* block : node.blocks()) {
      for (const Node* inner : block->nodes()) count += (is_operation(*inner) ? 1 : 0) + count_inside(*inner);
    }
    return count;
  }

  void add_blocks(const Node& node) {
    const size_t step = graph_.steps.size() - 1;
    const size_t first = node.kind() == c10::prim::Loop ? 1 : 0;  // skips whether another round follows, and its number
    for (const Block* block : node.blocks()) {
      const size_t number = graph_.blocks.size();
      graph_.blocks.push_back({place_of(*block), step, block_});
      for (size_t i = 0; first == 1 && i + 1 < block->inputs().size(); ++i) {
        std::vector<size_t> initial;
        read(node.inputs()[i + 2], initial);
        const size_t inner = number_of(block->inputs()[i + 1]);
        for (const size_t value : initial) graph_.blocks[number].inputs.push_back({value, inner});
      }
      add_nodes(*block, static_cast<int>(number));
      for (size_t i = 0; i < node.outputs().size(); ++i) {
        std::vector<size_t> inner;
        read(block->outputs()[i + first], inner);
        if (first == 1) read(node.inputs()[i + 2], inner);  // a loop without a round gives its first values
        const size_t outer = number_of(node.outputs()[i]);
        for (const size_t value : inner) graph_.blocks[number].outputs.push_back({outer, value});
      }
    }
  }

  void end_cpu() {
    cpu_.block = block_;
    if (!cpu_.nodes.empty()) graph_.steps.push_back(std::move(cpu_));
    cpu_ = {};
  }

  // Returns the segment of a call: of the segment's module, or of the method that calls it for some rows at a time.
  static std::optional<size_t> segment_of(const Node& node) {
    if (node.kind() != c10::prim::CallMethod) return std::nullopt;
    const Node& object = *node.inputs()[0]->node();
    const bool is_part = object.kind() == c10::prim::GetAttr && object.s(c10::attr::name).rfind(kSegment, 0) == 0;
    const std::string name = is_part ? object.s(c10::attr::name).substr(kSegment.size()) : node.s(c10::attr::name);
    if (is_part) return std::stoul(name);
    const bool is_rows = name.rfind(kRows, 0) == 0;
    return is_rows ? std::optional<size_t>(std::stoul(name.substr(kRows.size()))) : std::nullopt;
  }

  void add_call(const Node& node) {
    const auto found = segment_of(node);
    if (!found) return;
    end_cpu();
    const size_t segment = *found;
    const BufferModel& buffer = file_.buffers.at(segment);
    const size_t step = graph_.steps.size();
    const std::vector<size_t> operands = append(graph_, buffer, static_cast<int>(segment));
    for (size_t i = step; i < graph_.steps.size(); ++i) graph_.steps[i].block = block_;
    // A segment hands NNAPI those of its inputs that NNAPI reads, in their order.
    for (size_t i = 0; i < buffer.inputs.size() && i + 1 < node.inputs().size(); ++i) {
      graph_.steps[step].inputs.push_back(
          {number_of(node.inputs()[i + 1]), operands[static_cast<size_t>(buffer.inputs[i])]});
    }
    std::vector<const Value*> results = {node.output()};
    if (!node.output()->uses().empty() && node.output()->uses()[0].user->kind() == c10::prim::TupleUnpack) {
      const auto parts = node.output()->uses()[0].user->outputs();
      results.assign(parts.begin(), parts.end());
    }
    for (size_t i = 0; i < results.size() && i < buffer.outputs.size(); ++i) {
      graph_.steps[step].outputs.push_back({number_of(results[i]), operands[static_cast<size_t>(buffer.outputs[i])]});
    }
  }

  const ConvertedFile& file_;
  ModelGraph graph_;
  GraphStep cpu_;
  int block_ = -1;
  std::unordered_map<const Value*, size_t> numbers_;
};

ModelGraph whole_graph(const ConvertedFile& file) {
  ModelGraph graph;
  const BufferModel& buffer = file.buffers.at(0);
  for (const MetadataInput& input : file.metadata.inputs) {
    graph.inputs.push_back(append(graph, input.name, input.type));
  }
  const std::vector<size_t> operands = append(graph, buffer, 0);
  for (size_t i = 0; i < buffer.inputs.size() && i < graph.inputs.size(); ++i) {
    const size_t operand = operands[static_cast<size_t>(buffer.inputs[i])];
    graph.values[operand].is_nhwc = file.metadata.inputs[i].nhwc;
    graph.steps[0].inputs.push_back({graph.inputs[i], operand});
  }
  for (const int32_t id : buffer.outputs) {
    const size_t operand = operands[static_cast<size_t>(id)];
    graph.steps[0].outputs.push_back({operand, operand});
    graph.outputs.push_back(operand);
  }
  return graph;
}

// Returns only the segments: a program stands between them.
ModelGraph segments_graph(const ConvertedFile& file) {
  ModelGraph graph;
  for (const MetadataInput& input : file.metadata.inputs) {
    graph.inputs.push_back(append(graph, input.name, input.type));
  }
  for (size_t i = 0; i < file.buffers.size(); ++i) append(graph, file.buffers[i], static_cast<int>(i));
  return graph;
}

void count_operations(const BufferModel& buffer, std::map<std::string, size_t>& counts) {
  for (const BufferOperation& operation : buffer.operations) {
    ++counts[name_of(static_cast<OperationCode>(operation.code))];
  }
  for (const BufferModel& subgraph : buffer.subgraphs) count_operations(subgraph, counts);
}

}  // namespace

ModelGraph graph_of(const ConvertedFile& file) {
  if (!file.is_partitioned) return whole_graph(file);
  return file.has_module ? ConvertedFileGraph(file).run() : segments_graph(file);
}

nlohmann::json report_of(const ConvertedFile& file, const std::string& path) {
  std::map<std::string, size_t> counts;
  for (const BufferModel& buffer : file.buffers) count_operations(buffer, counts);
  size_t total = 0;
  for (const auto& [name, count] : counts) total += count;
  nlohmann::json report = {{"version", kReportVersion},
                           {"model", path},
                           {"output", path},
                           {"converted", true},
                           {"quant", file.metadata.quant},
                           {"feature_level", file.metadata.feature_level},
                           {"android", android_json(file.metadata.feature_level, file.runtime)},
                           {"inputs", nlohmann::json::array()},
                           {"operation_count", total},
                           {"operations", counts},
                           {"refusals", nlohmann::json::array()},
                           {"warnings", nlohmann::json::array()},
                           {"graph", to_json(graph_of(file))}};
  for (const MetadataInput& input : file.metadata.inputs)
    report["inputs"].push_back(input_json(input.name, input.type));
  return report;
}

}  // namespace nnapi_convert
