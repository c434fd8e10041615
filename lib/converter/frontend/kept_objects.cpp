// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/kept_objects.h"

#include <torch/csrc/jit/passes/inliner.h>

#include <algorithm>
#include <array>
#include <string>

#include "lib/converter/graph/node_reads.h"
#include "lib/serialize/class_copies.h"

namespace nnapi_convert {
namespace {

using torch::jit::Node;
using torch::jit::Value;

// True for what was taken out of an object, by way of lists and views too.
bool is_of_object(const Value& value) {
  const Node& maker = *value.node();
  if (maker.inputs().empty()) return false;
  if (maker.kind() == c10::prim::GetAttr && is_object(*maker.input(0)->type())) return true;
  return maker.kind() != c10::prim::Loop && maker.kind() != c10::prim::If && is_of_object(*maker.input(0));
}

bool changes_object(const Node& node) {
  if (node.kind() == c10::prim::SetAttr) return is_object(*node.input(0)->type());
  const c10::FunctionSchema* schema = node.maybeSchema();
  return schema != nullptr && schema->is_mutable() && !node.inputs().empty() && is_of_object(*node.input(0));
}

// True for weights that PyTorch's own C++ classes have packed: no operator changes them.
bool is_packed(const c10::Type& type) {
  const auto* object = type.castRaw<c10::ClassType>();
  if (object == nullptr || !object->name()) return false;
  const std::string name = object->name()->qualifiedName();
  static const std::array<const char*, 3> kPackages = {"quantized", "rnn", "xnnpack"};
  return std::any_of(kPackages.begin(), kPackages.end(), [&](const std::string& package) {
    return name.rfind("__torch__.torch.classes." + package + ".", 0) == 0;
  });
}

void append_paths(const torch::jit::Module& module, const AttributePath& holder, std::vector<AttributePath>& paths) {
  for (const c10::ClassAttribute& attribute : module.type()->getAttributes()) {
    AttributePath path = holder;
    path.push_back(attribute.getName());
    if (attribute.getType()->is_module()) {
      append_paths(module.attr(attribute.getName()).toModule(), path, paths);
    } else if (holds_objects(*attribute.getType()) && !is_packed(*attribute.getType())) {
      paths.push_back(std::move(path));
    }
  }
}

}  // namespace

std::vector<AttributePath> changed_objects(const torch::jit::Module& module) {
  std::vector<AttributePath> paths;
  append_paths(module, {}, paths);
  if (paths.empty()) return {};
  const std::shared_ptr<torch::jit::Graph> graph = module.get_method("forward").graph()->copy();
  torch::jit::Inline(*graph);
  bool changes = false;
  for_each_node(*graph, [&](const Node& node) { changes = changes || changes_object(node); });
  return changes ? paths : std::vector<AttributePath>();
}

}  // namespace nnapi_convert
