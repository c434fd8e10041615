// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/float16_linears.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/native/quantized/PackedParams.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/runtime/graph_iterator.h>
#include <torch/library.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace nnapi_convert {
namespace {

using Packed = c10::intrusive_ptr<LinearPackedParamsBase>;

// Holds the weights without packing them. Results have no scale: only the dynamic forms exist.
class Float16Linear final : public LinearPackedParamsBase {
 public:
  Float16Linear(const at::Tensor& weight, c10::optional<at::Tensor> bias)
      : weight_(saturated(weight).to(at::kHalf).to(at::kFloat)), bias_(std::move(bias)) {}

  at::Tensor apply(at::Tensor /*input*/, double /*scale*/, int64_t /*zero_point*/) override { return refuse(); }
  at::Tensor apply_relu(at::Tensor /*input*/, double /*scale*/, int64_t /*zero_point*/) override { return refuse(); }
  at::Tensor apply_dynamic(at::Tensor input, bool /*reduce_range*/) override {
    return at::linear(input, weight_, bias_);
  }
  at::Tensor apply_dynamic_relu(at::Tensor input, bool /*reduce_range*/) override {
    return at::relu(at::linear(input, weight_, bias_));
  }
  std::tuple<at::Tensor, c10::optional<at::Tensor>> unpack() override { return {weight_, bias_}; }
  c10::optional<at::Tensor> bias() override { return bias_; }

 private:
  // Limits weights to float16's range, as FBGEMM does.
  static at::Tensor saturated(const at::Tensor& weight) {
    constexpr double kGreatest = 65504;
    return weight.to(at::kFloat).clamp(-kGreatest, kGreatest);
  }
  static at::Tensor refuse() { TORCH_CHECK(false, "a linear layer of float16 weights gives no quantised results"); }

  at::Tensor weight_;
  c10::optional<at::Tensor> bias_;
};

Packed pack(const at::Tensor& weight, c10::optional<at::Tensor> bias) {
  return c10::make_intrusive<Float16Linear>(weight, std::move(bias));
}

std::tuple<at::Tensor, c10::optional<at::Tensor>> unpack(const Packed& packed) {
  return packed->unpack();
}

constexpr const char* kPack = "nnapi_convert::linear_prepack_fp16";
constexpr const char* kUnpack = "nnapi_convert::linear_unpack_fp16";

bool has_fbgemm() {
  const std::vector<at::QEngine>& engines = at::globalContext().supportedQEngines();
  return std::find(engines.begin(), engines.end(), at::QEngine::FBGEMM) != engines.end();
}

bool can_pack() {
  static const bool has = has_fbgemm();
  return has;
}

void declare_operators() {
  static const auto operators = torch::RegisterOperators().op(kPack, &pack).op(kUnpack, &unpack);
  static_cast<void>(operators);
}

void replace_kind(torch::jit::Node& node, const char* kind) {
  torch::jit::Node* other = node.owningGraph()->create(c10::Symbol::fromQualString(kind), node.inputs(), 0);
  for (torch::jit::Value* output : node.outputs()) {
    torch::jit::Value* replacement = other->addOutput()->copyMetadata(output);
    output->replaceAllUsesWith(replacement);
  }
  other->insertBefore(&node);
  other->setSourceRange(node.sourceRange());
  node.destroy();
}

void keep_weights(std::shared_ptr<torch::jit::Graph> graph) {
  static const auto kPacking = c10::Symbol::fromQualString("quantized::linear_prepack_fp16");
  static const auto kUnpacking = c10::Symbol::fromQualString("quantized::linear_unpack_fp16");
  std::vector<torch::jit::Node*> found;
  torch::jit::DepthFirstGraphNodeIterator nodes(graph);
  while (torch::jit::Node* node = nodes.next()) {
    if (node->kind() == kPacking || node->kind() == kUnpacking) found.push_back(node);
  }
  if (found.empty()) return;
  declare_operators();
  for (torch::jit::Node* node : found) replace_kind(*node, node->kind() == kPacking ? kPack : kUnpack);
}

}  // namespace

void keep_float16_weights(const c10::ClassType& type) {
  if (can_pack()) return;
  for (torch::jit::Function* method : type.methods()) {
    if (torch::jit::GraphFunction* function = torch::jit::tryToGraphFunction(*method)) keep_weights(function->graph());
  }
}

c10::intrusive_ptr<c10::ivalue::Object> float16_linear_of(const c10::ClassType& type, const c10::IValue& state) {
  if (can_pack() || !(type == *c10::getCustomClassType<Packed>()) || !state.isTuple()) return {};
  const auto& parts = state.toTupleRef().elements();  // the weights, and a bias or None
  const bool are_parts = parts.size() == 2 && parts[0].isTensor() && (parts[1].isTensor() || parts[1].isNone());
  if (!are_parts || !parts[0].toTensor().defined() || !parts[0].toTensor().is_floating_point()) return {};
  const auto bias = parts[1].isTensor() ? c10::optional<at::Tensor>(parts[1].toTensor()) : c10::nullopt;
  return c10::IValue(pack(parts[0].toTensor(), bias)).toObject();
}

}  // namespace nnapi_convert
