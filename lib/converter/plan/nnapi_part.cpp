// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/plan/nnapi_part.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/counted.h"
#include "lib/base/error.h"
#include "lib/format/operation_table.h"
#include "lib/nnapi/api_level.h"
#include "lib/nnapi/dump.h"
#include "lib/nnapi/passes/convolution_inputs.h"
#include "lib/nnapi/passes/optimise.h"
#include "lib/nnapi/signature.h"
#include "lib/nnapi/validate.h"

namespace nnapi_convert {
namespace {

bool has_images(const nnapi::Model& model) {
  const auto is_image_operation = [](const nnapi::Operation& operation) {
    return nnapi::is_convolution(operation.code);
  };
  const std::vector<const nnapi::Model*> models = nnapi::with_subgraphs(model);
  return std::any_of(models.begin(), models.end(), [&](const nnapi::Model* each) {
    return std::any_of(each->operations.begin(), each->operations.end(), is_image_operation);
  });
}

// Returns whether an operation of the model has an argument for the layout, as convolutions and pools have.
bool has_layouts(const nnapi::Model& model) {
  for (const nnapi::Model* each : nnapi::with_subgraphs(model)) {
    for (const nnapi::Operation& operation : each->operations) {
      const SignatureInfo* signature = nnapi::match_signature(*each, operation).signature;
      for (size_t i = 0; signature != nullptr && i < operation.inputs.size(); ++i) {
        const ArgumentInfo& argument = nnapi::argument_of_input(*signature, i, operation.inputs.size());
        if (argument.role == ArgumentRole::kLayout) return true;
      }
    }
  }
  return false;
}

bool keeps_axes(OperationCode code) {
  return has_trait(code, OperationTrait::kElementwise) || code == OperationCode::SLICE ||
         code == OperationCode::STRIDED_SLICE || code == OperationCode::GATHER;
}

// Returns whether all readers of the operand, of rank 4, are TRANSPOSEs from N,H,W,C to N,C,H,W, perhaps after
// elementwise operations and those that take a part.
bool is_read_as_nhwc(const nnapi::Model& model, nnapi::OperandId id) {
  bool any = false;
  for (const nnapi::Operation& operation : model.operations) {
    if (std::count(operation.inputs.begin(), operation.inputs.end(), id) == 0) continue;
    any = true;
    if (keeps_axes(operation.code)) {
      const bool is_image = model.at(operation.outputs[0]).dims.size() == 4;
      if (!is_image || !is_read_as_nhwc(model, operation.outputs[0])) return false;
      continue;
    }
    if (operation.code != OperationCode::TRANSPOSE) return false;
    const Dims* order = model.at(operation.inputs[1]).ints();
    if (order == nullptr || *order != Dims{0, 3, 1, 2}) return false;
  }
  return any;
}

void check_nhwc_inputs(const ModuleInterface& interface, const std::set<int>& numbers) {
  for (const int number : numbers) {
    if (number < 0 || static_cast<size_t>(number) >= interface.inputs.size()) {
      throw ConvertError(ExitCode::kUsage, fmt::format("--nhwc={}: forward has {}, counted from 0", number,
                                                       counted(interface.inputs.size(), "input")));
    }
    const InterfaceInput& input = interface.inputs[static_cast<size_t>(number)];
    if (input.type.rank() != 4) {
      throw ConvertError(ExitCode::kUsage, fmt::format("--nhwc={}: input {} has rank {}, 4 needed", number, input.name,
                                                       input.type.rank()));
    }
  }
}

void apply_layout_choice(NnapiPart& part, const LayoutChoice& layout, Diagnostics& diagnostics) {
  check_nhwc_inputs(part.interface, layout.nhwc_inputs);
  if (layout.images_only && !has_layouts(part.model)) return;
  for (nnapi::Boundary& input : part.model.inputs) {
    const bool is_image = part.interface.inputs[input.argument].type.rank() == 4;
    const bool is_chosen = layout.nhwc_inputs.empty() ? is_image && !is_read_as_nhwc(part.model, input.operand)
                                                      : layout.nhwc_inputs.count(static_cast<int>(input.argument)) != 0;
    input.nhwc = layout.nhwc && is_chosen && is_image;
  }
  if (!layout.is_explicit && has_images(part.model)) {
    diagnostics.warn("inputs stay in NCHW, which drivers run slower or not at all; use --nhwc, or --nchw to keep NCHW");
  }
}

nnapi::OptimiseOptions optimise_options(const NnapiPart& part, const PlanOptions& options) {
  nnapi::OptimiseOptions result;
  result.half_precision = part.is_relaxed(options);
  result.nhwc = options.layout.nhwc;
  result.feature_level = options.target_level();
  result.device = options.device.get();
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

// Returns one line for each refusal: "device dsp doesn't take CONV_2D from model.py:12: the filter has to be constant".
std::string device_message(const nnapi::DeviceProfile& device, const std::vector<nnapi::DeviceRefusal>& refusals,
                           bool with_sources) {
  std::vector<std::string> lines;
  for (const nnapi::DeviceRefusal& refusal : refusals) {
    const std::string source = with_sources && !refusal.source.empty() ? " from " + refusal.source : "";
    std::string line = fmt::format("{}{}: {}", name_of(refusal.code), source, refusal.reason);
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(std::move(line));
  }
  return fmt::format("device {} doesn't take {}", device.name(), fmt::join(lines, "\n  "));
}

std::optional<SegmentRefusal> device_refusal(const nnapi::Model& model, const PlanOptions& options) {
  if (!options.device) return std::nullopt;
  const nnapi::IntegerRules rules = nnapi::IntegerRules::of(options.target_level(), options.runtime == Runtime::kShim);
  std::vector<nnapi::DeviceRefusal> refusals =
      options.is_quantised_later ? options.device->refusals_in_any_form(model, rules) : options.device->refusals(model);
  if (refusals.empty()) return std::nullopt;
  std::set<std::string> sources;
  for (const nnapi::DeviceRefusal& refused : refusals) sources.insert(refused.source);
  SegmentRefusal refusal{device_message(*options.device, refusals, true)};
  refusal.device = std::move(refusals);
  refusal.refused_sources = std::move(sources);
  return refusal;
}

// Returns the first line of a refusal by NNAPI's rules: the cause, and what to do.
std::string violated_level(const nnapi::Model& model, const PlanOptions& options) {
  const int feature_level = options.target_level();
  if (feature_level < kLevelOfNchw && !options.layout.nhwc && has_images(model)) {
    return fmt::format("NNAPI has no NCHW at feature level {}: use --nhwc, or level {}", feature_level, kLevelOfNchw);
  }
  const int required = nnapi::required_feature_level(model);
  const std::string broken = fmt::format("NNAPI can't run it at feature level {}", feature_level);
  if (options.device && options.device->feature_level() < required) {
    return fmt::format("{}, that of device {}", broken, options.device->name());
  }
  const bool is_valid_there = required > feature_level && nnapi::violations(model, required).empty();
  return is_valid_there ? fmt::format("{}; use {}", broken, option_for_level(required)) : broken;
}

}  // namespace

std::string reason_of(const SegmentRefusal& refusal, const PlanOptions& options) {
  return refusal.device.empty() ? refusal.reason : device_message(*options.device, refusal.device, false);
}

std::optional<SegmentRefusal> refusal_of(const NnapiPart& part, const PlanOptions& options) {
  const int feature_level = options.target_level();
  if (part.model.operations.empty()) {
    SegmentRefusal refusal{
        quantises_on_cpu(part.interface)
            ? "nothing is left for NNAPI to run: the CPU quantises and dequantises; use --quant nnapi"
            : "nothing is left for NNAPI to run: forward returns its inputs' elements or constants, unchanged"};
    refusal.is_empty = true;
    return refusal;
  }
  const std::vector<nnapi::Violation> violations = nnapi::violations(part.model, feature_level);
  if (violations.empty()) return device_refusal(part.model, options);
  SegmentRefusal refusal{violated_level(part.model, options)};
  for (const std::string& line : nnapi::summary_of(violations)) refusal.reason += "\n  " + line;
  for (const nnapi::Violation& violation : violations) refusal.refused_sources.insert(violation.source);
  return refusal;
}

Target target_of(const PlanOptions& options) {
  const bool is_shim = options.runtime == Runtime::kShim;
  return {options.target_level(), is_shim, is_shim, options.tanh_gelu, options.device.get()};
}

void optimise_part(NnapiPart& part, const PlanOptions& options, const LayoutChoice& layout, Diagnostics& diagnostics) {
  apply_layout_choice(part, layout, diagnostics);
  nnapi::optimise(part.model, optimise_options(part, options));
}

}  // namespace nnapi_convert
