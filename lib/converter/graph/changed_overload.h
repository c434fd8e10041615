// SPDX-License-Identifier: BSD-3-Clause
// Overloads that LibTorch changed after 1.13 without changing their names.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <string>

namespace nnapi_convert {

// Returns "aten::var.correction_number" for a node of aten::var whose `correction` is no int: 1.13 takes ints only, and
// LibTorch 2 takes any number under the same name. Empty for other nodes.
inline std::string changed_overload(const torch::jit::Node& node) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  if (schema == nullptr || schema->overload_name() != "correction") return "";
  const auto index = schema->argumentIndexWithName("correction");
  if (!index) return "";
  const c10::TypeKind kind = node.input(static_cast<size_t>(*index))->type()->kind();
  const bool is_of_both = kind == c10::TypeKind::IntType || kind == c10::TypeKind::NoneType;
  return is_of_both ? "" : schema->name() + ".correction_number";
}

}  // namespace nnapi_convert
