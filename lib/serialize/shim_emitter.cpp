// SPDX-License-Identifier: BSD-3-Clause
#include "lib/serialize/shim_emitter.h"

#include <ATen/ATen.h>

#include <memory>
#include <utility>

#include "lib/serialize/shim_source.h"
#include "lib/serialize/wrapper_source.h"

namespace nnapi_convert {

std::string source_of(const ShimModuleRequest& request) {
  const std::string cpu_class = request.cpu ? request.cpu->type()->name()->qualifiedName() : "";
  return shim_source({request.model, request.interface, cpu_class,
                      bundled_type(request.bundled_inputs, request.interface), request.place.name});
}

namespace {

torch::jit::Module build_around(const ShimModuleRequest& request, const c10::IValue& compilation) {
  ShimModuleRequest placed = request;
  if (request.cpu) {
    placed.place.unit = request.cpu->_ivalue()->compilation_unit();
    // One original may be converted several times.
    placed.place.name = free_class_name(*placed.place.unit, placed.place.name);
  }
  add_named_types(request.interface.return_tree, placed.place);
  add_named_types(request.interface.arguments, *placed.place.unit);
  torch::jit::Module module = make_object(source_of(placed), placed.place);
  module.setattr("training", false);
  module.setattr("comp", compilation);
  if (request.cpu) module.setattr("cpu", request.cpu->_ivalue());
  set_constant_outputs(module, request.interface);
  set_bundled_inputs(module, request.bundled_inputs, request.interface);
  if (!request.interface.arguments.empty()) set_defaults(module, request.interface.arguments);
  return module;
}

}  // namespace

torch::jit::Module build_shim_module(const ShimModuleRequest& request, const std::shared_ptr<ShimBuffer>& buffer,
                                     DeferredTensors& late) {
  const at::Tensor words = words_tensor(buffer->words);
  const auto seal_words = [words](uint32_t checksum) {
    seal(words.data_ptr<int32_t>(), static_cast<size_t>(words.numel()), checksum);
  };
  seal_words(0);  // replaced when the weights are written: a compilation writes its words after its weights
  const auto write = [buffer](bool releases, const nnapi::ByteSink& sink) { write_weights(*buffer, releases, sink); };
  return build_around(request, request.make_compilation(words, late.add(buffer->weight_bytes, write, seal_words)));
}

torch::jit::Module build_package_module(const ShimModuleRequest& request, PackageBuffer package,
                                        DeferredTensors& late) {
  const at::Tensor words = words_tensor(package.words);
  const uint64_t bytes = package.weight_bytes;
  const auto written = std::make_shared<std::vector<uint32_t>>(package.places.size(), 0);
  const auto seal_words = [words, written, places = package.places](uint32_t) {
    seal_package(places, *written, words.data_ptr<int32_t>(), static_cast<size_t>(words.numel()));
  };
  seal_words(0);  // replaced when the weights are written
  const auto write = [kept = std::make_shared<PackageBuffer>(std::move(package)), written](
                         bool releases, const nnapi::ByteSink& sink) {
    *written = write_weights(*kept, releases, sink);
  };
  return build_around(request, request.make_compilation(words, late.add(bytes, write, seal_words)));
}

torch::jit::Module build_without_cpu(const nnapi::Model& model, const ModuleInterface& interface,
                                     const c10::IValue& compilation) {
  const BundledInputs no_samples;
  return build_around({model, interface, nullptr, std::nullopt, no_samples}, compilation);
}

}  // namespace nnapi_convert
