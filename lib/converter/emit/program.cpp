// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/emit/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "lib/converter/emit/method_writer.h"
#include "lib/converter/emit/program_forms.h"
#include "lib/converter/emit/program_module.h"
#include "lib/serialize/shim_emitter.h"

namespace nnapi_convert {

ProgramResult make_program(const ProgramRequest& request) {
  ProgramResult result;
  ProgramWriter writer;
  ModuleParts parts(request.module);
  std::vector<SegmentCall> segments(parts.segment_count());
  for (const std::string& name : request.methods) {
    std::vector<Refusal> refusals, raised;
    const ProgramPlace place{writer, parts, segments, refusals, raised};
    ProgramMethod method = write_method(place, request.module.get_method(name), request.outputs);
    if (refusals.empty()) {
      writer.add(std::move(method));
      result.raised.insert(result.raised.end(), raised.begin(), raised.end());
    } else if (name == "forward") {
      result.refusals = std::move(refusals);
    } else {
      result.left_out.push_back({name, std::move(refusals[0])});
    }
  }
  const bool may_run_on_cpu = result.refusals.empty() && request.on_cpu.size() == segments.size();
  for (size_t i = 0; i < segments.size() && may_run_on_cpu; ++i) {
    const std::string name = fmt::format("segment {}", i);
    std::vector<Refusal> refusals, raised;
    try {
      const std::shared_ptr<torch::jit::Graph> graph = request.on_cpu[i](segments[i].is_raw);
      use_program_forms(graph);
      ProgramWriter trial;  // what can't be said leaves no weights in the file
      write_function({trial, parts, segments, refusals, raised}, *graph, name);
      refusals.insert(refusals.end(), raised.begin(), raised.end());
      if (refusals.empty()) {
        const ProgramPlace place{writer, parts, segments, refusals, raised};
        segments[i].counts.fallback_plus_1 = writer.add(write_function(place, *graph, name)) + 1;
      }
    } catch (const std::invalid_argument& problem) {
      refusals.push_back({"", name, problem.what(), "", ""});
    }
    if (refusals.empty()) continue;
    refusals[0].op = name;
    result.only_nnapi.push_back(std::move(refusals[0]));
  }
  for (const SegmentCall& segment : segments) writer.add(segment.counts);
  uint32_t state = 0;
  try {
    state = parts.write_state(writer);
  } catch (const std::invalid_argument& problem) {
    result.refusals.push_back({"", "the model's state", problem.what(), "tensors, numbers, texts and containers", ""});
  }
  if (result.refusals.empty()) result.program = writer.finish(state);
  return result;
}

void warn_of_only_nnapi(const ProgramResult& result, Diagnostics& diagnostics) {
  for (const Refusal& refusal : result.only_nnapi) {
    diagnostics.warn(
        {"without PyTorch, a phone whose NNAPI fails can't run the file: programs of the shim can't compute "
         "a segment on the CPU",
         refusal.where, "", refusal.op + ": " + refusal.found, 0});
  }
}

std::shared_ptr<const Program> program_of_whole(const torch::jit::Module& module, const nnapi::Model& model,
                                                const ModuleInterface& interface,
                                                const std::vector<SegmentOnCpu>& on_cpu, Diagnostics& diagnostics) {
  const auto& inputs = interface.inputs;
  const auto is_quantised = [](const InterfaceInput& input) { return input.type.is_quantized(); };
  if (std::any_of(inputs.begin(), inputs.end(), is_quantised)) return nullptr;
  std::vector<Quantization> outputs(model.outputs.size());
  for (const InterfaceOutput& output : interface.outputs) {
    if (output.source == InterfaceOutput::Source::kNnapi) outputs.at(output.index) = output.quantization;
  }
  const bool has_cpu = module.hasattr("cpu");
  ProgramResult result =
      make_program({has_cpu ? build_without_cpu(model, interface, module.attr(kCompilationAttribute)) : module,
                    {"forward"},
                    on_cpu,
                    std::move(outputs)});
  warn_of_only_nnapi(result, diagnostics);
  return result.program ? std::make_shared<const Program>(std::move(*result.program)) : nullptr;
}

}  // namespace nnapi_convert
