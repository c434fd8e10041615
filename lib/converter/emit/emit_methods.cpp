// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/emit/emit_methods.h"

#include <fmt/format.h>
#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "lib/base/error.h"
#include "lib/converter/emit/emit.h"
#include "lib/converter/emit/emitted_part.h"
#include "lib/converter/emit/kept_methods.h"
#include "lib/converter/emit/partitioned_module.h"
#include "lib/converter/emit/program.h"
#include "lib/converter/emit/program_module.h"
#include "lib/converter/emit/shim_files.h"
#include "lib/converter/graph/node_reads.h"
#include "lib/converter/load/archive_writer.h"
#include "lib/converter/load/converted_file.h"
#include "lib/serialize/metadata.h"
#include "lib/serialize/shim_index.h"

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

constexpr const char* kStateClass = "NnapiState";

torch::jit::Module empty_module(const std::string& name, const std::shared_ptr<torch::jit::CompilationUnit>& unit) {
  const std::string text =
      fmt::format("class {}(Module):\n  __parameters__ = []\n  __buffers__ = []\n  training : bool\n", name);
  torch::jit::Module module = make_object(text, {name, unit});
  module.setattr("training", false);
  return module;
}

// Returns the state of all methods, each attribute once.
std::vector<StateAttribute> state_of(const std::vector<PlannedMethod>& methods, const torch::jit::Module& original) {
  std::vector<StateAttribute> state;
  for (const PlannedMethod& method : methods) {
    if (method.planned.plan.is_whole()) continue;
    for (const StateAttribute& each : state_of(method.planned.model)) {
      const bool is_known =
          std::any_of(state.begin(), state.end(), [&](const StateAttribute& known) { return known.path == each.path; });
      if (!is_known)
        state.push_back(state_attribute(state.size(), each.path, each.type, attribute_value(original, each.path)));
    }
  }
  return state;
}

// Adds the method `name`, which calls the forward of the part.
void add_method(const torch::jit::Module& module, const std::string& name, const torch::jit::Module& part) {
  const c10::FunctionSchema& schema = part.get_method("forward").function().getSchema();
  const auto graph = std::make_shared<Graph>();
  Value* self = graph->addInput("self");
  self->setType(module.type());
  Node* call = graph->create(c10::prim::CallMethod, 1);
  call->s_(c10::attr::name, "forward");
  call->addInput(graph->insertNode(graph->createGetAttr(self, method_attribute(name)))->output());
  std::vector<c10::Argument> arguments = schema.arguments();
  arguments[0] = c10::Argument("self", module.type());
  for (size_t i = 1; i < arguments.size(); ++i) {
    Value* argument = graph->addInput(arguments[i].name());
    argument->setType(arguments[i].type());
    call->addInput(argument);
  }
  call->output()->setType(schema.returns()[0].type());
  graph->registerOutput(graph->insertNode(call)->output());
  const c10::QualifiedName full_name(*module.type()->name(), name);
  torch::jit::Function* method = module._ivalue()->compilation_unit()->create_function(full_name, graph);
  method->setSchema({name, "", std::move(arguments), schema.returns()});
  module.type()->addMethod(method);
}

MethodChoice others_of(const std::vector<PlannedMethod>& methods) {
  MethodChoice choice;
  choice.converted.clear();
  for (const PlannedMethod& method : methods) choice.converted.push_back(method.name);
  choice.keeps_all = true;
  return choice;
}

// Returns the request for a program of these methods; nothing where one of them takes quantised tensors, which programs
// lack. Throws as refuse_or_warn() does.
std::optional<ProgramRequest> program_request(const std::vector<PlannedMethod>& methods, Diagnostics& diagnostics) {
  ProgramRequest request;
  request.methods.clear();
  for (const PlannedMethod& method : methods) {
    const PlannedModel& planned = method.planned;
    std::optional<std::vector<Quantization>> outputs{std::in_place};
    if (planned.plan.is_whole()) {
      const NnapiPart& part = planned.plan.segments[0].part;
      outputs = outputs_of_whole(part.model, part.interface);
    }
    if (!outputs) {
      refuse_or_warn({{"", "", "method " + method.name + " takes quantised tensors", "", ""}},
                     {false, method.options.may_need_pytorch}, diagnostics);
      return std::nullopt;
    }
    request.methods.push_back({method.name, std::move(*outputs)});
  }
  return request;
}

uint64_t bytes_of_constants(Graph& graph) {
  uint64_t bytes = 0;
  for_each_node(graph, [&](const Node& node) {
    const auto constant = node.kind() == c10::prim::Constant ? torch::jit::toIValue(node.output()) : c10::nullopt;
    if (constant && constant->isTensor()) bytes += constant->toTensor().nbytes();
  });
  return bytes;
}

