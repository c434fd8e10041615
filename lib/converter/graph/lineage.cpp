#include "lib/converter/graph/lineage.h"

#include <algorithm>

namespace nnapi_convert {
namespace {

using torch::jit::Node;

c10::Symbol lineage_attribute() {
  static const c10::Symbol symbol = c10::Symbol::attr("nnapi_lineage");
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

std::vector<std::string> lineage_of(const Node& node) {
  std::vector<std::string> lineage = makers_of(node);
  lineage.push_back(operator_name(node));
  return lineage;
}

bool is_made_of_itself(const Node& node) {
  const std::vector<std::string> makers = makers_of(node);
  return std::find(makers.begin(), makers.end(), operator_name(node)) != makers.end();
}

void set_lineage(Node* begin, const Node* end, const std::vector<std::string>& lineage) {
  for (Node* node = begin; node != end; node = node->next()) node->ss_(lineage_attribute(), lineage);
}

}  // namespace nnapi_convert
