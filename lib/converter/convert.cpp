#include "lib/converter/convert.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/error.h"
#include "lib/converter/emit_cpu.h"
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
#include "lib/serialize/archive_writer.h"
#include "lib/serialize/metadata.h"
#include "lib/serialize/shim_emitter.h"
#include "lib/serialize/shim_source.h"
#include "lib/serialize/torchscript_emitter.h"
#include "lib/shim_files/shim_files.h"

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

Target target_of(const ConvertOptions& options) {
  const bool is_shim = options.runtime == Runtime::kShim;
  return {options.feature_level, is_shim, is_shim};
}

std::vector<TensorType> nnapi_types(const QuantBoundaries& boundaries) {
  std::vector<TensorType> types;
  for (const InputBoundary& input : boundaries.inputs) types.push_back(input.type);
  return types;
}

// Nodes that were refused, and those that would be refused on the way: the user sees them all at once.
void collect_refusals(const NormalisedModel& normalised, const std::vector<TensorType>& types, InferredTypes& inferred,
                      const Target& target, Diagnostics& diagnostics) {
  Diagnostics ignored;
  LoweredModel rest = lower(normalised, types, inferred.types, target, ignored);
  diagnostics.refusals = std::move(inferred.refusals);
  diagnostics.refusals.insert(diagnostics.refusals.end(), rest.refusals.begin(), rest.refusals.end());
}

// IF and WHILE run other models, which PyTorch's loader can't make.
void check_control_flow(const ConvertOptions& options) {
  constexpr int kLevel = 4;
  if (options.control_flow == ControlFlow::kRefuse) return;
  if (options.runtime != Runtime::kShim) {
    throw ConvertError(ExitCode::kUsage, "--control-flow nnapi: runtime pytorch found, --runtime shim needed");
  }
  if (options.feature_level < kLevel) {
    throw ConvertError(ExitCode::kUsage, fmt::format("--control-flow nnapi: feature level {} found, {} needed; use "
                                                     "--feature-level {}",
                                                     options.feature_level, kLevel, kLevel));
  }
}

