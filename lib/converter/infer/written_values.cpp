#include "lib/converter/infer/written_values.h"

#include <algorithm>

#include "lib/converter/graph/element_writes.h"
#include "lib/converter/graph/glue.h"
#include "lib/converter/graph/node_reads.h"

namespace nnapi_convert {

using torch::jit::Node;
using torch::jit::Value;

bool changes_argument(const Node& node) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  return schema != nullptr && schema->is_mutable();
}

void WrittenValues::find_changes() {
  if (kind_ != Graph::kUnknown) return;
  kind_ = Graph::kUnchanging;
  for_each_node(*graph_, [&](const Node& node) {
    if (changes_argument(node)) kind_ = Graph::kChanging;
  });
}

void WrittenValues::analyse() {
  if (kind_ != Graph::kChanging || aliases_ != nullptr) return;
  try {
    aliases_ = std::make_unique<torch::jit::AliasDb>(graph_);
  } catch (const std::exception&) {
    kind_ = Graph::kUnclear;
    return;
  }
  for_each_node(*graph_, [&](const Node& node) {
    for (const Value* output : node.outputs()) newest_ = std::max(newest_, output->unique());
  });
}

bool WrittenValues::has(const Value& value) {
  const c10::TypeKind type = value.type()->kind();
  const bool is_list = type == c10::TypeKind::ListType || type == c10::TypeKind::DictType;
  if (is_list ? !may_be_changed(value) : type != c10::TypeKind::TensorType || !may_be_written(value)) return false;
  find_changes();
  if (kind_ == Graph::kUnchanging) return false;
  analyse();
  return kind_ == Graph::kUnclear || value.unique() > newest_ || aliases_->hasWriters(&value);
}

bool WrittenValues::has_output_of(const Node& node) {
  const auto outputs = node.outputs();
  return std::any_of(outputs.begin(), outputs.end(), [this](const Value* output) { return has(*output); });
}

}  // namespace nnapi_convert
