#include "lib/converter/convert.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/error.h"
#include "lib/converter/infer.h"
#include "lib/converter/input_types.h"
#include "lib/converter/interface.h"
#include "lib/converter/lower.h"
#include "lib/converter/normalise.h"
#include "lib/converter/quant_mode.h"
#include "lib/converter/recognise.h"
#include "lib/converter/sample_inputs.h"
#include "lib/nnapi/dump.h"
#include "lib/nnapi/passes/evaluate_constants.h"
#include "lib/nnapi/passes/optimise.h"
#include "lib/nnapi/validate.h"
#include "lib/serialize/torchscript_emitter.h"

namespace nnapi_convert {
namespace {

// Reports the stages of one run.
class Stages {
 public:
  explicit Stages(const ConvertOptions& options) : options_(options) {}

  void begin(const char* stage) {
    stage_ = stage;
    if (options_.on_stage) options_.on_stage(stage);
  }

  template <typename MakeText>
  void end(MakeText make_text) {
    if (options_.on_dump) options_.on_dump(stage_, make_text());
  }

 private:
  const ConvertOptions& options_;
  std::string stage_;
};

[[noreturn]] void fail(const std::string& message) {
  throw ConvertError(ExitCode::kNotConvertible, message);
}

void stop_on_refusals(const Diagnostics& diagnostics) {
  if (diagnostics.refusals.empty()) return;
  const size_t count = diagnostics.refusals.size();
  std::string message = fmt::format("{} operation{} can't be lowered to NNAPI", count, count == 1 ? "" : "s");
  for (const Refusal& refusal : diagnostics.refusals) message += "\n  " + refusal.message();
  fail(message);
}

std::vector<TensorType> nnapi_types(const QuantBoundaries& boundaries) {
  std::vector<TensorType> types;
  for (const InputBoundary& input : boundaries.inputs) types.push_back(input.type);
  return types;
}

// Nodes that were refused, and those that would be refused on the way: the user sees them all at once.
void collect_refusals(const NormalisedModel& normalised, const std::vector<TensorType>& types, InferredTypes& inferred,
                      int feature_level, Diagnostics& diagnostics) {
  Diagnostics ignored;
  LoweredModel rest = lower(normalised, types, inferred.types, feature_level, ignored);
  diagnostics.refusals = std::move(inferred.refusals);
  diagnostics.refusals.insert(diagnostics.refusals.end(), rest.refusals.begin(), rest.refusals.end());
}

bool has_images(const nnapi::Model& model) {
  return std::any_of(model.operations.begin(), model.operations.end(), [](const nnapi::Operation& operation) {
    return operation.code == OperationCode::CONV_2D || operation.code == OperationCode::DEPTHWISE_CONV_2D ||
           operation.code == OperationCode::GROUPED_CONV_2D;
  });
}

void check_nhwc_inputs(const ModuleInterface& interface, const std::set<int>& numbers) {
  for (const int number : numbers) {
    if (number < 0 || static_cast<size_t>(number) >= interface.inputs.size()) {
      throw ConvertError(ExitCode::kUsage, fmt::format("--nhwc={}: forward has {} inputs, counted from 0", number,
                                                       interface.inputs.size()));
    }
    const InterfaceInput& input = interface.inputs[static_cast<size_t>(number)];
    if (input.type.rank() != 4) {
      throw ConvertError(ExitCode::kUsage, fmt::format("--nhwc={}: input {} has rank {}, 4 needed", number, input.name,
                                                       input.type.rank()));
    }
  }
}

void apply_layout_choice(Conversion& conversion, const LayoutChoice& layout, Diagnostics& diagnostics) {
  check_nhwc_inputs(conversion.interface, layout.nhwc_inputs);
  nnapi::Model& model = conversion.model;
  for (nnapi::Boundary& input : model.inputs) {
    const bool is_chosen =
        layout.nhwc_inputs.empty() || layout.nhwc_inputs.count(static_cast<int>(input.argument)) != 0;
    input.nhwc = layout.nhwc && is_chosen && conversion.interface.inputs[input.argument].type.rank() == 4;
  }
  if (!layout.is_explicit && has_images(model)) {
    diagnostics.warn("inputs stay in NCHW, which drivers run slower or not at all; use --nhwc, or --nchw to keep NCHW");
  }
}

nnapi::OptimiseOptions optimise_options(const ConvertOptions& options) {
  nnapi::OptimiseOptions result;
  result.nhwc = options.layout.nhwc;
  result.feature_level = options.feature_level;
  result.disabled = options.disabled_passes;
  if (options.on_dump) {
    result.on_pass = [&options](const std::string& pass, const nnapi::Model& model) {
      options.on_dump(pass, nnapi::to_text(model));
    };
  }
  return result;
}

void stop_if_invalid(const nnapi::Model& model, int feature_level) {
  if (model.operations.empty()) {
    fail("nothing is left for NNAPI to run: forward returns its inputs or constants, unchanged");
  }
  const std::vector<std::string> problems = nnapi::validate(model, feature_level);
  if (problems.empty()) return;
  const int required = nnapi::required_feature_level(model);
  std::string message = fmt::format("the model breaks NNAPI's rules at feature level {}", feature_level);
  for (const std::string& problem : problems) message += "\n  " + problem;
  if (required > feature_level) message += fmt::format("\nuse --feature-level {}", required);
  if (feature_level < 3) message += "\nNCHW needs feature level 3: use --nhwc below it";
  fail(message);
}

std::string buffer_text(const SerializedModel& serialized) {
  std::string text = fmt::format("{} words, {} numbered buffers\n", serialized.words.size(), serialized.buffers.size());
  for (const WordPatch& patch : serialized.patches)
    text += fmt::format("word {} = {}\n", patch.word, patch.value.text());
  return text;
}

// The stages that need the original: from TorchScript to NNAPI operations.
Conversion lower_to_nnapi(const LoadedModel& loaded, const ConvertOptions& options, Diagnostics& diagnostics,
                          Stages& stages) {
  stages.begin("normalise");
  NormalisedModel normalised = normalise(loaded, diagnostics);
  stages.end([&] { return to_text(normalised, {}); });

  stages.begin("infer");
  const std::vector<TensorType> original_types = input_types(normalised, loaded.bundled_inputs, options.inputs);
  InferredTypes inferred = infer(normalised, original_types);
  if (recognise(normalised, inferred.types)) inferred = infer(normalised, original_types);
  if (!inferred.refusals.empty()) {
    collect_refusals(normalised, original_types, inferred, options.feature_level, diagnostics);
  }
  stop_on_refusals(diagnostics);
  const std::vector<at::ScalarType> original_outputs = output_dtypes(normalised, inferred.types);
  const QuantBoundaries boundaries = apply_quant_mode(normalised, original_types, inferred.types, options.quant);
  const std::vector<TensorType> types = nnapi_types(boundaries);
  inferred = infer(normalised, types);
  diagnostics.refusals = inferred.refusals;
  stop_on_refusals(diagnostics);
  stages.end([&] { return to_text(normalised, inferred.types); });

  stages.begin("lower");
  LoweredModel lowered = lower(normalised, types, inferred.types, options.feature_level, diagnostics);
  diagnostics.refusals = lowered.refusals;
  stop_on_refusals(diagnostics);
  stages.end([&] { return nnapi::to_text(lowered.model); });
  Conversion result;
  result.quant = boundaries.mode;
  result.interface = make_interface(normalised, boundaries, lowered, original_types, original_outputs,
                                    output_dtypes(normalised, inferred.types));
  result.model = std::move(lowered.model);
  return result;
}

}  // namespace

Conversion convert(LoadedModel loaded, const ConvertOptions& options, Diagnostics& diagnostics) {
  Stages stages(options);
  Conversion result = lower_to_nnapi(loaded, options, diagnostics, stages);
  loaded.module = torch::jit::Module();  // what nothing else holds is freed as the weights are evaluated

  stages.begin("optimise");
  apply_layout_choice(result, options.layout, diagnostics);
  nnapi::optimise(result.model, optimise_options(options));
  stages.end([&] { return nnapi::to_text(result.model); });
  stop_if_invalid(result.model, options.feature_level);

  stages.begin("serialize");
  nnapi::evaluate_constants(result.model);
  result.serialized = write_buffer(result.model);
  stages.end([&] { return buffer_text(result.serialized); });

  stages.begin("emit");
  result.bundled_inputs = bundled_samples(result.interface, loaded.bundled_inputs, options.bundle_inputs, diagnostics);
  result.module = build_module(result.model, result.serialized, result.interface, options.preference,
                               options.relax_fp16, result.bundled_inputs);
  stages.end([&] {
    return wrapper_source(
        {result.model, result.serialized, result.interface, options.preference, options.relax_fp16, ""});
  });
  return result;
}

}  // namespace nnapi_convert
