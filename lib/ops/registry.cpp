// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/registry.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "lib/ops/complex.h"
#include "lib/ops/families.h"

namespace nnapi_convert {
namespace {

OpRules join_families() {
  OpRules all;
  for (const OpRules& family : {activation_rules(),
                                advanced_index_rules(),
                                attention_rules(),
                                binary_rules(),
                                comparison_rules(),
                                complex_rules(),
                                conv_rules(),
                                conversion_rules(),
                                creation_rules(),
                                detection_rules(),
                                einsum_rules(),
                                grid_sample_rules(),
                                indexing_rules(),
                                joining_rules(),
                                linear_rules(),
                                matmul_rules(),
                                movement_rules(),
                                norm_rules(),
                                order_rules(),
                                padding_rules(),
                                pixel_rules(),
                                pooling_rules(),
                                quantize_rules(),
                                fake_quantise_rules(),
                                quantized_binary_rules(),
                                quantized_unary_rules(),
                                recurrent_rules(),
                                recurrent_cell_rules(),
                                reduce_rules(),
                                resize_rules(),
                                selection_rules(),
                                shape_rules(),
                                size_rules(),
                                slicing_rules(),
                                smooth_activation_rules(),
                                softmax_rules(),
                                special_rules(),
                                statistics_rules(),
                                bessel_rules(),
                                error_function_rules(),
                                gamma_rules(),
                                cumulative_rules(),
                                ranking_rules(),
                                scatter_rules(),
                                search_rules(),
                                exceptional_rules(),
                                distance_rules(),
                                index_put_rules(),
                                unary_rules()}) {
    all.insert(all.end(), family.begin(), family.end());
  }
  return all;
}

// Returns the name in a schema: "aten::add.Tensor" for "aten::add.Tensor(Tensor self, ...) -> Tensor".
std::string operator_name(const char* schema) {
  const std::string_view text(schema);
  return std::string(text.substr(0, text.find('(')));
}

using TraitsIndex = std::unordered_map<c10::Symbol, OpTraits>;

TraitsIndex index_traits() {
  TraitsIndex index;
  for (const OpRules& rules : {all_rules(), recognised_rules()}) {
    for (const OpRule& rule : rules) {
      const std::string name = operator_name(rule.schema);
      index.emplace(c10::Symbol::fromQualString(name.substr(0, name.find('.'))), rule.traits);
    }
  }
  for (const CpuOperators& operators : cpu_operators()) {
    for (const char* name : operators.names) index.emplace(c10::Symbol::fromQualString(name), operators.traits);
  }
  return index;
}

// Rules by the name and overload of their operators.
class RuleIndex {
 public:
  explicit RuleIndex(const OpRules& rules) {
    for (const OpRule& rule : rules) by_name_.emplace(operator_name(rule.schema), &rule);
  }

  const OpRule* find(const TorchNode& node) const {
    const c10::FunctionSchema* schema = node.maybeSchema();
    if (schema == nullptr) return nullptr;
    const std::string& overload = schema->overload_name();
    const auto found = by_name_.find(overload.empty() ? schema->name() : schema->name() + "." + overload);
    return found == by_name_.end() ? nullptr : found->second;
  }

 private:
  std::unordered_map<std::string, const OpRule*> by_name_;
};

}  // namespace

const OpRules& all_rules() {
  static const OpRules rules = join_families();
  return rules;
}

const OpRule* find_rule(const TorchNode& node) {
  static const RuleIndex index(all_rules());
  static const OpRules own_rules = recognised_rules();
  static const RuleIndex own(own_rules);
  const OpRule* rule = index.find(node);
  return rule != nullptr ? rule : own.find(node);
}

const OpRule* find_typed_rule(const TorchNode& node, const TypeMap& types) {
  static const OpRules size_rules = size_tensor_rules();
  static const RuleIndex index(size_rules);
  bool reads_sizes = false, reads_tensors = false;
  for (const TorchValue* input : node.inputs()) {
    const auto found = types.find(input);
    if (found == types.end() || input->node()->kind() == c10::prim::Constant) continue;
    reads_sizes = reads_sizes || std::holds_alternative<Dims>(found->second);
    reads_tensors = reads_tensors || std::holds_alternative<TensorType>(found->second);
  }
  const OpRule* rule = reads_sizes && !reads_tensors ? index.find(node) : nullptr;
  return rule != nullptr ? rule : find_rule(node);
}

const OpTraits& find_traits(c10::Symbol kind) {
  static const TraitsIndex index = index_traits();
  static const OpTraits unknown;
  const auto found = index.find(kind);
  return found == index.end() ? unknown : found->second;
}

const OpTraits& find_traits(const TorchNode& node) {
  return find_traits(node.kind());
}

}  // namespace nnapi_convert
