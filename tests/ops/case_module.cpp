// SPDX-License-Identifier: BSD-3-Clause
#include "tests/ops/case_module.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/jit/frontend/resolver.h>
#include <torch/csrc/jit/frontend/sugared_value.h>

#include <cmath>

#include "lib/converter/frontend/sample_inputs.h"
#include "lib/converter/graph/quantised_engine.h"
#include "lib/converter/load/newer_operators.h"

namespace nnapi_convert {
namespace {

constexpr uint64_t kWeightSeed = 100;
constexpr uint64_t kInputStride = 10;  // between the seeds of one sample's inputs

// "ops.quantized" in a source.
struct OperatorNamespaces : torch::jit::SugaredValue {
  std::string kind() const override { return "ops"; }
  std::shared_ptr<SugaredValue> attr(const torch::jit::SourceRange&, torch::jit::GraphFunction&,
                                     const std::string& field) override {
    return std::make_shared<torch::jit::BuiltinModule>(field);
  }
};

struct CaseResolver : torch::jit::NativeResolver {
  std::shared_ptr<torch::jit::SugaredValue> resolveValue(const std::string& name, torch::jit::GraphFunction& function,
                                                         const torch::jit::SourceRange& range) override {
    if (name == "ops") return std::make_shared<OperatorNamespaces>();
    return NativeResolver::resolveValue(name, function, range);
  }
};

at::Tensor random_values(const CaseTensor& tensor, uint64_t seed) {
  at::Generator generator = at::detail::createCPUGenerator(seed);
  if (tensor.type.is_quantized()) {
    const Quantization& quantization = tensor.type.quantization;
    const at::Tensor bytes =
        at::randint(0, 256, fixed_values(tensor.type.dims), generator, at::TensorOptions(at::kByte));
    return at::_make_per_tensor_quantized_tensor(bytes, quantization.scale, quantization.zero_point);
  }
  if (!tensor.range) return random_tensor(tensor.type, seed, 1);
  if (!at::isFloatingType(tensor.type.dtype)) {
    return at::randint(static_cast<int64_t>(tensor.range->low), static_cast<int64_t>(tensor.range->high),
                       fixed_values(tensor.type.dims), generator, at::TensorOptions(tensor.type.dtype));
  }
  const at::Tensor even = at::rand(fixed_values(tensor.type.dims), generator, at::TensorOptions(tensor.type.dtype));
  return even * (tensor.range->high - tensor.range->low) + tensor.range->low;
}

at::Tensor weight_values(const CaseTensor& weight, uint64_t seed) {
  if (weight.type.dtype == at::kLong) return at::full({}, 3, at::TensorOptions(at::kLong));
  return random_values(weight, seed);
}

at::Tensor quantized_weight(const PackedWeights& packed, at::Generator& generator) {
  const at::Tensor bytes = at::randint(-127, 128, packed.sizes, generator, at::TensorOptions(at::kChar));
  if (!packed.per_channel) return at::_make_per_tensor_quantized_tensor(bytes, packed.scale, 0);
  const int64_t axis = packed.kind == "conv_transpose" ? 1 : 0;
  const int64_t channels = packed.sizes[static_cast<size_t>(axis)];
  const at::TensorOptions doubles(at::kDouble);
  const at::Tensor scales =
      packed.scale * (packed.spread == 0 ? at::linspace(0.5, 1.0, channels, doubles)
                                         : at::logspace(-std::log10(packed.spread), 0, channels, 10, doubles));
  return at::_make_per_channel_quantized_tensor(bytes, scales, at::zeros({channels}, at::TensorOptions(at::kLong)),
                                                axis);
}

// The result of an operator that packs weights, an object of a class of PyTorch's own.
c10::IValue pack(const PackedWeights& packed, uint64_t seed) {
  at::Generator generator = at::detail::createCPUGenerator(seed);
  std::vector<c10::IValue> stack{quantized_weight(packed, generator)};
  const bool is_transposed = packed.kind == "conv_transpose";
  const int64_t outputs = is_transposed ? packed.sizes[1] * packed.groups : packed.sizes[0];
  stack.emplace_back();
  if (packed.bias != 0) stack.back() = at::randn({outputs}, generator, at::TensorOptions(at::kFloat)) * packed.bias;
  std::string name = "quantized::linear_prepack";
  if (packed.kind != "linear") {
    name = is_transposed ? "quantized::conv_transpose2d_prepack" : "quantized::conv2d_prepack";
    stack.insert(stack.end(), {packed.stride, packed.padding});
    if (is_transposed) stack.emplace_back(packed.output_padding);
    stack.insert(stack.end(), {packed.dilation, packed.groups});
  }
  c10::Dispatcher::singleton().findSchemaOrThrow(name.c_str(), "").callBoxed(&stack);
  return stack.front();
}

CaseTensor with_sizes(CaseTensor tensor, const std::vector<int64_t>& sizes) {
  tensor.type.dims = to_dims(sizes);
  return tensor;
}

}  // namespace

at::QEngine engine_of(const OpCase& op_case) {
  return op_case.engine == "onednn" ? at::QEngine::ONEDNN : at::QEngine::QNNPACK;
}

bool has_engine(const OpCase& op_case) {
  return op_case.packed.empty() || has_quantised_engine(engine_of(op_case));
}

void use_engine_of(const OpCase& op_case) {
  if (has_quantised_engine(engine_of(op_case))) at::globalContext().setQEngine(engine_of(op_case));
}

torch::jit::Module make_case_module(const OpCase& op_case) {
  torch::jit::Module module("Case");
  module.register_attribute("training", c10::BoolType::get(), false);
  uint64_t seed = kWeightSeed;
  use_engine_of(op_case);  // packed weights keep the kernels of the engine that packs
  for (const CaseTensor& weight : op_case.weights) module.register_buffer(weight.name, weight_values(weight, seed++));
  for (const PackedWeights& packed : op_case.packed) {
    const c10::IValue value = pack(packed, seed++);
    module.register_attribute(packed.name, value.type(), value);
  }
  choose_quantised_engine();
  declare_newer_operators();
  module.define(op_case.source, std::make_shared<CaseResolver>());
  take_newer_operators_apart(module);
  return module;
}

std::vector<at::Tensor> case_inputs(const OpCase& op_case, uint64_t seed, bool flexible) {
  std::vector<at::Tensor> inputs;
  for (size_t i = 0; i < op_case.inputs.size(); ++i) {
    const CaseTensor& input = op_case.inputs[i];
    inputs.push_back(
        random_values(flexible ? with_sizes(input, op_case.flexible.at(i)) : input, kInputStride * seed + i));
  }
  return inputs;
}

}  // namespace nnapi_convert
