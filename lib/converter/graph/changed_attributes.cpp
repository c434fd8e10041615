// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/graph/changed_attributes.h"

#include <fmt/format.h>
#include <torch/csrc/jit/ir/alias_analysis.h>
#include <torch/csrc/jit/passes/inliner.h>

#include <algorithm>
#include <cctype>

#include "lib/base/error.h"
#include "lib/converter/graph/node_reads.h"
#include "lib/serialize/class_copies.h"

namespace nnapi_convert {
namespace {

using torch::jit::Node;
using torch::jit::Value;

class State {
 public:
  explicit State(const NormalisedModel& model) : model_(model) {}

  std::vector<StateAttribute> run() {
    follow(*model_.graph->inputs()[0]);
    return std::move(attributes_);
  }

 private:
  void follow(const Value& module) {
    for (const torch::jit::Use& use : module.uses()) {
      const Node& user = *use.user;
      const bool is_access =
          user.kind() == c10::prim::GetAttr || (user.kind() == c10::prim::SetAttr && use.offset == 0);
      if (!is_access) fail("a module", "is used as a value");
      if (gives_module(user)) {
        follow(*user.output());
      } else {
        add(user);
      }
    }
  }

  void add(const Node& access) {
    const AttributePath path = attribute_path(access);
    const bool is_known = std::any_of(attributes_.begin(), attributes_.end(),
                                      [&](const StateAttribute& attribute) { return attribute.path == path; });
    if (is_known) return;
    const c10::TypePtr type =
        access.input(0)->type()->expectRef<c10::ClassType>().getAttribute(access.s(c10::attr::name));
    if (!can_copy_values_of(type)) fail("the attribute " + path_text(path), "is a " + type->repr_str());
    attributes_.push_back(state_attribute(attributes_.size(), path, type, attribute_value(model_.frozen, path)));
  }

  [[noreturn]] static void fail(const std::string& what, const std::string& how) {
    throw ConvertError(ExitCode::kNotConvertible,
                       fmt::format("{} of the model {}, and the model changes its attributes as it runs; make what it "
                                   "changes an argument and a result of forward",
                                   what, how));
  }

  const NormalisedModel& model_;
  std::vector<StateAttribute> attributes_;
};

}  // namespace

StateAttribute state_attribute(size_t number, const AttributePath& path, const c10::TypePtr& type,
                               const c10::IValue& value) {
  std::string name = fmt::format("state_{}_", number);
  for (const char letter : path_text(path))
    name += std::isalnum(static_cast<unsigned char>(letter)) != 0 ? letter : '_';
  return {path, name, type, value};
}

std::set<AttributePath> attributes_changed_by(const torch::jit::Module& module, const std::string& method) {
  const std::shared_ptr<torch::jit::Graph> graph = module.get_method(method).graph()->copy();
  torch::jit::Inline(*graph);
  const torch::jit::AliasDb aliases(graph, true);  // each read of an attribute has memory of its own
  std::set<AttributePath> changed;
  for_each_node(*graph, [&](const Node& node) {
    const bool is_set = node.kind() == c10::prim::SetAttr;
    const bool is_read = node.kind() == c10::prim::GetAttr && !gives_module(node);
    if (!is_set && !(is_read && aliases.hasWriters(node.output()))) return;
    const AttributePath path = attribute_path(node);
    if (!path.empty()) changed.insert(path);
  });
  return changed;
}

std::set<AttributePath> attributes_read_beside(const torch::jit::Module& module, const std::string& method) {
  std::set<AttributePath> read;
  for (const torch::jit::Method& other : module.get_methods()) {
    if (other.name() == method) continue;
    const std::shared_ptr<torch::jit::Graph> graph = other.graph()->copy();
    torch::jit::Inline(*graph);
    for_each_node(*graph, [&](Node& node) {
      if (node.kind() == c10::prim::GetAttr && !gives_module(node)) read.insert(attribute_path(node));
    });
  }
  return read;
}

std::vector<StateAttribute> state_of(const NormalisedModel& model) {
  return State(model).run();
}

}  // namespace nnapi_convert
