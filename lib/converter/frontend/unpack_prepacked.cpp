// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/unpack_prepacked.h"

#include <ATen/ATen.h>
#include <torch/custom_class.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "lib/converter/frontend/float_products.h"
#include "lib/converter/graph/node_reads.h"
#include "lib/converter/graph/object_state.h"
#include "lib/ops/plain_calls.h"

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::NamedValue;
using torch::jit::Node;
using torch::jit::Value;

// The saved state of packed weights: weight, bias, the operator's other arguments, lowest and highest result.
using Parts = std::vector<c10::IValue>;

std::optional<Parts> parts_of(Node* node, size_t count) {
  if (node->inputs().size() != 2) return std::nullopt;
  const auto context = torch::jit::toIValue(node->input(1));
  if (!context || !context->isCustomClass()) return std::nullopt;
  const auto state = saved_state(*context);
  if (!state) return std::nullopt;
  const Parts parts = state->isTuple()  ? state->toTupleRef().elements().vec()
                      : state->isList() ? state->toListRef().vec()
                                        : Parts();
  const bool is_known = parts.size() == count && parts[0].isTensor() && (parts[1].isTensor() || parts[1].isNone());
  return is_known ? std::optional(parts) : std::nullopt;
}

// Returns a weight in PyTorch's memory order without packing.
c10::IValue plain_tensor(const c10::IValue& value) {
  return value.isTensor() ? c10::IValue(value.toTensor().detach().contiguous()) : value;
}

std::optional<double> limit_of(const c10::IValue& value) {
  if (value.isNone() || std::isinf(value.toScalar().toDouble())) return std::nullopt;
  return value.toScalar().toDouble();
}

Value* clamped(PlainCalls& plain, Value* value, const c10::IValue& lowest, const c10::IValue& highest) {
  const auto low = limit_of(lowest), high = limit_of(highest);
  if (!low && !high) return value;
  if (low == 0.0 && !high) return plain.insert("relu", {value});
  if (low && high) return plain.insert("hardtanh", {value, *low, *high});
  return plain.insert("clamp", {value, low ? NamedValue(*low) : NamedValue(c10::IValue()),
                                high ? NamedValue(*high) : NamedValue(c10::IValue())});
}

void replace(Node* node, Value* result) {
  result->setType(node->output()->type());
  node->output()->replaceAllUsesWith(result);
  node->destroy();
}

bool unpack_linear(Node* node) {
  const auto parts = parts_of(node, 4);
  if (!parts) return false;
  PlainCalls plain(node);
  Value* result = plain.insert(
      "linear", {node->input(0), plain.constant(plain_tensor((*parts)[0])), plain.constant(plain_tensor((*parts)[1]))});
  replace(node, clamped(plain, result, (*parts)[2], (*parts)[3]));
  return true;
}

// Unpacks weight, bias, stride, padding, dilation, groups, lowest, highest.
bool unpack_convolution(Node* node) {
  const auto parts = parts_of(node, 8);
  if (!parts) return false;
  PlainCalls plain(node);
  std::vector<NamedValue> arguments = {node->input(0), plain.constant(plain_tensor((*parts)[0])),
                                       plain.constant(plain_tensor((*parts)[1]))};
  for (size_t i = 2; i < 6; ++i) arguments.emplace_back(plain.constant((*parts)[i]));
  replace(node, clamped(plain, plain.insert("conv2d", arguments), (*parts)[6], (*parts)[7]));
  return true;
}

// Unpacks weight, bias, stride, padding, output padding, dilation, groups, lowest, highest; the operator takes groups
// before dilation.
bool unpack_transposed_convolution(Node* node) {
  const auto parts = parts_of(node, 9);
  if (!parts) return false;
  PlainCalls plain(node);
  std::vector<NamedValue> arguments = {node->input(0), plain.constant(plain_tensor((*parts)[0])),
                                       plain.constant(plain_tensor((*parts)[1]))};
  for (const size_t i : {2, 3, 4, 6, 5}) arguments.emplace_back(plain.constant((*parts)[i]));
  replace(node, clamped(plain, plain.insert("conv_transpose2d", arguments), (*parts)[7], (*parts)[8]));
  return true;
}

bool split_add_relu(Node* node) {
  if (node->schema().overload_name() == "out") return false;
  const bool is_in_place = node->schema().is_mutable();
  PlainCalls plain(node);
  Value* sum = plain.insert(is_in_place ? "add_" : "add", {argument(node, "self"), argument(node, "other")},
                            {NamedValue("alpha", argument(node, "alpha"))});
  replace(node, plain.insert(is_in_place ? "relu_" : "relu", {sum}));
  return true;
}

struct Unpacking {
  const char* kind;
  bool (*replace)(Node*);  // false leaves all as it was
};

constexpr Unpacking kUnpackings[] = {
    {"prepacked::linear_clamp_run", unpack_linear},
    {"prepacked::conv2d_clamp_run", unpack_convolution},
    {"prepacked::conv2d_transpose_clamp_run", unpack_transposed_convolution},
    // Float forms for 3-D convolutions: NNAPI has no integers in three dimensions.
    {"quantized::conv3d", make_float_product},
    {"quantized::conv3d_relu", make_float_product},
    {"quantized::conv_transpose3d", make_float_product},
    {"aten::_add_relu", split_add_relu},
    {"aten::_add_relu_", split_add_relu},
};

}  // namespace

void unpack_prepacked(Graph& graph) {
  std::vector<Node*> nodes;
  for_each_node(graph, [&](Node& node) { nodes.push_back(&node); });
  for (Node* node : nodes) {
    const std::string kind = node->kind().toQualString();
    for (const Unpacking& unpacking : kUnpackings) {
      if (kind == unpacking.kind && unpacking.replace(node)) break;
    }
  }
}

}  // namespace nnapi_convert
