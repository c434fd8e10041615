// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/graph/insert_form.h"

#include "lib/ops/node_place.h"

#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/csrc/jit/frontend/resolver.h>

#include <memory>

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

std::shared_ptr<Graph> compiled(const char* function) {
  torch::jit::CompilationUnit unit;
  unit.define(c10::nullopt, function, torch::jit::nativeResolver(), nullptr);
  return torch::jit::toGraphFunction(unit.get_function("form")).graph()->copy();
}

void place_at(Node& inserted, Node& original) {
  take_place(inserted, original);
  inserted.setScope(original.scope());
  for (torch::jit::Block* block : inserted.blocks()) {
    for (Node* inner : block->nodes()) place_at(*inner, original);
  }
}

}  // namespace

std::vector<Value*> insert_form(Node& node, const char* function) {
  const std::shared_ptr<Graph> graph = compiled(function);
  torch::jit::WithInsertPoint here(&node);
  Node* before = node.prev();
  std::vector<Value*> results = torch::jit::insertGraph(*node.owningGraph(), *graph, node.inputs());
  if (node.outputs().size() > 1) {  // the form gives a tuple
    const auto elements = results.at(0)->node()->inputs();
    results.assign(elements.begin(), elements.end());
  }
  for (Node* inserted = before->next(); inserted != &node; inserted = inserted->next()) place_at(*inserted, node);
  return results;
}

}  // namespace nnapi_convert