// Returns the names of the unconverted methods that a program has, too: those without large weights, which would be in
// the file once more. Warns of the others.
std::vector<std::string> without_weights(const std::vector<KeptMethod>& kept, Diagnostics& diagnostics) {
  constexpr uint64_t kMostBytes = 64 << 10;
  std::vector<std::string> names;
  for (const KeptMethod& method : kept) {
    const std::string& name = method.schema.name();
    if (bytes_of_constants(*method.graph) <= kMostBytes) {
      names.push_back(name);
    } else {
      diagnostics.warn(
          fmt::format("without PyTorch, the file lacks the method {}, which has weights; --method {} "
                      "converts it",
                      name, name));
    }
  }
  return names;
}

// Registers the segments as the file's module's first modules: its state then begins with their compilations, as the
// archive's index has it. The segments share weights.
void register_segments(MethodsConversion& conversion) {
  std::vector<torch::jit::Module> segments;
  std::vector<std::shared_ptr<ShimBuffer>> buffers;
  for (const MethodConversion& method : conversion.methods) {
    for (const torch::jit::Module& segment : segments_of(method.conversion.module)) segments.push_back(segment);
    for (const SegmentSummary& segment : method.conversion.segments) buffers.push_back(segment.shim);
  }
  NNC_ASSERT(segments.size() == buffers.size(), "a module of a method has other segments than its plan");
  conversion.records = shim_records_of_groups(share_weights(segments, buffers, *conversion.late));
  for (size_t i = 0; i < segments.size(); ++i) {
    conversion.module.register_module(fmt::format("nnapi_segment_{}", i), segments[i]);
  }
}

}  // namespace

MethodsConversion emit_methods(std::vector<PlannedMethod> methods, const torch::jit::Module& original,
                               Diagnostics& diagnostics, Stages& stages) {
  MethodsConversion result;
  MethodPlace place;
  place.unit = std::make_shared<torch::jit::CompilationUnit>();
  place.late = result.late;
  place.state = state_of(methods, original);
  const std::vector<KeptMethod> kept = kept_methods(original, others_of(methods), place.state, diagnostics);
  const bool is_for_shim = !methods.empty() && methods[0].options.runtime == Runtime::kShim;
  std::optional<ProgramRequest> program;
  if (is_for_shim) program = program_request(methods, diagnostics);
  place.host.classes = std::make_shared<ClassCopies>(place.unit);
  if (!place.state.empty()) {
    place.host.state = empty_module(kStateClass, place.unit);
    add_state(*place.host.state, place.state, *place.host.classes);
  }
  for (PlannedMethod& method : methods) {
    place.host.suffix = "_" + method.name;
    Conversion conversion =
        emit_method(method.planned, method.frontend, method.options, place, method.diagnostics, stages);
    conversion.stored_weights = std::move(method.stored_weights);
    result.methods.push_back(
        {method.name, std::move(conversion), std::move(method.options.inputs), std::move(method.diagnostics)});
  }
  result.module = empty_module(kWrapperClass, place.unit);
  if (is_for_shim) register_segments(result);
  if (place.host.state) result.module.register_module(kStateHolder, *place.host.state);
  for (const MethodConversion& method : result.methods) {
    result.module.register_module(method_attribute(method.name), method.conversion.module);
    add_method(result.module, method.name, method.conversion.module);
  }
  for (const KeptMethod& method : kept) {
    add_method(result.module, method, place.state);
    use_copies(*method.graph, *place.host.classes);
  }
  if (program) {
    program->module = result.module;
    program->keeps_places = !methods[0].options.strip_names;
    program->kept = without_weights(kept, diagnostics);
    result.program = program_of(*program, {false, methods[0].options.may_need_pytorch}, diagnostics);
  }
  result.late->forget_shared();
  return result;
}

void write_and_release(MethodsConversion& conversion, const std::string& path) {
  std::vector<Metadata> metadata;
  ArchiveExtras extras;
  for (MethodConversion& method : conversion.methods) {
    metadata.push_back(metadata_of(method.conversion));
    metadata.back().method = method.name;
    release_constants(method.conversion);
    if (method.conversion.embeds_shim_source) extras.shim_source = shim_files();
    extras.keeps_source_lines = method.conversion.keeps_source_lines;
  }
  extras.metadata = to_json(metadata);
  if (conversion.program != nullptr) {
    extras.shim_records = conversion.records;
    extras.shim_index = shim_index_of_program(conversion.records);
    extras.program = conversion.program;
  }
  extras.attached = conversion.attached;
  write_and_release_module(conversion.module, *conversion.late, path, extras);
}

}  // namespace nnapi_convert
