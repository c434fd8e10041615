// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/size_reads.h"

#include <algorithm>
#include <vector>

#include "lib/converter/frontend/objects_apart.h"
#include "lib/converter/graph/node_reads.h"

namespace nnapi_convert {
namespace {

using torch::jit::Node;
using torch::jit::Value;

bool reads_size(const Node& node) {
  return node.kind() == c10::aten::size;
}

// Returns the only node beside those that read sizes, if it computes one tensor from the value and constants.
Node* only_reader(const Value& value) {
  Node* reader = nullptr;
  for (const torch::jit::Use& use : value.uses()) {
    if (reads_size(*use.user)) continue;
    if (reader != nullptr) return nullptr;
    reader = use.user;
  }
  if (reader == nullptr || reader->outputs().size() != 1 || !reader->blocks().empty()) return nullptr;
  const c10::FunctionSchema* schema = reader->maybeSchema();
  if (schema == nullptr || schema->is_mutable()) return nullptr;
  const auto inputs = reader->inputs();
  const bool is_alone = std::all_of(inputs.begin(), inputs.end(), [&](const Value* input) {
    return input == &value || input->node()->kind() == c10::prim::Constant;
  });
  return is_alone ? reader : nullptr;
}

// Returns the last value in a chain of operators that keep the sizes of `value`, if it is there when `reader` reads
// them.
Value* last_of_same_sizes(Value& value, Node& reader, const TypeMap& types) {
  Value* last = &value;
  for (;;) {
    Node* next = only_reader(*last);
    const TensorType* type = tensor_type_of(last, types);
    const TensorType* result = next == nullptr ? nullptr : tensor_type_of(next->output(), types);
    if (type == nullptr || result == nullptr || type->dims != result->dims) return last;
    if (next->owningBlock() != value.node()->owningBlock() || !next->isBefore(at_level_of(*next, &reader))) return last;
    last = next->output();
  }
}

}  // namespace

void read_sizes_of_results(torch::jit::Graph& graph, const TypeMap& types) {
  std::vector<Node*> readers;
  for_each_node(graph, [&](Node& node) {
    if (reads_size(node)) readers.push_back(&node);
  });
  for (Node* reader : readers) {
    Value* value = reader->input(0);
    if (value->node()->kind() == c10::prim::Param) continue;
    reader->replaceInput(0, last_of_same_sizes(*value, *reader, types));
  }
}

}  // namespace nnapi_convert
