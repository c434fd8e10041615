// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/graph/attribute_path.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/error.h"

namespace nnapi_convert {

using torch::jit::Node;

std::string path_text(const AttributePath& path) {
  return fmt::format("{}", fmt::join(path, "."));
}

bool gives_module(const Node& node) {
  return node.kind() == c10::prim::GetAttr && node.output()->type()->is_module();
}

AttributePath attribute_path(const Node& access) {
  if (!access.input(0)->type()->is_module()) return {};
  AttributePath path = {access.s(c10::attr::name)};
  const Node* maker = access.input(0)->node();
  for (; gives_module(*maker); maker = maker->input(0)->node()) path.push_back(maker->s(c10::attr::name));
  if (maker->kind() != c10::prim::Param) return {};
  std::reverse(path.begin(), path.end());
  return path;
}

bool is_attribute_access(const Node& node, c10::Symbol kind) {
  return node.kind() == kind && !gives_module(node) && !attribute_path(node).empty();
}

c10::IValue attribute_value(const torch::jit::Module& module, const AttributePath& path) {
  NNC_ASSERT(!path.empty(), "an attribute has a name");
  c10::IValue value = module._ivalue();
  for (const std::string& name : path) value = value.toObjectRef().getAttr(name);
  return value;
}

}  // namespace nnapi_convert
