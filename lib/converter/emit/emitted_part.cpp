// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/emit/emitted_part.h"

#include "lib/converter/emit/program_module.h"
#include "lib/nnapi/api_level.h"
#include "lib/serialize/shared_weights.h"
#include "lib/serialize/shim_emitter.h"
#include "lib/serialize/size_conditions.h"
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
  for (const SizeCondition& condition : part.interface.conditions) {
    if (!is_checked(condition, part.interface)) continue;
    const ConditionText text = text_of(condition, part.interface);
    request.conditions.push_back({condition, text.subject, text.needed});
  }
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

std::vector<std::vector<size_t>> share_weights(const std::vector<torch::jit::Module>& segments,
                                               const std::vector<std::shared_ptr<ShimBuffer>>& buffers,
                                               DeferredTensors& late) {
  std::vector<ShimBuffer*> all;
  for (const std::shared_ptr<ShimBuffer>& buffer : buffers) all.push_back(buffer.get());
  const std::vector<std::vector<size_t>> groups = share_weights(all);
  for (const std::vector<size_t>& group : groups) {
    if (group.size() == 1) continue;
    std::vector<at::Tensor> words;
    for (const size_t number : group) {
      late.remove(nnapi_shim::tensors_of(segments[number].attr(kCompilationAttribute)).weights);
      words.push_back(words_tensor(buffers[number]->words));
    }
    const auto seal_words = [words](uint32_t checksum) {
      for (const at::Tensor& each : words) {
        seal(each.data_ptr<int32_t>(), static_cast<size_t>(each.numel()), checksum);
      }
    };
    seal_words(0);  // replaced when the weights are written, before all words
    const auto write = [buffer = buffers[group[0]]](bool releases, const nnapi::ByteSink& sink) {
      write_weights(*buffer, releases, sink);
    };
    const at::Tensor weights = late.add(buffers[group[0]]->weight_bytes, write, seal_words);
    for (size_t i = 0; i < group.size(); ++i) {
      torch::jit::Module segment = segments[group[i]];
      segment.setattr(kCompilationAttribute, nnapi_shim::make_compilation(words[i], weights));
    }
  }
  return groups;
}

EmittedPart emit_part(NnapiPart& part, const ConvertOptions& options, const EmitRequest& request, DeferredTensors& late,
                      Stages& stages) {
  return options.runtime == Runtime::kShim ? emit_for_shim(part, options, request, late, stages)
                                           : emit_for_pytorch(part, options, request, late, stages);
}

}  // namespace nnapi_convert
