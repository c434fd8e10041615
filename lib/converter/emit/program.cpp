// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/emit/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "lib/base/error.h"
#include "lib/base/refusal_groups.h"
#include "lib/converter/emit/method_writer.h"
#include "lib/converter/emit/program_forms.h"
#include "lib/converter/emit/program_module.h"
#include "lib/converter/graph/changed_attributes.h"
#include "lib/serialize/shim_emitter.h"

namespace nnapi_convert {

namespace {

// True if a method of the program changes the module's attribute.
bool is_changed(const ProgramRequest& request, const std::string& attribute) {
  std::vector<std::string> methods = request.kept;
  for (const ProgramRequest::Method& method : request.methods) methods.push_back(method.name);
  return std::any_of(methods.begin(), methods.end(), [&](const std::string& method) {
    const std::set<AttributePath> changed = attributes_changed_by(request.module, method);
    return std::any_of(changed.begin(), changed.end(),
                       [&](const AttributePath& path) { return path.back() == attribute; });
  });
}

}  // namespace

ProgramResult make_program(const ProgramRequest& request) {
  ProgramResult result;
  ProgramWriter writer(request.keeps_places);
  ModuleParts parts(request.module);
  std::vector<SegmentCall> segments(parts.segment_count());
  // Adds the method to the program, or returns what no program can say of it.
  const auto add = [&](const std::string& name, const std::vector<Quantization>& outputs) {
    std::vector<Refusal> refusals, raised;
    const ProgramPlace place{writer, parts, segments, refusals, raised};
    ProgramMethod method = write_method(place, request.module.get_method(name), outputs);
    if (!refusals.empty()) return refusals;
    writer.add(std::move(method));
    result.raised.insert(result.raised.end(), raised.begin(), raised.end());
    return refusals;
  };
  for (const ProgramRequest::Method& method : request.methods) {
    const std::vector<Refusal> refusals = add(method.name, method.outputs);
    result.refusals.insert(result.refusals.end(), refusals.begin(), refusals.end());
  }
  for (const std::string& name : request.kept) {
    const std::vector<Refusal> refusals = add(name, {});
    if (!refusals.empty()) result.left_out.push_back({name, refusals[0]});
  }
  const bool may_run_on_cpu = result.refusals.empty() && request.on_cpu.size() == segments.size();
  for (size_t i = 0; i < segments.size() && may_run_on_cpu; ++i) {
    const std::string name = fmt::format("segment {}", i);
    std::vector<Refusal> refusals, raised;
    try {
      const std::shared_ptr<torch::jit::Graph> graph = request.on_cpu[i](segments[i].is_raw);
      use_program_forms(graph);
      ProgramWriter trial;  // keeps weights of refused segments out of the file
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
    state = parts.write_state(writer, [&](const std::string& attribute) { return is_changed(request, attribute); });
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

void refuse_or_warn(const std::vector<Refusal>& refusals, const ProgramNeed& need, Diagnostics& diagnostics) {
  if (need.is_wired || refusals.empty()) return;
  if (!need.may_need_pytorch) {
    std::string steps;
    for (const RefusalGroup& group : groups_of(refusals)) steps += "\n  " + group.message();
    throw ConvertError(
        ExitCode::kNotConvertible,
        "--runtime shim: the file would need PyTorch on the phone, as programs of the shim can't say:" + steps +
            "\nwith --needs-pytorch these steps stay TorchScript, for apps that have PyTorch; without "
            "--runtime shim PyTorch's own loader runs the file");
  }
  for (const Refusal& refusal : refusals) {
    diagnostics.warn({"the file needs PyTorch on the phone: programs of the shim can't say a step of the CPU",
                      refusal.where, refusal.op, refusal.found, 0});
  }
}

std::shared_ptr<const Program> program_of(const ProgramRequest& request, const ProgramNeed& need,
                                          Diagnostics& diagnostics) {
  ProgramResult result = make_program(request);
  warn_of_only_nnapi(result, diagnostics);
  refuse_or_warn(result.refusals, need, diagnostics);
  for (const LeftOutMethod& method : result.left_out) {
    diagnostics.warn({"without PyTorch, the file lacks a method: programs of the shim can't say it",
                      method.reason.where, method.reason.op, method.name + "(): " + method.reason.found, 0});
  }
  for (const Refusal& raised : result.raised) {
    diagnostics.warn({"without PyTorch, a branch of the file raises an error: programs of the shim can't say it",
                      raised.where, raised.op, raised.found, 0});
  }
  return result.program ? std::make_shared<const Program>(std::move(*result.program)) : nullptr;
}

std::optional<std::vector<Quantization>> outputs_of_whole(const nnapi::Model& model, const ModuleInterface& interface) {
  const auto& inputs = interface.inputs;
  const auto is_quantised = [](const InterfaceInput& input) { return input.type.is_quantized(); };
  if (std::any_of(inputs.begin(), inputs.end(), is_quantised)) return std::nullopt;
  std::vector<Quantization> outputs(model.outputs.size());
  for (const InterfaceOutput& output : interface.outputs) {
    if (output.source == InterfaceOutput::Source::kNnapi) outputs.at(output.index) = output.quantization;
  }
  return outputs;
}

std::shared_ptr<const Program> program_of_whole(const torch::jit::Module& module, const nnapi::Model& model,
                                                const ModuleInterface& interface,
                                                const std::vector<SegmentOnCpu>& on_cpu, bool keeps_places,
                                                const ProgramNeed& need, Diagnostics& diagnostics) {
  auto outputs = outputs_of_whole(model, interface);
  if (!outputs) return nullptr;
  const bool has_cpu = module.hasattr("cpu");
  ProgramRequest request{has_cpu ? build_without_cpu(model, interface, module.attr(kCompilationAttribute)) : module,
                         {{"forward", std::move(*outputs)}}};
  request.on_cpu = on_cpu;
  request.keeps_places = keeps_places;
  ProgramResult result = make_program(request);
  warn_of_only_nnapi(result, diagnostics);
  const bool gives_all =
      std::all_of(interface.outputs.begin(), interface.outputs.end(),
                  [](const InterfaceOutput& output) { return output.source == InterfaceOutput::Source::kNnapi; });
  refuse_or_warn(result.refusals, {gives_all || need.is_wired, need.may_need_pytorch}, diagnostics);
  return result.program ? std::make_shared<const Program>(std::move(*result.program)) : nullptr;
}

}  // namespace nnapi_convert
