// SPDX-License-Identifier: BSD-3-Clause
#include "lib/serialize/torchscript_emitter.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "lib/serialize/cpu_source.h"

namespace nnapi_convert {
namespace {

// Sets the attributes that only flexible sizes need.
void set_flexible_attributes(torch::jit::Module& module, const SerializedModel& serialized) {
  if (serialized.patches.empty()) return;
  std::vector<int64_t> words;
  for (const WordPatch& patch : serialized.patches) words.push_back(static_cast<int64_t>(patch.word));
  module.setattr("patch_words", at::tensor(words, at::kLong));
  for (int i = 0; i < kKeptSizes; ++i)
    module.setattr(i == 0 ? "sizes" : fmt::format("sizes_{}", i), c10::List<int64_t>());
  for (int i = 1; i < kKeptSizes; ++i) module.setattr(fmt::format("comp_{}", i), c10::IValue());
}

// Sets the scales of int8 weights, each in a shape that broadcasts to its weight.
void set_scales(torch::jit::Module& module, const SerializedModel& serialized) {
  if (!serialized.has_int8()) return;
  c10::List<at::Tensor> scales;
  for (size_t i = 0; i < serialized.buffers.size(); ++i) {
    const auto& channels = serialized.scales[i];
    if (channels == nullptr) {
      scales.push_back(at::empty({0}));
      continue;
    }
    std::vector<int64_t> shape(serialized.buffers[i].shape().size(), 1);
    shape[channels->axis] = static_cast<int64_t>(channels->scales.size());
    scales.push_back(at::tensor(channels->scales).reshape(shape));
  }
  module.setattr("int8_scales", scales);
}

}  // namespace

std::string source_of(const ModuleRequest& request) {
  return wrapper_source({request.model, request.serialized, request.interface, request.preference, request.relax_fp16,
                         bundled_type(request.bundled_inputs, request.interface), request.place.name});
}

torch::jit::Module build_module(const ModuleRequest& request, DeferredTensors& late) {
  const SerializedModel& serialized = request.serialized;
  ClassPlace place = request.place;
  add_named_types(request.interface.return_tree, place);
  add_named_types(request.interface.arguments, *place.unit);
  torch::jit::Module module = make_object(source_of(request), place);
  module.setattr("training", false);
  module.setattr("ser_model", words_tensor(serialized.words));
  c10::List<at::Tensor> weights;
  for (const nnapi::Constant& constant : serialized.buffers) {
    weights.push_back(request.shares_weights ? late.add_shared(constant) : late.add(constant));
  }
  module.setattr("weights", weights);
  set_scales(module, serialized);
  set_flexible_attributes(module, serialized);
  set_constant_outputs(module, request.interface);
  set_bundled_inputs(module, request.bundled_inputs, request.interface);
  if (!request.interface.arguments.empty()) set_defaults(module, request.interface.arguments);
  module.setattr("comp", c10::IValue());
  return module;
}

torch::jit::Module build_cpu_module(const torch::jit::Module& original, const ModuleInterface& interface,
                                    const ForwardArguments& arguments, const BundledInputs& bundled_inputs) {
  const auto unit = original._ivalue()->compilation_unit();
  // One original may have several counterparts: one that computes samples, and the CPU fallback.
  const std::string name = free_class_name(*unit, kCpuClass);
  const std::string source =
      cpu_source(name, original.type()->name()->qualifiedName(), interface, arguments, !bundled_inputs.empty());
  torch::jit::Module module = make_object(source, {name, unit});
  module.setattr("training", false);
  module.setattr("model", original._ivalue());
  set_bundled_inputs(module, bundled_inputs, arguments);
  set_defaults(module, arguments);
  return module;
}

}  // namespace nnapi_convert
