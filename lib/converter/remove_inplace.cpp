#include "lib/converter/remove_inplace.h"

#include <fmt/format.h>
#include <torch/csrc/jit/ir/alias_analysis.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>

#include "lib/ops/op_context.h"

namespace nnapi_convert {
namespace {

using torch::jit::AliasDb;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

// The functional operator of an in-place one ("aten::relu" of "aten::relu_"), if it has the same arguments. Overloads
// have names of their own: pow_.Scalar is pow.Tensor_Scalar.
c10::optional<c10::Symbol> functional_kind(const Node& node) {
  const torch::jit::Node* n = &node;
  const c10::FunctionSchema* schema = n->maybeSchema();
  if (schema == nullptr || !schema->is_mutable()) return c10::nullopt;
  std::string name = node.kind().toQualString();
  if (name.size() < 2 || name.back() != '_' || name[name.size() - 2] == '_') return c10::nullopt;
  name.pop_back();
  const c10::Symbol kind = c10::Symbol::fromQualString(name);
  for (const auto& candidate : torch::jit::getAllOperatorsFor(kind)) {
    const auto& arguments = candidate->schema().arguments();
    const bool same = std::equal(arguments.begin(), arguments.end(), schema->arguments().begin(),
                                 schema->arguments().end(), [](const c10::Argument& a, const c10::Argument& b) {
                                   return *a.type() == *b.type();  // dropout names its tensor input, dropout_ self
                                 });
    if (same) return kind;
  }
  return c10::nullopt;
}

// True if the node or its blocks read a value for which `predicate` holds.
template <typename Predicate>
bool any_read(Node& node, const Predicate& predicate) {
  const auto inputs = node.inputs();
  if (std::any_of(inputs.begin(), inputs.end(), predicate)) return true;
  for (torch::jit::Block* block : node.blocks()) {
    for (Node* inner : block->nodes()) {
      if (any_read(*inner, predicate)) return true;
    }
    const auto outputs = block->outputs();
    if (std::any_of(outputs.begin(), outputs.end(), predicate)) return true;
  }
  return false;
}

// True if the graph reads, after `node`, a value other than `self` that may share its memory.
bool other_alias_is_read_later(const AliasDb& aliases, Node* node, Value* self) {
  const auto is_other_alias = [&](Value* value) {
    return value != self && value != node->output() && value->node()->kind() != c10::prim::Constant &&
           value->type()->kind() == c10::TypeKind::TensorType && aliases.mayAlias(self, value);
  };
  const auto is_old_alias = [&](Value* value) { return is_other_alias(value) && value->node()->isBefore(node); };
  for (auto later = std::next(node->iterator()); later != node->owningBlock()->nodes().end(); ++later) {
    if (any_read(**later, is_old_alias)) return true;
  }
  const auto outputs = node->owningBlock()->outputs();
  return std::any_of(outputs.begin(), outputs.end(), is_old_alias);
}

void make_functional(Graph& graph, Node* node, c10::Symbol kind) {
  Value* self = node->input(0);
  Node* functional = graph.create(kind, node->inputs(), 1);
  functional->insertBefore(node);
  functional->setSourceRange(node->sourceRange());
  functional->setScope(node->scope());
  functional->output()->setType(node->output()->type());
  self->replaceAllUsesAfterNodeWith(node, functional->output());
  node->output()->replaceAllUsesWith(functional->output());
  node->destroy();
}

bool is_graph_input(const Graph& graph, const Value* value) {
  const auto inputs = graph.inputs();
  return std::find(inputs.begin(), inputs.end(), value) != inputs.end();
}

}  // namespace

void remove_inplace(const std::shared_ptr<Graph>& graph, Diagnostics& diagnostics) {
  const auto begin = graph->nodes().begin();
  const auto end = graph->nodes().end();
  const bool any = std::any_of(begin, end, [](Node* node) { return functional_kind(*node).has_value(); });
  if (!any) return;
  // Aliasing is read from the graph as it was; nodes made here are not in it, so all answers come first.
  const AliasDb aliases(graph);
  std::vector<std::pair<Node*, c10::Symbol>> safe;
  for (Node* node : graph->nodes()) {
    const auto kind = functional_kind(*node);
    if (kind && !other_alias_is_read_later(aliases, node, node->input(0))) safe.emplace_back(node, *kind);
  }
  for (const auto& [node, kind] : safe) {
    if (is_graph_input(*graph, node->input(0))) {
      diagnostics.warn(fmt::format("{}: {} changes the caller's input in place; the converted model leaves it as it is",
                                   source_of(*node), node->kind().toQualString()));
    }
    make_functional(*graph, node, kind);
  }
}

}  // namespace nnapi_convert
