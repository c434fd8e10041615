// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/lineage.h"

#include <algorithm>

namespace nnapi_convert {
namespace {

using torch::jit::Node;

c10::Symbol lineage_attribute() {
  static const c10::Symbol symbol = c10::Symbol::attr("nnapi_lineage");
  return symbol;
}

c10::Symbol composite_attribute() {
  static const c10::Symbol symbol = c10::Symbol::attr("nnapi_composite");
  return symbol;
}

std::vector<std::string> makers_of(const Node& node) {
  return node.hasAttribute(lineage_attribute()) ? node.ss(lineage_attribute()) : std::vector<std::string>();
}

}  // namespace

std::string operator_name(const Node& node) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  return schema == nullptr ? node.kind().toQualString() : c10::toString(schema->operator_name());
}

Lineage lineage_of(const Node& node) {
  Lineage lineage{makers_of(node), composite_of(node)};
  lineage.operators.push_back(operator_name(node));
  if (lineage.composite.empty() && !node.outputs().empty()) lineage.composite = node.outputs()[0]->debugName();
  return lineage;
}

std::string composite_of(const Node& node) {
  return node.hasAttribute(composite_attribute()) ? node.s(composite_attribute()) : std::string();
}

bool is_made_of_itself(const Node& node) {
  const std::vector<std::string> makers = makers_of(node);
  return std::find(makers.begin(), makers.end(), operator_name(node)) != makers.end();
}

void set_lineage(Node* begin, const Node* end, const Lineage& lineage) {
  for (Node* node = begin; node != end; node = node->next()) {
    node->ss_(lineage_attribute(), lineage.operators);
    node->s_(composite_attribute(), lineage.composite);
  }
}

}  // namespace nnapi_convert
