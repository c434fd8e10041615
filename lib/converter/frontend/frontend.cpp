// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/frontend.h"

#include <fmt/format.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>

#include <algorithm>
#include <string>
#include <utility>

#include "lib/base/counted.h"
#include "lib/converter/frontend/arguments.h"
#include "lib/converter/frontend/byte_inputs.h"
#include "lib/converter/frontend/export_guards.h"
#include "lib/converter/frontend/express_sizes.h"
#include "lib/converter/frontend/normalise.h"
#include "lib/converter/frontend/original_run.h"
#include "lib/converter/frontend/recognise.h"
#include "lib/converter/frontend/related_sizes.h"
#include "lib/converter/frontend/sample_inputs.h"
#include "lib/converter/frontend/sample_rows.h"
#include "lib/converter/frontend/size_reads.h"
#include "lib/converter/load/newer_branches.h"
#include "lib/types/stages.h"

namespace nnapi_convert {
namespace {

// Returns the tensors of the example in the file, if it has one and its arguments are built as forward's.
ExampleTensors example_tensors(const NormalisedModel& model, const LoadedModel& loaded) {
  if (loaded.example() == nullptr) return {};
  const TypeSource source = loaded.bundled_inputs.empty() ? TypeSource::kTrace : TypeSource::kBundledInputs;
  InputTuple example = *loaded.example();
  if (model.arguments.empty()) return {example, source};  // forward takes tensors alone
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

// Says once what the program asks of sizes that the converted file can't check.
void warn_of_guards(std::vector<std::string> guards, Diagnostics& diagnostics) {
  constexpr size_t kMost = 3;
  if (guards.empty()) return;
  const size_t more = guards.size() > kMost ? guards.size() - kMost : 0;
  guards.resize(guards.size() - more);
  const std::string message = fmt::format(
      "torch.export made the program for sizes with {}{}: PyTorch refuses other sizes, and the converted file "
      "may give wrong numbers for them",
      fmt::join(guards, ", "), more == 0 ? "" : " and " + counted(more, "more condition"));
  const auto& told = diagnostics.warnings;
  const auto is_told = [&](const Warning& warning) { return warning.kind == message; };
  if (std::none_of(told.begin(), told.end(), is_told)) diagnostics.warn(message);
}

// Returns the bundled inputs, with tensors converted to the dtypes of the graph's inputs.
std::vector<InputTuple> samples_for(const std::vector<TensorType>& inputs, const LoadedModel& loaded) {
  std::vector<InputTuple> samples = loaded.bundled_inputs;
  for (InputTuple& sample : samples) {
    for (size_t i = 0; i < sample.size() && i < inputs.size(); ++i) {
      if (sample[i].isTensor()) sample[i] = to_interface(sample[i].toTensor(), inputs[i]);
    }
  }
  return samples;
}

}  // namespace

std::vector<TensorType> graph_inputs(const TypedModel& typed) {
  std::vector<TensorType> types;
  for (const InputBoundary& input : typed.boundaries.value().inputs) types.push_back(input.type);
  return types;
}

std::vector<TensorType> output_types(const NormalisedModel& normalised, const TypeMap& types) {
  std::vector<TensorType> result;
  for (const auto* output : normalised.outputs) {
    const TensorType* type = tensor_type_of(output, types);
    result.push_back(type == nullptr ? TensorType{} : *type);
  }
  return result;
}

Frontend::Frontend(LoadedModel loaded, FrontendOptions options)
    : loaded_(std::move(loaded)), options_(std::move(options)) {}

const FrozenModule& Frontend::frozen() {
  if (!frozen_) frozen_ = frozen_module(loaded_);
  return *frozen_;
}

// Returns the ranges of open sizes and what torch.export's guards ask of them. Warns of guards that no call checks.
SizeConditions Frontend::conditions_on(const NormalisedModel& model, const InputTypes& inputs,
                                       Diagnostics& diagnostics) const {
  SizeConditions result;
  for (size_t i = 0; i < inputs.types.size(); ++i) {
    for (const auto& [axis, range] : inputs.ranges.at(i)) {
      const Dim& size = inputs.types[i].dims.at(axis);
      if (!size.is_fixed()) add_range(size, range, result);
    }
  }
  GuardConditions guards = conditions_of(loaded_.guards, loaded_.stated, model.input_names, inputs.types);
  result.insert(result.end(), guards.checked.begin(), guards.checked.end());
  warn_of_guards(std::move(guards.told), diagnostics);
  return result;
}

// Returns the types of the inputs. The second graph gets the sizes that were solved for the first.
InputTypes Frontend::types_of_inputs(const NormalisedModel& model, const InferOptions& how, Diagnostics& diagnostics) {
  std::vector<InputSpec> specs = options_.inputs;
  for (const InputSpec& solved : solved_) {
    const auto is_name = [&](const std::string& name) { return name == solved.name; };
    if (std::any_of(model.input_names.begin(), model.input_names.end(), is_name)) specs.push_back(solved);
  }
  InputTypes result = input_types(model, example_tensors(model, loaded_), specs, options_.pixels, how, diagnostics);
  relate_sizes(loaded_.stated, model.input_names, result.types);
  for (size_t i = 0; solved_.empty() && i < result.types.size(); ++i) {
    const TensorType& type = result.types[i];
    if (result.sources[i] != TypeSource::kWeights || !all_fixed(type.dims)) continue;
    InputSpec solved;
    solved.name = model.input_names[i];
    for (const int64_t size : fixed_values(type.dims)) solved.sizes.emplace_back(size);
    solved.dtype = type.dtype;
    solved.source = TypeSource::kWeights;
    solved_.push_back(std::move(solved));
  }
  return result;
}

TypedModel Frontend::type(const TypeRequest& request, Diagnostics& diagnostics) {
  const bool is_whole = request.run_by == RunBy::kNnapi;
  const StageCallbacks none;
  Stages stages(is_whole ? options_ : none);
  InferOptions how = infer_options(options_);
  how.kept = request.kept;
  how.removes_changes = is_whole;
  if (!is_whole) {  // the stages of the whole graph were told; numbers stay numbers where the CPU runs parts
    how.on_pass = {};
    how.keeps_numbers = true;
    how.control_flow = ControlFlow::kRefuse;
  }
  stages.begin("normalise");
  TypedModel typed;
  const NormaliseOptions normalising{request.run_by, names_of(options_.inputs), may_part(options_.fallback)};
  ++normalisations_;
  NormalisedModel& model = typed.model = normalise(loaded_, frozen(), normalising, diagnostics);
  stages.end([&] { return to_text(model, {}); });

  stages.begin("infer");
  InputTypes inputs = types_of_inputs(model, how, diagnostics);
  typed.conditions = conditions_on(model, inputs, diagnostics);
  typed.original_inputs = std::move(inputs.types);
  typed.input_sources = std::move(inputs.sources);
  warn_of_traced_inputs(typed, diagnostics);
  typed.inferred = infer(model, typed.original_inputs, how);
  check_newer_operators(*model.graph);
  raise_for_newer_operators(*model.graph);
  check_original_runs(loaded_, model, typed.original_inputs, typed.inferred);
  if (request.recognises && recognise(model, typed.inferred.types)) {
    typed.inferred = infer(model, typed.original_inputs, how);
  }
  for (const Warning& warning : model.warnings) diagnostics.warn(warning);
  if (is_whole && !typed.inferred.refusals.empty()) return typed;
  if (!is_whole) find_outputs(model);
  typed.original_outputs = output_types(model, typed.inferred.types);
  typed.boundaries = apply_quant_mode(model, typed.original_inputs, typed.inferred.types, options_.quant, diagnostics);
  if (hand_over_bytes(model, typed.inferred.types, *typed.boundaries)) typed.boundaries->is_edited = true;
  if (typed.boundaries->is_edited) typed.inferred = infer(model, graph_inputs(typed), how);
  stages.end([&] { return to_text(model, typed.inferred.types); });
  return typed;
}

const TypedModel& Frontend::whole(Diagnostics& diagnostics) {
  if (!whole_ && !whole_error_) {
    try {
      whole_ = type({RunBy::kNnapi}, of_whole_);
    } catch (...) {
      whole_error_ = std::current_exception();
    }
  }
  for (const Warning& warning : of_whole_.warnings) diagnostics.warn(warning);
  if (whole_error_) std::rethrow_exception(whole_error_);
  return *whole_;
}

std::shared_ptr<DividedModel> Frontend::divided(bool recognises, const Composites& kept, Diagnostics& diagnostics) {
  auto found = std::find_if(divided_.begin(), divided_.end(),
                            [&](const Divided& each) { return each.recognises == recognises && each.kept == kept; });
  if (found == divided_.end()) {
    Diagnostics own;
    auto divided = std::make_shared<DividedModel>();
    try {
      divided->typed = type({RunBy::kNnapiAndCpu, recognises, kept}, own);
    } catch (...) {
      for (const Warning& warning : own.warnings) diagnostics.warn(warning);
      throw;
    }
    TypedModel& typed = divided->typed;
    read_sizes_of_inputs(typed.model, typed.inferred.types);
    torch::jit::EliminateDeadCode(typed.model.graph);  // removes size nodes that constants replaced
    read_sizes_of_results(*typed.model.graph, typed.inferred.types);
    const bool keeps_state = !typed.model.graph->inputs()[0]->uses().empty();
    if (takes_tensors_only(typed.model.arguments) && !keeps_state) {
      divided->samples = samples_for(graph_inputs(typed), loaded_);
    }
    count_in_samples(typed.model, divided->samples, typed.inferred);
    divided->kept_for_order = keep_memory_order(typed.model, typed.inferred, own);
    divided->warnings = std::move(own.warnings);
    divided_.push_back({recognises, kept, std::move(divided)});
    found = std::prev(divided_.end());
  }
  for (const Warning& warning : found->model->warnings) diagnostics.warn(warning);
  return found->model;
}

NormalisedModel Frontend::reference(const Composites& kept) {
  Diagnostics ignored;
  return type({RunBy::kNnapiAndCpu, false, kept}, ignored).model;
}

IndexRanges Frontend::index_ranges(const std::vector<std::string>& names, const std::vector<TensorType>& types) {
  return nnapi_convert::index_ranges(loaded_, names, types, frozen_ ? &*frozen_ : nullptr);
}

void Frontend::release() {
  loaded_.module = torch::jit::Module();
  frozen_.reset();
  whole_.reset();
  divided_.clear();
}

}  // namespace nnapi_convert
