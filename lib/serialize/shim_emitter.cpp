#include "lib/serialize/shim_emitter.h"

#include <ATen/ATen.h>

#include "lib/serialize/shim_source.h"
#include "lib/serialize/wrapper_source.h"
#include "lib/shim/torch_binding.h"

namespace nnapi_convert {

std::string source_of(const ShimModuleRequest& request) {
  const std::string cpu_class = request.cpu ? request.cpu->type()->name()->qualifiedName() : "";
  return shim_source(
      {request.model, request.interface, cpu_class, bundled_type(request.bundled_inputs), request.place.name});
}

torch::jit::Module build_shim_module(const ShimModuleRequest& request) {
  const at::Tensor weights = at::empty({static_cast<int64_t>(request.buffer.weight_bytes)}, at::kByte);
  seal(request.buffer, weights.data_ptr<uint8_t>());
  ClassPlace place = request.place;
  if (request.cpu) place.unit = request.cpu->_ivalue()->compilation_unit();
  torch::jit::Module module = make_object(source_of(request), place);
  module.setattr("training", false);
  module.setattr("comp", nnapi_shim::make_compilation(words_tensor(request.buffer.words), weights));
  if (request.cpu) module.setattr("cpu", request.cpu->_ivalue());
  set_constant_outputs(module, request.interface);
  set_bundled_inputs(module, request.bundled_inputs);
  return module;
}

}  // namespace nnapi_convert
