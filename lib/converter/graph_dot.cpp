// A graph in Graphviz's language.
#include <fmt/format.h>

#include <unordered_map>

#include "lib/converter/converted_graph.h"

namespace nnapi_convert {
namespace {

// Between double quotes: what a label may hold of a name that anyone may have chosen.
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
    text_ = "digraph model {\n  node [shape=box, fontname=\"sans-serif\"];\n";
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      const std::string id = fmt::format("input_{}", i);
      node(id, value(graph_.inputs[i]).name, "ellipse");
      makers_[graph_.inputs[i]] = id;
    }
    for (size_t i = 0; i < graph_.steps.size(); ++i) step(i);
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      const std::string id = fmt::format("output_{}", i);
      node(id, fmt::format("output {}", i), "ellipse");
      edge(graph_.outputs[i], id);
    }
    return text_ + "}\n";
  }

 private:
  const GraphValue& value(size_t number) const { return graph_.values[number]; }

  void node(const std::string& id, const std::string& label, const char* shape = "box") {
    text_ += fmt::format("  {} [label={}, shape={}];\n", id, quoted(label), shape);
  }

  void edge(size_t number, const std::string& reader) {
    const auto maker = makers_.find(number);
    if (maker == makers_.end()) return;  // a constant
    text_ += fmt::format("  {} -> {} [label={}];\n", maker->second, reader, quoted(shape_text(value(number))));
  }

  std::string title(const GraphStep& step) const {
    if (step.segment < 0) return "CPU";
    const std::string name = fmt::format("NNAPI, segment {}", step.segment);
    return step.subgraph > 0 ? fmt::format("{}, subgraph {}", name, step.subgraph) : name;
  }

  void step(size_t number) {
    const GraphStep& step = graph_.steps[number];
    for (const GraphLink& link : step.inputs) {
      const auto maker = makers_.find(link.outer);
      if (maker != makers_.end()) makers_[link.inner] = maker->second;
    }
    text_ += fmt::format("  subgraph cluster_{} {{\n  label={};\n", number, quoted(title(step)));
    for (size_t i = 0; i < step.nodes.size(); ++i) {
      const std::string id = fmt::format("node_{}_{}", number, i);
      node(id, step.nodes[i].op);
      for (const size_t output : step.nodes[i].outputs) makers_[output] = id;
    }
    text_ += "  }\n";
    for (size_t i = 0; i < step.nodes.size(); ++i) {
      for (const size_t input : step.nodes[i].inputs) edge(input, fmt::format("node_{}_{}", number, i));
    }
    for (const GraphLink& link : step.outputs) {
      const auto maker = makers_.find(link.inner);
      if (maker != makers_.end()) makers_[link.outer] = std::string(maker->second);
    }
  }

  const ModelGraph& graph_;
  std::string text_;
  std::unordered_map<size_t, std::string> makers_;  // node that makes a value
};

}  // namespace

std::string to_dot(const ModelGraph& graph) {
  return DotWriter(graph).run();
}

}  // namespace nnapi_convert
