// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/missing_rule.h"

#include <fmt/format.h>

#include "lib/converter/frontend/expand_composite.h"
#include "lib/converter/frontend/unroll_loops.h"
#include "lib/converter/graph/node_reads.h"
#include "lib/converter/graph/random_numbers.h"
#include "lib/ops/known_refusals.h"

namespace nnapi_convert {
namespace {

using torch::jit::Node;

bool is_of_attribute(const Node& node) {
  return node.kind() == c10::prim::GetAttr || node.kind() == c10::prim::SetAttr;
}

// True for an operator that only training needs.
bool gives_gradients(const std::string& kind) {
  return kind.find("_backward") != std::string::npos;
}

std::string hint_for(const Node& node) {
  if (is_too_long(node))
    return "make the loop shorter, or use --control-flow nnapi, which needs --runtime shim --feature-level 4";
  if (!node.blocks().empty())
    return "PyTorch runs branches and loops whose condition depends on the input; trace the model instead, or use "
           "--control-flow "
           "nnapi, which needs --runtime shim --feature-level 4";
  const std::string kind = node.kind().toQualString();
  if (is_of_attribute(node)) return "take the attribute as an input of forward, and return it";
  if (kind.rfind("prepacked::", 0) == 0) return "convert the model as it was before optimize_for_mobile";
  if (kind == "aten::index_put_" || kind == "aten::copy_" || kind == "aten::fill_")
    return "it changes a tensor in place, and another view of the tensor is read later; make a new tensor, as with "
           "torch.where";
  if (kind.back() == '_' && kind[kind.size() - 2] != '_')
    return "it changes a tensor in place, and another view of the tensor is read later; write it without the "
           "underscore";
  if (gives_gradients(kind)) return "gradients are of use in training only: leave them out of the model";
  if (draws_random_numbers(node)) return "NNAPI has no random numbers: take them as an input of forward";
  return "see `nnapi-convert ops` for what can be lowered";
}

std::string found_in(const Node& node) {
  if (is_too_long(node)) {
    return fmt::format("loops of more than {} operations when they are written out", kMostUnrolledNodes);
  }
  if (is_of_attribute(node)) return "forward changes the attribute " + node.s(c10::attr::name);
  const c10::FunctionSchema* schema = node.maybeSchema();
  if (schema == nullptr) return "no rule for this node";
  const std::string overload = schema->overload_name().empty() ? "" : "." + schema->overload_name();
  return "no rule for " + schema->name() + overload;
}

}  // namespace

Refusal missing_rule(const Node& node, const TypeMap& types) {
  if (const auto refusal = formula_refusal(node, types)) return *refusal;
  const std::string kind = node.kind().toQualString();
  if (const KnownRefusal* known = known_refusal(node)) {
    return {source_of(node), kind, known->found, known->needed, known->hint};
  }
  return {source_of(node), kind, found_in(node), "", hint_for(node)};
}

}  // namespace nnapi_convert
