// SPDX-License-Identifier: BSD-3-Clause
// Writes a graph in Graphviz's language.
#include <fmt/format.h>

#include <set>
#include <unordered_map>

#include "lib/converter/report/converted_graph.h"

namespace nnapi_convert {
namespace {

// Returns a text in double quotes, as a label may have it. The text may be a name that anyone has chosen.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\') result += '\\';
    if (letter == '\n') {
      result += "\\n";
    } else if (code >= ' ') {
      result += letter;
    }
  }
  return result + "\"";
}

std::string shape_text(const GraphValue& value) {
  if (!value.shape) return "";
  std::string text;
  for (const Dim& dim : *value.shape) text += (text.empty() ? "" : ", ") + dim.text();
  return "[" + text + "]";
}

class DotWriter {
 public:
  explicit DotWriter(const ModelGraph& graph) : graph_(graph) {}

  std::string run() {
    find_sources();
    text_ = "digraph model {\n  node [shape=box, fontname=\"sans-serif\"];\n";
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      node(fmt::format("input_{}", i), value(graph_.inputs[i]).name, "ellipse");
    }
    write_block(-1);
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      const std::string id = fmt::format("output_{}", i);
      node(id, fmt::format("output {}", i), "ellipse");
      edges(graph_.outputs[i], id);
    }
    return text_ + edges_ + "}\n";
  }

 private:
  const GraphValue& value(size_t number) const { return graph_.values[number]; }

  // Finds the nodes that make values, and the values that others are taken from: by links into segments, branches and
  // loops.
  void find_sources() {
    for (size_t i = 0; i < graph_.inputs.size(); ++i) makers_[graph_.inputs[i]] = fmt::format("input_{}", i);
    for (size_t i = 0; i < graph_.steps.size(); ++i) {
      const GraphStep& step = graph_.steps[i];
      for (size_t k = 0; k < step.nodes.size(); ++k) {
        for (const size_t output : step.nodes[k].outputs) makers_[output] = fmt::format("node_{}_{}", i, k);
      }
      for (const GraphLink& link : step.inputs) sources_[link.inner].push_back(link.outer);
      for (const GraphLink& link : step.outputs) {
        if (link.outer != link.inner) sources_[link.outer].push_back(link.inner);
      }
    }
    for (const GraphBlock& block : graph_.blocks) {
      for (const GraphLink& link : block.inputs) sources_[link.inner].push_back(link.outer);
      for (const GraphLink& link : block.outputs) sources_[link.outer].push_back(link.inner);
    }
  }

  void node(const std::string& id, const std::string& label, const char* shape = "box") {
    text_ += fmt::format("  {} [label={}, shape={}];\n", id, quoted(label), shape);
  }

  // Adds edges from all nodes that may have made the value; none for a constant.
  void edges(size_t number, const std::string& reader) {
    std::set<std::string> makers;
    std::set<size_t> seen;
    find_makers(number, makers, seen);
    for (const std::string& maker : makers) {
      edges_ += fmt::format("  {} -> {} [label={}];\n", maker, reader, quoted(shape_text(value(number))));
    }
  }

  void find_makers(size_t number, std::set<std::string>& makers, std::set<size_t>& seen) const {
    if (!seen.insert(number).second) return;
    const auto sources = sources_.find(number);
    if (sources != sources_.end()) {
      for (const size_t source : sources->second) find_makers(source, makers, seen);
      return;
    }
    const auto maker = makers_.find(number);
    if (maker != makers_.end()) makers.insert(maker->second);
  }

  static std::string title(const GraphStep& step) {
    if (step.segment < 0) return "CPU";
    const std::string name = fmt::format("NNAPI, segment {}", step.segment);
    return step.subgraph > 0 ? fmt::format("{}, subgraph {}", name, step.subgraph) : name;
  }

  // Writes the steps of a block in their order. The steps of a branch or loop follow the step that ends with it.
  void write_block(int number) {
    for (size_t i = 0; i < graph_.steps.size(); ++i) {
      if (graph_.steps[i].block != number) continue;
      write_step(i);
      for (size_t k = 0; k < graph_.blocks.size(); ++k) {
        const GraphBlock& block = graph_.blocks[k];
        if (block.step != i) continue;
        text_ +=
            fmt::format("  subgraph cluster_block_{} {{\n  label={}; style=dashed;\n", k, quoted(to_text(block.place)));
        write_block(static_cast<int>(k));
        text_ += "  }\n";
      }
    }
  }

  void write_step(size_t number) {
    const GraphStep& step = graph_.steps[number];
    text_ += fmt::format("  subgraph cluster_{} {{\n  label={}; style={};\n", number, quoted(title(step)),
                         step.segment < 0 ? "solid" : "filled; fillcolor=\"#dbe9fb\"");
    for (size_t i = 0; i < step.nodes.size(); ++i) {
      const std::string id = fmt::format("node_{}_{}", number, i);
      node(id, step.nodes[i].op);
      for (const size_t input : step.nodes[i].inputs) edges(input, id);
    }
    text_ += "  }\n";
  }

  const ModelGraph& graph_;
  std::string text_, edges_;  // edges come last: a node that is first named in a cluster belongs to it
  std::unordered_map<size_t, std::string> makers_;
  std::unordered_map<size_t, std::vector<size_t>> sources_;
};

}  // namespace

std::string to_dot(const ModelGraph& graph) {
  return DotWriter(graph).run();
}

}  // namespace nnapi_convert
