// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/verify/own_rounding.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/passes/shape_analysis.h>

#include <algorithm>
#include <exception>
#include <memory>

#include "lib/base/error.h"
#include "lib/base/watched_run.h"
#include "lib/converter/frontend/freeze.h"
#include "lib/converter/graph/deep_copy.h"
#include "lib/converter/graph/node_reads.h"
#include "lib/converter/verify/accumulator.h"
#include "lib/converter/verify/run_models.h"

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::Node;

// While it lives, tensors that are made without a dtype are float64.
class DoubleByDefault {
 public:
  DoubleByDefault() { c10::set_default_dtype(caffe2::TypeMeta::Make<double>()); }
  ~DoubleByDefault() { c10::set_default_dtype(before_); }
  DoubleByDefault(const DoubleByDefault&) = delete;
  DoubleByDefault& operator=(const DoubleByDefault&) = delete;

 private:
  caffe2::TypeMeta before_ = c10::get_default_dtype();
};

at::Tensor widened(const at::Tensor& tensor) {
  return tensor.defined() && tensor.scalar_type() == at::kFloat ? tensor.to(at::kDouble) : tensor;
}

c10::IValue widened(const c10::IValue& value) {
  if (value.isTensor()) return widened(value.toTensor());
  if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(widened(tensor));
    return list;
  }
  if (!value.isTuple()) return value;
  std::vector<c10::IValue> elements;
  for (const c10::IValue& element : value.toTupleRef().elements()) elements.push_back(widened(element));
  return c10::ivalue::Tuple::create(std::move(elements));
}

// Turns float32 constants into float64 ones, and so the dtype float32 that operators are told to compute in.
void widen(const std::shared_ptr<Graph>& graph) {
  std::vector<Node*> casting;
  for_each_node(*graph, [&](Node& node) {
    if (node.kind() == c10::prim::Constant && node.hasAttribute(c10::attr::value) &&
        node.kindOf(c10::attr::value) == torch::jit::AttributeKind::t) {
      node.t_(c10::attr::value, widened(node.t(c10::attr::value)));
    }
    if (input_named(node, "dtype") != nullptr) casting.push_back(&node);
  });
  for (Node* node : casting) {
    const size_t place = static_cast<size_t>(*node->schema().argumentIndexWithName("dtype"));
    const auto dtype = torch::jit::toIValue(node->input(place));
    if (!dtype || !dtype->isInt() || dtype->toInt() != static_cast<int64_t>(at::kFloat)) continue;
    const torch::jit::WithInsertPoint here(node);
    node->replaceInput(place, graph->insertConstant(static_cast<int64_t>(at::kDouble)));
  }
  torch::jit::EraseShapeInformation(graph);
}

// Returns for each output the largest error over all samples, as a share of the output's range.
std::vector<double> errors_of(const std::vector<Tensors>& truth, const std::vector<Tensors>& results) {
  std::vector<Accumulator> outputs(truth.at(0).size());
  for (size_t sample = 0; sample < truth.size(); ++sample) {
    check_same_outputs(truth[sample], results[sample]);
    for (size_t i = 0; i < outputs.size(); ++i) outputs.at(i).add(truth[sample].at(i), results[sample].at(i));
  }
  std::vector<double> errors;
  for (const Accumulator& output : outputs) errors.push_back(output.result({}).relative_error);
  return errors;
}

}  // namespace

std::optional<OwnRounding> own_rounding(const LoadedModel& original, const KeptResults& kept) {
  if (kept.inputs.empty()) return std::nullopt;
  try {
    torch::jit::Module module = frozen_module(original).module;
    widen(module.get_method("forward").graph());
    module = deep_copy(module);  // the frozen module shares attributes with the original
    module.to(at::kDouble);
    const DoubleByDefault doubles;
    std::vector<Tensors> truth;
    for (const InputTuple& inputs : kept.inputs) {
      tell_sign_of_life();
      InputTuple wide;
      for (const c10::IValue& input : inputs) wide.push_back(widened(input));
      truth.push_back(run_unconverted(module, wide, "the original in float64"));
    }
    const std::vector<double> own = errors_of(truth, kept.original), converted = errors_of(truth, kept.converted);
    OwnRounding result;
    result.is_explained = true;
    for (size_t i = 0; i < own.size(); ++i) {
      result.original = std::max(result.original, own[i]);
      result.converted = std::max(result.converted, converted[i]);
      const bool is_near =
          own[i] <= VerifyDefaults::kMostOwnRounding && converted[i] <= VerifyDefaults::kMostRoundings * own[i];
      result.is_explained = result.is_explained && (is_near || converted[i] <= VerifyDefaults::kFloatTolerance);
    }
    return result;
  } catch (const std::exception&) {
    return std::nullopt;  // PyTorch has no float64 kernels, or an operator takes one width alone
  }
}

}  // namespace nnapi_convert
