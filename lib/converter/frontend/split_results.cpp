// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/split_results.h"

#include <fmt/format.h>
#include <torch/csrc/jit/ir/ir.h>

#include <algorithm>
#include <limits>

#include "lib/base/error.h"

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

bool is_tensor(const Value* value) {
  return value->type()->isSubtypeOf(*c10::TensorType::get());
}

// Returns the tensors that the graph returns.
std::vector<Value*> results_of(Graph& graph) {
  Value* returned = graph.outputs().at(0);
  if (is_tensor(returned)) return {returned};
  const auto type = returned->type()->cast<c10::TupleType>();
  Node* node = returned->node();
  const bool is_plain = type != nullptr && type->schema() == nullptr && node->kind() == c10::prim::TupleConstruct;
  if (is_plain && std::all_of(node->inputs().begin(), node->inputs().end(), is_tensor)) return node->inputs().vec();
  throw ConvertError(ExitCode::kNotConvertible,
                     fmt::format("--split-output: forward returns {}; a tensor or a tuple of tensors needed",
                                 returned->type()->repr_str()));
}

void add_parts(Graph& graph, Value* result, const ResultSplit& split, std::vector<Value*>& values) {
  int64_t begin = 0;
  for (size_t i = 0; i < split.sizes.size(); ++i) {
    // The last part ends where the whole result ends.
    const bool is_last = i + 1 == split.sizes.size();
    const int64_t end = is_last ? std::numeric_limits<int64_t>::max() : begin + split.sizes[i];
    values.push_back(graph.insert(c10::aten::slice, {result, split.axis, begin, end, 1}));
    begin = end;
  }
}

}  // namespace

void split_results(LoadedModel& loaded, const std::vector<ResultSplit>& splits) {
  if (splits.empty()) return;
  loaded.module = loaded.module.clone(true);  // others may hold the module, too
  torch::jit::Function& forward = loaded.module.get_method("forward").function();
  Graph& graph = *loaded.module.get_method("forward").graph();
  const std::vector<Value*> results = results_of(graph);
  std::vector<Value*> values;
  const torch::jit::WithInsertPoint at_end(graph.return_node());
  for (size_t i = 0; i < results.size(); ++i) {
    const auto split = std::find_if(splits.begin(), splits.end(), [&](const auto& each) { return each.result == i; });
    if (split == splits.end()) {
      values.push_back(results[i]);
    } else {
      add_parts(graph, results[i], *split, values);
    }
  }
  Value* tuple = graph.insertNode(graph.createTuple(values))->output();
  graph.eraseOutput(0);
  graph.registerOutput(tuple);
  const c10::FunctionSchema& schema = forward.getSchema();
  forward.setSchema(c10::FunctionSchema(schema.name(), schema.overload_name(), schema.arguments(),
                                        {c10::Argument("", tuple->type())}));
}

}  // namespace nnapi_convert
