// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/kept_objects.h"

#include <torch/csrc/jit/passes/inliner.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "lib/converter/graph/changed_attributes.h"
#include "lib/converter/graph/node_reads.h"
#include "lib/serialize/class_copies.h"

namespace nnapi_convert {
namespace {

using torch::jit::Node;
using torch::jit::Value;

// True for a value that was taken out of an object, by way of lists and views too.
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

// Appends the paths of the attributes whose types are wanted.
template <typename IsWanted>
void append_paths(const torch::jit::Module& module, const AttributePath& holder, const IsWanted& is_wanted,
                  std::vector<AttributePath>& paths) {
  for (const c10::ClassAttribute& attribute : module.type()->getAttributes()) {
    AttributePath path = holder;
    path.push_back(attribute.getName());
    if (attribute.getType()->is_module()) {
      append_paths(module.attr(attribute.getName()).toModule(), path, is_wanted, paths);
    } else if (is_wanted(*attribute.getType())) {
      paths.push_back(std::move(path));
    }
  }
}

bool holds_list_or_dict(const c10::Type& type) {
  if (type.kind() == c10::TypeKind::ListType || type.kind() == c10::TypeKind::DictType) return true;
  if (type.kind() == c10::TypeKind::ClassType) return false;
  const auto contained = type.containedTypes();
  return std::any_of(contained.begin(), contained.end(),
                     [](const c10::TypePtr& each) { return holds_list_or_dict(*each); });
}

}  // namespace

std::vector<AttributePath> changed_objects(const torch::jit::Module& module) {
  std::vector<AttributePath> paths;
  append_paths(
      module, {}, [](const c10::Type& type) { return holds_objects(type) && !is_packed(type); }, paths);
  if (paths.empty()) return {};
  const std::shared_ptr<torch::jit::Graph> graph = module.get_method("forward").graph()->copy();
  torch::jit::Inline(*graph);
  bool changes = false;
  for_each_node(*graph, [&](const Node& node) { changes = changes || changes_object(node); });
  return changes ? paths : std::vector<AttributePath>();
}

std::vector<AttributePath> changed_containers(const torch::jit::Module& module) {
  std::vector<AttributePath> paths;
  append_paths(module, {}, holds_list_or_dict, paths);
  if (paths.empty()) return {};
  const std::set<AttributePath> changed = attributes_changed_by(module, "forward");
  const auto is_same = [&](const AttributePath& path) { return changed.count(path) == 0; };
  paths.erase(std::remove_if(paths.begin(), paths.end(), is_same), paths.end());
  return paths;
}

}  // namespace nnapi_convert
