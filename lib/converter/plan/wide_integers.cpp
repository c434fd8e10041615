// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/plan/wide_integers.h"

#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <unordered_set>

#include "lib/ops/index_arguments.h"
#include "lib/ops/value_range.h"

namespace nnapi_convert {
namespace {

class WideIntegers {
 public:
  WideIntegers(const std::vector<const TorchNode*>& nodes, const NormalisedModel& model, const TypeMap& types)
      : nodes_(nodes.begin(), nodes.end()), model_(model), types_(types) {
    for (const TorchNode* node : nodes) {
      if (gives_tensors(*node)) visit(*node);
    }
    std::sort(results_.begin(), results_.end());
  }

  std::string text() const {
    std::string text;
    if (!inputs_.empty()) text = fmt::format("input{} {}", inputs_.size() == 1 ? "" : "s", fmt::join(inputs_, ", "));
    if (!results_.empty()) {
      text += fmt::format("{}results of {}", text.empty() ? "" : ", ", fmt::join(results_, ", "));
    }
    return text;
  }

 private:
  static bool is_list(const TorchValue& value) { return value.node()->kind() == c10::prim::ListConstruct; }

  // True if the node returns a tensor or a list of tensors, not only sizes.
  bool gives_tensors(const TorchNode& node) const {
    if (!node.blocks().empty()) return false;
    const auto outputs = node.outputs();
    return std::any_of(outputs.begin(), outputs.end(), [this](const TorchValue* output) {
      const auto found = types_.find(output);
      return found != types_.end() && !std::holds_alternative<Dims>(found->second);
    });
  }

  bool is_wide(const TorchValue& value) const {
    if (torch::jit::toIValue(&value)) return false;
    const TensorType* type = tensor_type_of(&value, types_);
    if (type == nullptr || type->dtype != at::kLong) return false;
    const auto range = integer_range(value, types_);
    return !range || !range->is_int32();
  }

  void visit(const TorchNode& node) {
    if (node.kind() == c10::prim::ListConstruct || node.kind() == c10::prim::TupleConstruct) return;
    bool reads_wide = false;
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      if (index_range(node, i, types_)) continue;
      const TorchValue& input = *node.input(i);
      reads_wide = (is_list(input) ? reads_of_list(*input.node(), node, i) : reads(input)) || reads_wide;
    }
    if (reads_wide) return;
    for (const TorchValue* output : node.outputs()) {
      if (is_wide(*output)) add(results_, name_of(node));
    }
  }

  bool reads_of_list(const TorchNode& list, const TorchNode& reader, size_t offset) {
    bool reads_wide = false;
    for (size_t i = 0; i < list.inputs().size(); ++i) {
      if (index_range_in_list(reader, offset, i, types_)) continue;
      reads_wide = reads(*list.input(i)) || reads_wide;
    }
    return reads_wide;
  }

  // True if NNAPI reads the value as a wide integer tensor. Records the names of values that NNAPI doesn't make.
  bool reads(const TorchValue& value) {
    if (!is_wide(value)) return false;
    const auto input = std::find(model_.inputs.begin(), model_.inputs.end(), &value);
    if (input != model_.inputs.end()) {
      add(inputs_, model_.input_names[static_cast<size_t>(input - model_.inputs.begin())]);
    } else if (nodes_.count(value.node()) == 0 && value.node()->kind() != c10::prim::Param) {
      add(results_, name_of(*value.node()));
    }
    return true;
  }

  static std::string name_of(const TorchNode& node) {
    const std::string where = source_of(node);
    return node.kind().toQualString() + (where.empty() ? "" : " at " + where);
  }

  static void add(std::vector<std::string>& names, std::string name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }

  std::unordered_set<const TorchNode*> nodes_;
  const NormalisedModel& model_;
  const TypeMap& types_;
  std::vector<std::string> inputs_, results_;
};

void collect(const torch::jit::Block& block, std::vector<const TorchNode*>& nodes) {
  for (const TorchNode* node : block.nodes()) {
    nodes.push_back(node);
    for (const torch::jit::Block* inner : node->blocks()) collect(*inner, nodes);
  }
}

}  // namespace

void warn_of_wide_integers(const std::vector<const TorchNode*>& nodes, const NormalisedModel& model,
                           const TypeMap& types, Diagnostics& diagnostics) {
  const std::string found = WideIntegers(nodes, model, types).text();
  if (!found.empty()) diagnostics.warn("int64 numbers have 32 bits on NNAPI, and larger ones come out wrong: " + found);
}

std::vector<const TorchNode*> all_nodes(const torch::jit::Graph& graph) {
  std::vector<const TorchNode*> nodes;
  collect(*graph.block(), nodes);
  return nodes;
}

}  // namespace nnapi_convert
