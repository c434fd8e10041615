// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-convert/engine/package.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <utility>
#include <vector>

#include "lib/base/error.h"
#include "lib/converter/convert.h"
#include "lib/converter/emit/package.h"
#include "lib/converter/frontend/bound_arguments.h"
#include "lib/nnapi/stored_form.h"

namespace nnapi_convert {
namespace {

// Returns the calibration for one model: data quantise only the models that ask for it; a quantised original needs
// none.
CalibrationOptions calibration_of(const PackageRequest& request, const CalibrationOptions& calibration) {
  return request.is_quantised() ? calibration : CalibrationOptions{};
}

bool has_scales_per_channel(const nnapi::Model& model) {
  return std::any_of(model.operands.begin(), model.operands.end(), [](const nnapi::Operand& operand) {
    return operand.channels != nullptr && !nnapi::is_stored_as_int8(operand);
  });
}

// Returns the names of forward's arguments that are tensors.
std::vector<std::string> tensor_names(const LoadedModel& model) {
  std::vector<std::string> names;
  const auto& arguments = model.module.get_method("forward").function().getSchema().arguments();
  for (size_t i = 1; i < arguments.size(); ++i) {  // 0 is self
    if (arguments[i].type()->isSubtypeOf(*c10::TensorType::get())) names.push_back(arguments[i].name());
  }
  return names;
}

// Returns the number of the input to which the shape belongs; the number of inputs if there is none. A name is that of
// an input, or, for inputs without names, of forward's tensor at the input's position.
size_t place_of_shape(const std::vector<InputSpec>& inputs, const InputSpec& shape, size_t position,
                      const std::vector<std::string>& names) {
  if (shape.name.empty()) return std::min(position, inputs.size());
  const auto named =
      std::find_if(inputs.begin(), inputs.end(), [&](const InputSpec& input) { return input.name == shape.name; });
  if (named != inputs.end()) return static_cast<size_t>(named - inputs.begin());
  const auto tensor = static_cast<size_t>(std::find(names.begin(), names.end(), shape.name) - names.begin());
  return tensor < inputs.size() && inputs[tensor].name.empty() ? tensor : inputs.size();
}

// Replaces the sizes of inputs by those of shape=.
void replace_sizes(std::vector<InputSpec>& inputs, const std::vector<InputSpec>& shapes,
                   const std::vector<std::string>& names) {
  for (size_t i = 0; i < shapes.size(); ++i) {
    const size_t place = place_of_shape(inputs, shapes[i], i, names);
    if (place == inputs.size()) {
      inputs.push_back(shapes[i]);
    } else {
      inputs[place].sizes = shapes[i].sizes;
    }
  }
}

// Throws for a name that forward lacks. A tensor within a tuple, a list or a dict has a longer name, which begins with
// the argument's.
void check_names(const std::vector<InputSpec>& shapes, const LoadedModel& model) {
  const auto& arguments = model.module.get_method("forward").function().getSchema().arguments();
  for (const InputSpec& shape : shapes) {
    const std::string name = shape.name.substr(0, shape.name.find_first_of(".["));
    const bool is_known = std::any_of(arguments.begin() + 1, arguments.end(),
                                      [&](const c10::Argument& argument) { return argument.name() == name; });
    if (is_known || name.empty()) continue;
    throw ConvertError(ExitCode::kUsage, fmt::format("shape={}=...: forward has no such tensor; it has {}", shape.name,
                                                     fmt::join(tensor_names(model), ", ")));
  }
}

void add_new(const std::vector<Warning>& found, std::vector<Warning>& warnings) {
  for (const Warning& warning : found) {
    const bool is_known = std::any_of(warnings.begin(), warnings.end(),
                                      [&](const Warning& known) { return known.message() == warning.message(); });
    if (!is_known) warnings.push_back(warning);
  }
}

// Returns for each model the number of the first model whose buffer has the same words; its own if none before it has.
std::vector<size_t> equal_buffers(const std::vector<PackageMember>& members) {
  std::vector<size_t> equal;
  for (size_t i = 0; i < members.size(); ++i) {
    const auto words_of = [&](size_t number) -> const std::vector<int32_t>& {
      return members[number].conversion.segments.at(0).shim->words;
    };
    size_t first = 0;
    while (first < i && words_of(first) != words_of(i)) ++first;
    equal.push_back(first);
  }
  return equal;
}

// Warns of models that equal earlier ones and have the same weights, as phones take the first of them.
void warn_of_same(const std::vector<VariantSummary>& models, const std::vector<size_t>& equal,
                  Diagnostics& diagnostics) {
  for (size_t i = 0; i < models.size(); ++i) {
    if (equal[i] == i || models[i].own_bytes > 0) continue;
    diagnostics.warn(
        fmt::format("--package: model {} ({}) is the same as model {} ({}), so that no phone takes it: leave "
                    "it out, or give it a word that makes it another one, such as quant=nnapi",
                    i + 1, models[i].name, equal[i] + 1, models[equal[i]].name));
  }
}

}  // namespace

ConvertOptions options_of(const PackageRequest& request, const LoadedModel& model, ConvertOptions options) {
  check_names(request.inputs, model);
  options.feature_level = request.feature_level.value_or(options.feature_level);
  options.quant = request.quant.value_or(options.quant);
  options.relax_fp16 = options.relax_fp16 || request.relax_fp16;
  options.fallback = Fallback::kNone;  // the package has one CPU model for all of them
  replace_sizes(options.inputs, request.inputs, tensor_names(model));
  return options;
}

std::string quantisation_refusal(const PackageRequest& request, const Conversion& conversion) {
  if (!request.is_quantised()) return "";
  if (conversion.quant == QuantMode::kNone) {
    return "the original is a float model: quant= needs the data of --calibrate, or a quantised original";
  }
  if (!request.is_per_channel || conversion.segments.empty()) return "";
  if (has_scales_per_channel(conversion.segments[0].model)) return "";
  return "per-channel: no weights have a scale per channel; only --calibrate or the original can give them, to "
         "convolutions and linear layers";
}

std::string in_package_words(std::string advice) {
  static const std::regex level_by_api(R"(--min-api \d+ \(feature level (\d)\))");
  advice = std::regex_replace(advice, level_by_api, "level=$1");
  static const std::vector<std::pair<std::string, std::string>> words = {
      {"--feature-level ", "level="}, {"--quant ", "quant="}, {"--relax-fp16", "relax-fp16"}};
  for (const auto& [option, word] : words) {
    for (size_t at = advice.find(option); at != std::string::npos; at = advice.find(option, at + word.size())) {
      advice.replace(at, option.size(), word);
    }
  }
  return advice;
}

void use_package_words(Diagnostics& diagnostics) {
  for (Refusal& refusal : diagnostics.refusals) refusal.hint = in_package_words(refusal.hint);
  for (Warning& warning : diagnostics.warnings) {
    warning.kind = in_package_words(warning.kind);
    warning.detail = in_package_words(warning.detail);
  }
}

Conversion convert_package(LoadedModel loaded, const ConvertArguments& arguments,
                           const std::vector<std::string>& class_names, Diagnostics& diagnostics) {
  std::vector<PackageMember> members;
  for (size_t i = 0; i < arguments.package.size(); ++i) {
    const PackageRequest& request = arguments.package[i];
    Diagnostics own;
    try {
      const bool is_last = i + 1 == arguments.package.size();
      LoadedModel model = is_last ? std::exchange(loaded, {}) : loaded;
      const ConvertOptions options = bind_arguments(model, options_of(request, model, arguments.options));
      PackageMember& member = members.emplace_back();
      member.name = request.name;
      if (embeds_cpu_model(arguments.options.fallback)) member.original = model;
      const CalibrationOptions calibration = calibration_of(request, arguments.calibration);
      Frontend frontend = make_frontend(std::exchange(model, {}), options, calibration);
      member.conversion = convert(frontend, options, calibration, class_names, own);
      const std::string refusal = quantisation_refusal(request, member.conversion);
      if (!refusal.empty()) throw ConvertError(ExitCode::kNotConvertible, refusal);
      use_package_words(own);
      add_new(own.warnings, diagnostics.warnings);
    } catch (const ConvertError& error) {
      use_package_words(own);
      diagnostics.refusals = own.refusals;
      throw ConvertError(error.exit_code(), fmt::format("--package: model {} ({}): {}", i + 1, request.name,
                                                        in_package_words(error.what())));
    }
  }
  const std::vector<size_t> equal = equal_buffers(members);
  Conversion package = make_package(std::move(members), arguments.options.fallback);
  warn_of_same(package.variants, equal, diagnostics);
  return package;
}

}  // namespace nnapi_convert
