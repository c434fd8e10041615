#include "lib/ops/registry.h"

#include <string_view>
#include <unordered_map>

#include "lib/ops/families.h"

namespace nnapi_convert {
namespace {

OpRules join_families() {
  OpRules all;
  for (const OpRules& family : {activation_rules(), attention_rules(), binary_rules(), conv_rules(), einsum_rules(),
                                linear_rules(), matmul_rules(), norm_rules(), pooling_rules(), quantize_rules(),
                                reduce_rules(), resize_rules(), shape_rules(), size_rules()}) {
    all.insert(all.end(), family.begin(), family.end());
  }
  return all;
}

// "aten::add.Tensor" of "aten::add.Tensor(Tensor self, ...) -> Tensor".
std::string operator_name(const char* schema) {
  const std::string_view text(schema);
  return std::string(text.substr(0, text.find('(')));
}

}  // namespace

const OpRules& all_rules() {
  static const OpRules rules = join_families();
  return rules;
}

const OpRule* find_rule(const TorchNode& node) {
  static const auto by_name = [] {
    std::unordered_map<std::string, const OpRule*> map;
    for (const OpRule& rule : all_rules()) map.emplace(operator_name(rule.schema), &rule);
    return map;
  }();
  const c10::FunctionSchema* schema = node.maybeSchema();
  if (schema == nullptr) return nullptr;
  const std::string& overload = schema->overload_name();
  const auto found = by_name.find(overload.empty() ? schema->name() : schema->name() + "." + overload);
  return found == by_name.end() ? nullptr : found->second;
}

}  // namespace nnapi_convert
