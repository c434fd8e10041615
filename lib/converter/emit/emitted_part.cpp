// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/emit/emitted_part.h"

#include "lib/nnapi/api_level.h"
#include "lib/serialize/shim_emitter.h"
#include "lib/serialize/torchscript_emitter.h"
#include "lib/shim/torch_binding.h"

namespace nnapi_convert {
namespace {

EmittedPart emit_for_pytorch(NnapiPart& part, const ConvertOptions& options, const EmitRequest& request,
                             DeferredTensors& late, Stages& stages) {
  stages.begin("serialize");
  EmittedPart result;
  result.serialized = write_buffer(part.model);
  result.buffer_bytes = 4 * result.serialized.words.size();
  for (const nnapi::Constant& constant : result.serialized.buffers) result.weight_bytes += constant.byte_count();
  stages.end([&] { return to_text(result.serialized); });

  stages.begin("emit");
  const ModuleRequest module{part.model,         result.serialized,        part.interface,
                             options.preference, part.is_relaxed(options), request.bundled_inputs,
                             request.place,      request.shares_weights};
  result.module = build_module(module, late);
  stages.end([&] { return source_of(module); });
  return result;
}

ShimBufferRequest shim_request(const NnapiPart& part, const ConvertOptions& options,
                               const std::vector<BufferSample>& samples) {
  ShimBufferRequest request{part.model};
  for (const InterfaceInput& input : part.interface.inputs) {
    request.arguments.push_back(input.type.dims);
    request.names.push_back(input.name);
  }
  request.feature_level = nnapi::required_feature_level(part.model);
  request.preference = options.preference;
  request.relax_fp16 = part.is_relaxed(options);
  request.keeps_names = !options.strip_names;
  request.samples = samples;
  return request;
}

EmittedPart emit_for_shim(NnapiPart& part, const ConvertOptions& options, const EmitRequest& request,
                          DeferredTensors& late, Stages& stages) {
  stages.begin("serialize");
  EmittedPart result;
  result.shim = std::make_shared<ShimBuffer>(write_shim_buffer(shim_request(part, options, request.samples)));
  result.buffer_bytes = 4 * result.shim->words.size();
  result.weight_bytes = result.shim->weight_bytes;
  stages.end([&] { return to_text(*result.shim); });

  stages.begin("emit");
  const ShimModuleRequest module{part.model,  part.interface,         nnapi_shim::make_compilation,
                                 request.cpu, request.bundled_inputs, request.place};
  result.module = build_shim_module(module, result.shim, late);
  stages.end([&] { return source_of(module); });
  return result;
}

}  // namespace

EmittedPart emit_part(NnapiPart& part, const ConvertOptions& options, const EmitRequest& request, DeferredTensors& late,
                      Stages& stages) {
  return options.runtime == Runtime::kShim ? emit_for_shim(part, options, request, late, stages)
                                           : emit_for_pytorch(part, options, request, late, stages);
}

}  // namespace nnapi_convert
