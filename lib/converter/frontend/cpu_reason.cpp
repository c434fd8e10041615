// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/cpu_reason.h"

#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <unordered_set>

#include "lib/converter/frontend/unroll_loops.h"
#include "lib/converter/graph/changed_attributes.h"
#include "lib/converter/graph/glue.h"
#include "lib/converter/graph/random_numbers.h"
#include "lib/ops/registry.h"

namespace nnapi_convert {

bool holds_tensors(const c10::TypePtr& type) {
  if (type->kind() == c10::TypeKind::TensorType) return true;
  const auto contained = type->containedTypes();
  return std::any_of(contained.begin(), contained.end(), holds_tensors);
}

namespace {

template <typename Values>
bool any_holds_tensors(const Values& values) {
  return std::any_of(values.begin(), values.end(),
                     [](const TorchValue* value) { return holds_tensors(value->type()); });
}

// Goes back from a value of unknown type to the first value of unknown type that it depends on.
class Search {
 public:
  explicit Search(const TypeMap& types) : types_(types) {}

  const TorchNode* run(const TorchValue& value) {
    const TorchNode& node = *value.node();
    if (node.kind() == c10::prim::Param) return owner_of(value);
    if (!seen_.insert(&value).second) return &node;
    const TorchValue* earlier = before(node, value.offset());
    return earlier == nullptr ? &node : run(*earlier);
  }

 private:
  // Returns the loop whose body has the value as an input; null for an argument of forward.
  static const TorchNode* owner_of(const TorchValue& value) { return value.node()->owningBlock()->owningNode(); }

  const TorchValue* before(const TorchNode& node, size_t output) const {
    if (node.kind() == c10::prim::If) return of_branches(node, output);
    if (node.kind() != c10::prim::Loop) return of_inputs(node);
    const TorchValue* initial = node.inputs()[output + 2];  // inputs 0 and 1: number of rounds, first condition
    return is_unknown(*initial) ? initial : nullptr;
  }

  bool is_unknown(const TorchValue& value) const {
    if (types_.count(&value) != 0 || torch::jit::toIValue(&value) || value.node()->kind() == c10::prim::Constant) {
      return false;
    }
    return value.type()->kind() != c10::TypeKind::NoneType && !gives_module(*value.node());
  }

  const TorchValue* of_inputs(const TorchNode& node) const {
    for (const TorchValue* input : node.inputs()) {
      if (is_glue(*input->node())) {
        if (const TorchValue* element = of_inputs(*input->node())) return element;
      } else if (is_unknown(*input)) {
        return input;
      }
    }
    return nullptr;
  }

  const TorchValue* of_branches(const TorchNode& node, size_t offset) const {
    for (const torch::jit::Block* block : node.blocks()) {
      const TorchValue* output = block->outputs()[offset];
      if (is_unknown(*output)) return output;
    }
    return nullptr;
  }

  const TypeMap& types_;
  std::unordered_set<const TorchValue*> seen_;
};

}  // namespace

std::optional<std::string> reason_of_effect(const TorchNode& node) {
  if (node.kind() == c10::prim::If) return "which branch runs depends on values";
  if (is_too_long(node)) return "it is too long to be written out";
  if (node.kind() == c10::prim::Loop) return "how often it runs depends on values";
  if (!node.blocks().empty()) return "what runs depends on values";
  if (node.kind() == c10::prim::GetAttr && !gives_module(node)) return "reads an attribute that may change";
  if (node.kind() == c10::prim::SetAttr) return "changes an attribute";
  if (node.kind() == c10::prim::RaiseException) return "ends the run with an error";
  if (node.kind() == c10::prim::Print) return "prints";
  if (node.kind() == c10::aten::warn) return "gives a warning";
  if (draws_random_numbers(node)) return "draws random numbers";
  if (node.hasSideEffects()) return "has an effect whose order has to be kept";
  return std::nullopt;
}

std::optional<std::string> reason_without_tensors(const TorchNode& node) {
  const bool reads = any_holds_tensors(node.inputs()), gives = any_holds_tensors(node.outputs());
  if (!reads && !gives) return "works on numbers, strings or objects, not on tensors";
  if (find_traits(node).has(Fact::kIsOfContainers)) return "puts values into a list, dict or object, or takes them out";
  if (!gives && !node.outputs().empty()) return "gives a number, not a tensor";
  return std::nullopt;
}

const TorchNode* where_types_end(const TorchValue& value, const TypeMap& types) {
  return Search(types).run(value);
}

}  // namespace nnapi_convert
