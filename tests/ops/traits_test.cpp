// SPDX-License-Identifier: BSD-3-Clause
// Every rule states its traits, and they agree with each other and with PyTorch's schemas.
#include <torch/csrc/jit/runtime/operator.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "lib/converter/graph/androids_operators.h"
#include "lib/ops/families.h"
#include "lib/ops/registry.h"

namespace nnapi_convert {
namespace {

std::string name_of(const OpRule& rule) {
  const std::string schema = rule.schema;
  return schema.substr(0, schema.find_first_of(".("));
}

std::vector<OpRule> rules_with_traits() {
  std::vector<OpRule> rules = all_rules();
  const OpRules own = recognised_rules();
  rules.insert(rules.end(), own.begin(), own.end());
  return rules;
}

std::set<std::string> names_of_rules() {
  std::set<std::string> names;
  for (const OpRule& rule : rules_with_traits()) names.insert(name_of(rule));
  return names;
}

bool shares_memory(const c10::FunctionSchema& schema) {
  const auto& results = schema.returns();
  return std::any_of(results.begin(), results.end(),
                     [](const c10::Argument& result) { return result.alias_info() != nullptr; });
}

// Calls `visit` with the operator's traits and each of its functional schemas that LibTorch knows.
template <typename Visit>
void for_each_schema(const std::string& name, const Visit& visit) {
  const auto kind = c10::Symbol::fromQualString(name);
  for (const auto& found : torch::jit::getAllOperatorsFor(kind)) {
    if (!found->schema().is_mutable()) visit(find_traits(kind), found->schema());
  }
}

std::set<std::string> all_names() {
  std::set<std::string> names = names_of_rules();
  for (const CpuOperators& operators : cpu_operators()) names.insert(operators.names.begin(), operators.names.end());
  return names;
}

}  // namespace

TEST_CASE("every rule states how rows depend on rows, and what it costs") {
  for (const OpRule& rule : rules_with_traits()) {
    INFO(rule.schema << ": give the row traits, such as kUnprovedRows (lib/ops/op_traits.h)");
    CHECK(rule.traits.is_stated());
  }
}

TEST_CASE("rules of one operator have the same traits") {
  std::map<std::string, OpTraits> first;
  for (const OpRule& rule : rules_with_traits()) {
    INFO(rule.schema);
    CHECK(first.emplace(name_of(rule), rule.traits).first->second == rule.traits);
  }
}

TEST_CASE("an operator is listed once, by rules or as one of the CPU, with something that is known of it") {
  std::set<std::string> names = names_of_rules();
  for (const CpuOperators& operators : cpu_operators()) {
    CHECK_FALSE(operators.traits == OpTraits());
    for (const char* name : operators.names) {
      INFO(name);
      CHECK(names.insert(name).second);
    }
  }
}

TEST_CASE("memory is as the schema has it") {
  for (const std::string& name : all_names()) {
    for_each_schema(name, [&](const OpTraits& traits, const c10::FunctionSchema& schema) {
      INFO(schema);
      const bool gives_tensor = schema.returns().size() == 1 &&
                                schema.returns()[0].type()->kind() == c10::TypeKind::TensorType &&
                                schema.arguments()[0].type()->kind() == c10::TypeKind::TensorType;
      if (traits.memory == Memory::kView && gives_tensor) CHECK(schema.arguments()[0].alias_info() != nullptr);
      if (traits.memory != Memory::kBySchema && traits.memory != Memory::kView) CHECK_FALSE(shares_memory(schema));
    });
  }
}

TEST_CASE("indices are arguments of the schema") {
  for (const std::string& name : all_names()) {
    const Index index = find_traits(c10::Symbol::fromQualString(name)).index;
    bool has = index == Index::kNone || index == Index::kClass;
    for_each_schema(name, [&](const OpTraits&, const c10::FunctionSchema& schema) {
      for (const char* argument : {"index", "indices", "start"}) has = has || schema.argumentIndexWithName(argument);
    });
    INFO(name);
    CHECK((has || name.back() == '_'));
  }
}

TEST_CASE("quantised operators that multiply have costs") {
  const auto has = [](const std::string& name, const char* part) { return name.find(part) != std::string::npos; };
  for (const auto& found : torch::jit::getAllOperators()) {
    const c10::FunctionSchema& schema = found->schema();
    const std::string& name = schema.name();
    const bool is_quantised = name.rfind("quantized::", 0) == 0 || name.rfind("_quantized::", 0) == 0;
    const bool gives_tensor =
        !schema.returns().empty() && schema.returns()[0].type()->kind() == c10::TypeKind::TensorType;
    const bool multiplies = has(name, "conv") || has(name, "linear") || has(name, "matmul") || has(name, "_cell");
    if (!is_androids_operator(schema.operator_name())) continue;  // no model that converts has it
    if (!is_quantised || !gives_tensor || !multiplies || has(name, "pack")) continue;
    INFO(name);
    CHECK(find_traits(c10::Symbol::fromQualString(name)).multiplies());
  }
}

TEST_CASE("an operator that is nowhere has no traits") {
  CHECK(find_traits(c10::Symbol::fromQualString("aten::no_such_operator")) == OpTraits());
}

}  // namespace nnapi_convert
