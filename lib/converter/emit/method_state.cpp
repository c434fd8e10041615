// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/emit/method_state.h"

#include <algorithm>
#include <set>

#include "lib/converter/graph/changed_attributes.h"
#include "lib/converter/graph/node_reads.h"

namespace nnapi_convert {
namespace {

using torch::jit::Node;
using torch::jit::Value;

// Returns whether the plan knows that the value has the dtype and the sizes of the tensor.
bool is_known_as(const Value& value, const c10::IValue& tensor, const ModelGraph& graph) {
  if (!tensor.isTensor() || !tensor.toTensor().defined()) return false;
  return std::any_of(graph.values.begin(), graph.values.end(), [&](const GraphValue& known) {
    return known.name == value.debugName() && known.shape &&
           known.type == dtype_name(tensor.toTensor().scalar_type()) &&
           *known.shape == to_dims(tensor.toTensor().sizes().vec());
  });
}

// True if an in-place operator such as aten::add_ gives the value: it is the attribute itself and keeps its sizes.
bool is_changed_in_place(const Value& value, const AttributePath& path) {
  const Node& maker = *value.node();
  const std::string name = maker.kind().toQualString();
  if (name.back() != '_' || name == "aten::resize_" || maker.inputs().empty()) return false;
  const Node& first = *maker.input(0)->node();
  return is_attribute_access(first, c10::prim::GetAttr) && attribute_path(first) == path;
}

// Returns whether setting the attribute to the value leaves its types as they are in `before`.
bool keeps_type(const Value& value, const AttributePath& path, const c10::IValue& before, const ModelGraph& graph) {
  const Node& maker = *value.node();
  if (maker.kind() != c10::prim::TupleConstruct) {
    return is_known_as(value, before, graph) || is_changed_in_place(value, path);
  }
  if (!before.isTuple() || before.toTupleRef().elements().size() != maker.inputs().size()) return false;
  for (size_t i = 0; i < maker.inputs().size(); ++i) {
    if (!is_known_as(*maker.input(i), before.toTupleRef().elements()[i], graph)) return false;
  }
  return true;
}

// Returns the attributes that the method may leave with other types.
std::set<AttributePath> unsettled_by(const PlannedMethod& method) {
  std::set<AttributePath> unsettled;
  if (method.planned.plan.is_whole()) return unsettled;
  for_each_node(*method.planned.model.graph, [&](const Node& node) {
    // Lists aren't followed: one whose element is set or whose length changes counts as unsettled.
    const bool changes_list = node.kind() == c10::aten::_set_item || node.kind() == c10::aten::append;
    if (changes_list && is_attribute_access(*node.input(0)->node(), c10::prim::GetAttr)) {
      unsettled.insert(attribute_path(*node.input(0)->node()));
    }
    if (!is_attribute_access(node, c10::prim::SetAttr)) return;
    const AttributePath path = attribute_path(node);
    const c10::IValue before = attribute_value(method.frontend.loaded().module, path);
    if (!keeps_type(*node.input(1), path, before, method.planned.graph)) unsettled.insert(path);
  });
  return unsettled;
}

std::set<AttributePath> read_by(const PlannedMethod& method) {
  std::set<AttributePath> read;
  if (method.planned.plan.is_whole()) return read;
  for_each_node(*method.planned.model.graph, [&](const Node& node) {
    if (is_attribute_access(node, c10::prim::GetAttr)) read.insert(attribute_path(node));
  });
  return read;
}

}  // namespace

std::vector<AttributePath> unsettled_state(const std::vector<PlannedMethod>& methods, size_t number) {
  const std::set<AttributePath> read = read_by(methods[number]);
  std::set<AttributePath> unsettled(methods[number].frontend.loaded().unsettled.begin(),
                                    methods[number].frontend.loaded().unsettled.end());
  for (size_t i = 0; i < methods.size(); ++i) {
    if (i == number) continue;
    for (const AttributePath& path : unsettled_by(methods[i])) {
      if (read.count(path) != 0) unsettled.insert(path);
    }
  }
  return {unsettled.begin(), unsettled.end()};
}

}  // namespace nnapi_convert