bool has_images(const nnapi::Model& model) {
  const auto is_image_operation = [](const nnapi::Operation& operation) {
    return operation.code == OperationCode::CONV_2D || operation.code == OperationCode::DEPTHWISE_CONV_2D ||
           operation.code == OperationCode::GROUPED_CONV_2D;
  };
  const std::vector<const nnapi::Model*> models = nnapi::with_subgraphs(model);
  return std::any_of(models.begin(), models.end(), [&](const nnapi::Model* each) {
    return std::any_of(each->operations.begin(), each->operations.end(), is_image_operation);
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

// True if the CPU quantises or dequantises around NNAPI.
bool quantises_on_cpu(const ModuleInterface& interface) {
  return std::any_of(interface.inputs.begin(), interface.inputs.end(),
                     [](const InterfaceInput& input) { return input.quantize.has_value(); }) ||
         std::any_of(interface.outputs.begin(), interface.outputs.end(),
                     [](const InterfaceOutput& output) { return output.dequantize; });
}

void stop_if_invalid(const nnapi::Model& model, const ModuleInterface& interface, int feature_level) {
  if (model.operations.empty()) {
    fail(quantises_on_cpu(interface)
             ? "nothing is left for NNAPI to run: the CPU quantises and dequantises; use --quant nnapi"
             : "nothing is left for NNAPI to run: forward returns its inputs or constants, unchanged");
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

// The stages that need the original: from TorchScript to NNAPI operations.
Conversion lower_to_nnapi(const LoadedModel& loaded, const ConvertOptions& options, Diagnostics& diagnostics,
                          Stages& stages) {
  stages.begin("normalise");
  NormalisedModel normalised = normalise(loaded, diagnostics);
  stages.end([&] { return to_text(normalised, {}); });

  stages.begin("infer");
  const std::vector<TensorType> original_types = input_types(normalised, loaded.bundled_inputs, options.inputs);
  InferredTypes inferred = infer(normalised, original_types, options.control_flow);
  if (recognise(normalised, inferred.types)) inferred = infer(normalised, original_types, options.control_flow);
  if (!inferred.refusals.empty()) {
    collect_refusals(normalised, original_types, inferred, target_of(options), diagnostics);
  }
  stop_on_refusals(diagnostics);
  const std::vector<TensorType> original_outputs = output_types(normalised, inferred.types);
  const QuantBoundaries boundaries = apply_quant_mode(normalised, original_types, inferred.types, options.quant);
  const std::vector<TensorType> types = nnapi_types(boundaries);
  inferred = infer(normalised, types, options.control_flow);
  diagnostics.refusals = inferred.refusals;
  stop_on_refusals(diagnostics);
  stages.end([&] { return to_text(normalised, inferred.types); });

  stages.begin("lower");
  LoweredModel lowered = lower(normalised, types, inferred.types, target_of(options), diagnostics);
  diagnostics.refusals = lowered.refusals;
  stop_on_refusals(diagnostics);
  stages.end([&] { return nnapi::to_text(lowered.model); });
  Conversion result;
  result.quant = boundaries.mode;
  result.interface = make_interface(normalised, boundaries, lowered, original_types, original_outputs,
                                    output_types(normalised, inferred.types));
  result.model = std::move(lowered.model);
  return result;
}

std::optional<torch::jit::Module> cpu_fallback(const LoadedModel& loaded, const Conversion& conversion,
                                               Fallback fallback) {
  if (fallback == Fallback::kNone) return std::nullopt;
  const torch::jit::Module plain = build_cpu_module(loaded.module, conversion.interface, {});
  return fallback == Fallback::kCpu ? optimised_for_mobile(plain) : plain;
}

void emit_for_pytorch(Conversion& result, const ConvertOptions& options, Stages& stages) {
  stages.begin("serialize");
  nnapi::evaluate_constants(result.model);
  result.serialized = write_buffer(result.model);
  result.buffer_bytes = 4 * result.serialized.words.size();
  for (const nnapi::Constant& constant : result.serialized.buffers) result.weight_bytes += constant.byte_count();
  stages.end([&] { return to_text(result.serialized); });

  stages.begin("emit");
  result.module = build_module(result.model, result.serialized, result.interface, options.preference,
                               options.relax_fp16, result.bundled_inputs);
  stages.end([&] {
    return wrapper_source(
        {result.model, result.serialized, result.interface, options.preference, options.relax_fp16, ""});
  });
}

ShimBufferRequest shim_request(const Conversion& result, const ConvertOptions& options) {
  ShimBufferRequest request{result.model};
  for (const InterfaceInput& input : result.interface.inputs) {
    request.arguments.push_back(input.type.dims);
    request.names.push_back(input.name);
  }
  request.feature_level = nnapi::required_feature_level(result.model);
  request.preference = options.preference;
  request.relax_fp16 = options.relax_fp16;
  request.keeps_names = !options.strip_names;
  return request;
}

void emit_for_shim(Conversion& result, const ConvertOptions& options, const std::optional<torch::jit::Module>& cpu,
                   Stages& stages) {
  stages.begin("serialize");
  ShimBuffer buffer = write_shim_buffer(shim_request(result, options));
  result.buffer_bytes = 4 * buffer.words.size();
  result.weight_bytes = buffer.weight_bytes;
  stages.end([&] { return to_text(buffer); });

  stages.begin("emit");
  result.module = build_shim_module({result.model, result.interface, buffer, cpu, result.bundled_inputs});
  stages.end([&] {
    return shim_source({result.model, result.interface, cpu ? cpu->type()->name()->qualifiedName() : "", ""});
  });
}

}  // namespace

Conversion convert(LoadedModel loaded, const ConvertOptions& options, Diagnostics& diagnostics) {
  check_control_flow(options);
  Stages stages(options);
  Conversion result = lower_to_nnapi(loaded, options, diagnostics, stages);
  result.runtime = options.runtime;
  result.embeds_shim_source = options.embed_shim_source;
  result.bundled_inputs = bundled_samples(result.interface, loaded.bundled_inputs, options.bundle_inputs, diagnostics);
  const std::optional<torch::jit::Module> cpu = cpu_fallback(loaded, result, options.fallback);
  loaded.module = torch::jit::Module();  // what nothing else holds is freed as the weights are evaluated

  stages.begin("optimise");
  apply_layout_choice(result, options.layout, diagnostics);
  nnapi::optimise(result.model, optimise_options(options));
  stages.end([&] { return nnapi::to_text(result.model); });
  stop_if_invalid(result.model, result.interface, options.feature_level);
  options.runtime == Runtime::kShim ? emit_for_shim(result, options, cpu, stages)
                                    : emit_for_pytorch(result, options, stages);
  return result;
}

void write_conversion(const Conversion& conversion, const std::string& path) {
  ArchiveExtras extras;
  extras.metadata = to_json(make_metadata(conversion.model, conversion.interface, name_of(conversion.quant)));
  extras.has_shim_index = conversion.runtime == Runtime::kShim;
  if (conversion.embeds_shim_source) extras.shim_source = shim_files();
  write_module(conversion.module, path, extras);
}

}  // namespace nnapi_convert
