#include "lib/converter/partition/typed_model.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "lib/converter/infer/input_types.h"
#include "lib/converter/load/newer_branches.h"
#include "lib/converter/lower/byte_inputs.h"
#include "lib/converter/lower/interface.h"
#include "lib/converter/normalise/arguments.h"
#include "lib/converter/normalise/normalise.h"
#include "lib/converter/normalise/recognise.h"
#include "lib/converter/samples/original_run.h"

namespace nnapi_convert {
namespace {

// The tensors of the example in the file, if it has one and its arguments are built as forward's.
ExampleTensors example_tensors(const NormalisedModel& model, const LoadedModel& loaded) {
  if (loaded.example() == nullptr) return {};
  const TypeSource source = loaded.bundled_inputs.empty() ? TypeSource::kTrace : TypeSource::kBundledInputs;
  InputTuple example = *loaded.example();
  if (model.arguments.empty()) return {example, source};  // tensors alone
  for (size_t i = 0; i < example.size() && i < model.arguments.size(); ++i) {
    const auto bound = loaded.bound.find(model.arguments[i].name);
    if (bound != loaded.bound.end()) example[i] = bound->second;
  }
  const auto values = take_apart(model.arguments, example);
  if (!values) return {};
  ExampleTensors result{{}, source};
  const std::vector<const ArgumentTree*> all = leaves(model.arguments);
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i]->is_tensor()) result.tensors.push_back((*values)[i]);
  }
  return result;
}

// Says which sizes and dtypes are those of the trace.
void warn_of_traced_inputs(const TypedModel& typed, Diagnostics& diagnostics) {
  std::string inputs;
  for (size_t i = 0; i < typed.original_inputs.size(); ++i) {
    if (typed.input_sources[i] != TypeSource::kTrace) continue;
    inputs += fmt::format("{}{} {}", inputs.empty() ? "" : ", ", typed.model.input_names[i],
                          to_text(typed.original_inputs[i]));
  }
  if (inputs.empty()) return;
  diagnostics.warn(
      fmt::format("the inputs have the sizes and dtypes that the model was traced with: {}; --input gives "
                  "others",
                  inputs));
}

// Returns the options of inference. If the CPU runs parts of the graph, numbers stay numbers.
InferOptions infer_options(const TypeRequest& request, const ConvertOptions& options) {
  InferOptions result = infer_options(options);
  result.keeps_numbers = request.run_by == RunBy::kNnapiAndCpu;
  result.kept = request.kept;
  if (result.keeps_numbers) result.control_flow = ControlFlow::kRefuse;
  return result;
}

}  // namespace

std::vector<TensorType> graph_inputs(const TypedModel& typed) {
  std::vector<TensorType> types;
  for (const InputBoundary& input : typed.boundaries.value().inputs) types.push_back(input.type);
  return types;
}

TypedModel type_model(const LoadedModel& loaded, const ConvertOptions& options, const TypeRequest& request,
                      Diagnostics& diagnostics, Stages& stages) {
  const InferOptions how = infer_options(request, options);
  stages.begin("normalise");
  TypedModel typed;
  const NormaliseOptions normalising{request.run_by, names_of(options.inputs),
                                     options.fallback == Fallback::kPartition};
  NormalisedModel& model = typed.model = normalise(loaded, normalising, diagnostics);
  stages.end([&] { return to_text(model, {}); });

  stages.begin("infer");
  InputTypes inputs = input_types(model, example_tensors(model, loaded), options.inputs, options.pixels);
  typed.original_inputs = std::move(inputs.types);
  typed.input_sources = std::move(inputs.sources);
  warn_of_traced_inputs(typed, diagnostics);
  typed.inferred = infer(model, typed.original_inputs, how);
  check_newer_operators(*model.graph);
  raise_for_newer_operators(*model.graph);
  check_original_runs(loaded, model, typed.original_inputs, typed.inferred);
  if (request.recognises && recognise(model, typed.inferred.types)) {
    typed.inferred = infer(model, typed.original_inputs, how);
  }
  for (const Warning& warning : model.warnings) diagnostics.warn(warning);
  if (request.run_by == RunBy::kNnapi && !typed.inferred.refusals.empty()) return typed;
  if (request.run_by == RunBy::kNnapiAndCpu) find_outputs(model);
  typed.original_outputs = output_types(model, typed.inferred.types);
  typed.boundaries = apply_quant_mode(model, typed.original_inputs, typed.inferred.types, options.quant, diagnostics);
  if (hand_over_bytes(model, typed.inferred.types, *typed.boundaries)) typed.boundaries->is_edited = true;
  if (typed.boundaries->is_edited) typed.inferred = infer(model, graph_inputs(typed), how);
  stages.end([&] { return to_text(model, typed.inferred.types); });
  return typed;
}

}  // namespace nnapi_convert
