// SPDX-License-Identifier: BSD-3-Clause
// Writes a graph as JSON for reports. Fields with default values are left out, as graphs have thousands of values.
#include "lib/converter/plan/model_graph.h"

namespace nnapi_convert {
namespace {

using nlohmann::json;

json value_json(const GraphValue& value) {
  json form = json::object();
  if (!value.name.empty()) form["name"] = value.name;
  if (!value.type.empty()) form["type"] = value.type;
  if (value.shape) {
    form["shape"] = json::array();
    for (const Dim& dim : *value.shape) form["shape"].push_back(dim.is_fixed() ? json(dim.value()) : json(dim.text()));
  }
  if (value.is_nhwc) form["nhwc"] = true;
  if (value.scale != 0) {
    form["scale"] = value.scale;
    form["zero_point"] = value.zero_point;
  }
  if (value.channel_scales > 0) {
    form["channel_scales"] = value.channel_scales;
    form["channel_axis"] = value.channel_axis;
  }
  if (value.is_constant) form["constant"] = value.constant;
  if (value.id) form["operand"] = *value.id;
  return form;
}

json node_json(const GraphNode& node) {
  json form = {{"op", node.op}, {"inputs", node.inputs}, {"outputs", node.outputs}};
  if (!node.where.empty()) form["where"] = node.where;
  if (!node.arguments.empty()) form["arguments"] = node.arguments;
  if (node.macs) form["macs"] = *node.macs;
  if (node.reason) form["reason"] = *node.reason;
  if (node.inside > 0) form["inside"] = node.inside;
  return form;
}

json links_json(const std::vector<GraphLink>& links) {
  json form = json::array();
  for (const GraphLink& link : links) form.push_back({link.outer, link.inner});
  return form;
}

json step_json(const GraphStep& step) {
  json form = {{"nodes", json::array()}};
  form["segment"] = step.segment < 0 ? json(nullptr) : json(step.segment);
  if (step.subgraph > 0) form["subgraph"] = step.subgraph;
  if (step.block >= 0) form["block"] = step.block;
  for (const GraphNode& node : step.nodes) form["nodes"].push_back(node_json(node));
  if (step.segment >= 0 && step.subgraph == 0) {
    form["inputs"] = links_json(step.inputs);
    form["outputs"] = links_json(step.outputs);
  }
  return form;
}

json block_json(const GraphBlock& block) {
  json form = {{"kind", name_of(block.place.kind)}, {"where", block.place.where}, {"step", block.step}};
  if (block.parent >= 0) form["parent"] = block.parent;
  form["inputs"] = links_json(block.inputs);
  form["outputs"] = links_json(block.outputs);
  return form;
}

}  // namespace

json to_json(const ModelGraph& graph) {
  json form = {{"values", json::array()}, {"steps", json::array()}};
  for (const GraphValue& value : graph.values) form["values"].push_back(value_json(value));
  for (const GraphStep& step : graph.steps) form["steps"].push_back(step_json(step));
  for (const GraphBlock& block : graph.blocks) form["blocks"].push_back(block_json(block));
  form["inputs"] = graph.inputs;
  form["outputs"] = graph.outputs;
  return form;
}

}  // namespace nnapi_convert
