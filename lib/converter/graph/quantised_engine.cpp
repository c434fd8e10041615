// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/graph/quantised_engine.h"

#include <ATen/Context.h>
#include <ATen/native/quantized/PackedParams.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/custom_class.h>

#include <algorithm>
#include <optional>
#include <string>

#include "lib/converter/graph/node_reads.h"

namespace nnapi_convert {
namespace {

using torch::jit::Node;
using torch::jit::Value;

// True if the argument is known to be a list of this number alone, or is missing.
bool are_all(const Node& node, const char* name, int64_t number) {
  const Value* list = input_named(node, name);
  if (list == nullptr) return true;
  if (const auto constant = torch::jit::toIValue(list)) {
    const std::vector<int64_t> numbers = constant->toIntVector();
    return std::all_of(numbers.begin(), numbers.end(), [&](int64_t each) { return each == number; });
  }
  const auto elements = list->node()->inputs();
  return list->node()->kind() == c10::prim::ListConstruct &&
         std::all_of(elements.begin(), elements.end(), [&](const Value* each) {
           const auto constant = torch::jit::toIValue(each);
           return constant && constant->isInt() && constant->toInt() == number;
         });
}

bool counts_padding(const Node& node) {
  const Value* counts = input_named(node, "count_include_pad");
  const auto constant = counts == nullptr ? c10::nullopt : torch::jit::toIValue(counts);
  return constant && constant->isBool() && constant->toBool();
}

// True if QNNPACK computes otherwise than PyTorch defines it. Says nothing about the dtype.
bool differs_in_qnnpack(const Node& node) {
  std::string name = node.kind().toUnqualString();
  if (name.back() == '_') name.pop_back();  // in place
  if (name == "clamp" || name == "hardtanh" || name == "relu6") return true;
  if (name == "avg_pool1d" || name == "avg_pool2d") {
    const Value* divisor = input_named(node, "divisor_override");
    const bool has_divisor = divisor != nullptr && !divisor->mustBeNone();
    return has_divisor || (!counts_padding(node) && !are_all(node, "padding", 0));
  }
  const bool is_maximum = name == "max_pool1d" || name == "max_pool2d";
  return is_maximum && !are_all(node, "dilation", 1) && !are_all(node, "padding", 0);
}

bool packs_weights(const Node& node) {
  return std::string(node.kind().toUnqualString()).find("prepack") != std::string::npos;
}

template <typename Predicate>
bool any_node(const KernelsAsDefined::Graphs& graphs, Predicate predicate) {
  bool found = false;
  for (const auto& graph : graphs) {
    for_each_node(*graph, [&](const Node& node) { found = found || predicate(node); });
  }
  return found;
}

}  // namespace

bool has_quantised_engine(at::QEngine engine) {
  const std::vector<at::QEngine>& engines = at::globalContext().supportedQEngines();
  return std::find(engines.begin(), engines.end(), engine) != engines.end();
}

void choose_quantised_engine() {
  if (has_quantised_engine(at::QEngine::QNNPACK)) at::globalContext().setQEngine(at::QEngine::QNNPACK);
}

void choose_quantised_engine_for(const c10::ClassType& type) {
  if (!has_quantised_engine(at::QEngine::ONEDNN)) return;
  const c10::TypePtr packed = c10::getCustomClassType<c10::intrusive_ptr<ConvPackedParamsBase<3>>>();
  for (const c10::ClassAttribute& attribute : type.getAttributes()) {
    if (*attribute.getType() == *packed) at::globalContext().setQEngine(at::QEngine::ONEDNN);
  }
}

KernelsAsDefined::KernelsAsDefined(const Graphs& graphs) : before_(at::globalContext().qEngine()) {
  if (before_ != at::QEngine::QNNPACK || !any_node(graphs, differs_in_qnnpack)) return;
  // A __setstate__ packs weights, too, but not when forward runs: it has none of these operators.
  const bool packs_in_forward = std::any_of(graphs.begin(), graphs.end(), [](const auto& graph) {
    return any_node({graph}, differs_in_qnnpack) && any_node({graph}, packs_weights);
  });
  if (packs_in_forward) return;
  at::globalContext().setQEngine(at::QEngine::NoQEngine);
}

KernelsAsDefined::~KernelsAsDefined() {
  at::globalContext().setQEngine(before_);
}

}  // namespace nnapi_convert
