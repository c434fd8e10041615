#include "tools/nnapi-convert/engine/package.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "lib/base/error.h"
#include "lib/converter/convert.h"
#include "lib/converter/emit/package.h"
#include "lib/converter/normalise/bound_arguments.h"

namespace nnapi_convert {
namespace {

// Data quantise only the models that ask for it; an original that is quantised needs none.
CalibrationOptions calibration_of(const PackageRequest& request, const CalibrationOptions& calibration) {
  return request.is_quantised() ? calibration : CalibrationOptions{};
}

bool has_scales_per_channel(const nnapi::Model& model) {
  return std::any_of(model.operands.begin(), model.operands.end(),
                     [](const nnapi::Operand& operand) { return operand.channels != nullptr; });
}

void check_quantisation(const PackageRequest& request, const Conversion& conversion) {
  if (!request.is_quantised()) return;
  if (conversion.quant == QuantMode::kNone) {
    throw ConvertError(ExitCode::kNotConvertible,
                       "the original is a float model: quant= needs the data of --calibrate, or a quantised original");
  }
  if (!request.is_per_channel || conversion.segments.empty()) return;
  if (has_scales_per_channel(conversion.segments[0].model)) return;
  throw ConvertError(ExitCode::kNotConvertible,
                     "per-channel: no weights have a scale per channel; they exist from level 3 on, and only where "
                     "--calibrate or the original gives them");
}

void add_new(const std::vector<Warning>& found, std::vector<Warning>& warnings) {
  for (const Warning& warning : found) {
    const bool is_known = std::any_of(warnings.begin(), warnings.end(),
                                      [&](const Warning& known) { return known.message() == warning.message(); });
    if (!is_known) warnings.push_back(warning);
  }
}

}  // namespace

ConvertOptions options_of(const PackageRequest& request, ConvertOptions options) {
  options.feature_level = request.feature_level.value_or(options.feature_level);
  options.quant = request.quant.value_or(options.quant);
  options.relax_fp16 = options.relax_fp16 || request.relax_fp16;
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    if (i >= options.inputs.size()) {
      options.inputs.push_back(request.inputs[i]);
    } else {
      options.inputs[i].sizes = request.inputs[i].sizes;
    }
  }
  return options;
}

Conversion convert_package(LoadedModel loaded, const ConvertArguments& arguments, Diagnostics& diagnostics) {
  std::vector<PackageMember> members;
  for (size_t i = 0; i < arguments.package.size(); ++i) {
    const PackageRequest& request = arguments.package[i];
    Diagnostics own;
    try {
      const bool is_last = i + 1 == arguments.package.size();
      LoadedModel model = is_last ? std::exchange(loaded, {}) : loaded;
      const ConvertOptions options = bind_arguments(model, options_of(request, arguments.options));
      Conversion conversion =
          convert(std::exchange(model, {}), options, calibration_of(request, arguments.calibration), own);
      check_quantisation(request, conversion);
      add_new(own.warnings, diagnostics.warnings);
      members.push_back({request.name, std::move(conversion)});
    } catch (const ConvertError& error) {
      diagnostics.refusals = own.refusals;
      throw ConvertError(error.exit_code(),
                         fmt::format("--package: model {} ({}): {}", i + 1, request.name, error.what()));
    }
  }
  return make_package(std::move(members));
}

}  // namespace nnapi_convert
