// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/emit/emit_methods.h"

#include <fmt/format.h>
#include <torch/csrc/jit/api/compilation_unit.h>

#include <algorithm>
#include <utility>

#include "lib/converter/emit/emit.h"
#include "lib/converter/emit/kept_methods.h"
#include "lib/converter/emit/partitioned_module.h"
#include "lib/converter/emit/shim_files.h"
#include "lib/converter/load/archive_writer.h"
#include "lib/converter/load/converted_file.h"
#include "lib/serialize/metadata.h"

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

// The state of all methods, each attribute once.
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

}  // namespace

MethodsConversion emit_methods(std::vector<PlannedMethod> methods, const torch::jit::Module& original,
                               Diagnostics& diagnostics, Stages& stages) {
  MethodsConversion result;
  MethodPlace place;
  place.unit = std::make_shared<torch::jit::CompilationUnit>();
  place.late = result.late;
  place.state = state_of(methods, original);
  const std::vector<KeptMethod> kept = kept_methods(original, others_of(methods), place.state, diagnostics);
  place.host.classes = std::make_shared<ClassCopies>(place.unit);
  if (!place.state.empty()) {
    place.host.state = empty_module(kStateClass, place.unit);
    add_state(*place.host.state, place.state, *place.host.classes);
  }
  result.module = empty_module(kWrapperClass, place.unit);
  if (place.host.state) result.module.register_module(kStateHolder, *place.host.state);
  for (PlannedMethod& method : methods) {
    place.host.suffix = "_" + method.name;
    Conversion conversion =
        emit_method(method.planned, method.frontend, method.options, place, method.diagnostics, stages);
    conversion.stored_weights = std::move(method.stored_weights);
    result.module.register_module(method_attribute(method.name), conversion.module);
    add_method(result.module, method.name, conversion.module);
    result.methods.push_back(
        {method.name, std::move(conversion), std::move(method.options.inputs), std::move(method.diagnostics)});
  }
  for (const KeptMethod& method : kept) {
    add_method(result.module, method, place.state);
    use_copies(*method.graph, *place.host.classes);
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
  }
  extras.metadata = to_json(metadata);
  extras.attached = conversion.attached;
  write_and_release_module(conversion.module, *conversion.late, path, extras);
}

}  // namespace nnapi_convert
