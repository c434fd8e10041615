// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/report/open_cost.h"

#include <fmt/format.h>

#include "lib/base/counted.h"
#include "lib/base/error.h"
#include "lib/converter/emit/call_sizes.h"
#include "lib/converter/load/load.h"
#include "lib/serialize/size_conditions.h"

namespace nnapi_convert {
namespace {

std::string size_text(const std::vector<InterfaceInput>& inputs, int input, int axis) {
  return fmt::format("size {} of {}", axis, inputs[static_cast<size_t>(input)].name);
}

// Adds which of the argument's sizes a call chooses, and what its other open sizes have to be.
void add_sizes(const std::vector<InterfaceInput>& inputs, size_t number, OpenCost& cost) {
  const Dims& dims = inputs[number].type.dims;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis].is_fixed()) continue;
    const std::string own = size_text(inputs, static_cast<int>(number), static_cast<int>(axis));
    if (dims[axis] == Dim::of_input(static_cast<int>(number), static_cast<int>(axis))) {
      cost.sizes.push_back(own);
      continue;
    }
    const std::string needed = dims[axis].text([&](int input, int at) { return size_text(inputs, input, at); });
    cost.guards.push_back(own + " is " + needed);
  }
}

InputSpec fixed_spec(const InterfaceInput& input, const CallSizes& sizes) {
  InputSpec spec;
  spec.name = input.name;
  for (const Dim& dim : input.type.dims) spec.sizes.emplace_back(dim.evaluate(sizes));
  spec.dtype = input.type.dtype;
  if (input.type.is_quantized()) spec.quantization = input.type.quantization;
  return spec;
}

std::string option_text(const InputSpec& spec, bool is_only) {
  std::string sizes;
  for (const std::optional<int64_t>& size : spec.sizes) sizes += (sizes.empty() ? "" : ",") + std::to_string(*size);
  return fmt::format("--input {}{}", is_only ? "" : spec.name + "=", sizes.empty() ? "scalar" : sizes);
}

Coverage fixed_coverage(LoadedModel loaded, const ConvertOptions& options) {
  Diagnostics ignored;
  try {
    Frontend frontend = make_frontend(std::move(loaded), options);
    return coverage_of(plan_conversion(frontend, options, ignored));
  } catch (const ConvertError& error) {
    Coverage coverage;
    coverage.error = error.what();
    return coverage;
  }
}

std::string coverage_text(const Coverage& coverage) {
  if (coverage.is_whole) return "whole";
  const std::string share = coverage.macs.all == 0 ? "" : ", " + to_text(coverage.macs);
  return fmt::format("{}, {} on the CPU{}", counted(coverage.segments, "segment"),
                     counted(coverage.on_cpu.size(), "operation"), share);
}

nlohmann::json coverage_json(const Coverage& coverage) {
  return {{"whole", coverage.is_whole}, {"segments", coverage.segments}, {"on_cpu", coverage.on_cpu.size()}};
}

}  // namespace

std::optional<OpenCost> open_cost(const LoadedModel& loaded, const ConvertOptions& options,
                                  const Conversion& conversion) {
  OpenCost cost;
  const std::vector<InterfaceInput>& inputs = conversion.interface.inputs;
  ConvertOptions fixed = options;
  fixed.on_stage = nullptr;
  fixed.on_dump = nullptr;
  fixed.inputs.clear();
  const CallSizes sizes = call_sizes_of(conversion.interface, loaded);
  for (size_t i = 0; i < inputs.size(); ++i) {
    add_sizes(inputs, i, cost);
    fixed.inputs.push_back(fixed_spec(inputs[i], sizes));
    const bool is_open = !all_fixed(inputs[i].type.dims);
    if (is_open)
      cost.fixed_input += (cost.fixed_input.empty() ? "" : " ") + option_text(fixed.inputs[i], inputs.size() == 1);
  }
  if (cost.sizes.empty()) return std::nullopt;
  for (const SizeCondition& condition : conversion.interface.conditions)
    cost.guards.push_back(text_of(condition, conversion.interface).line());
  cost.open = coverage_of(conversion);
  cost.fixed = fixed_coverage(loaded, fixed);
  return cost;
}

std::string to_text(const OpenCost& cost) {
  std::string text = fmt::format("  open: {}; each other set of sizes compiles once, and four sets are kept\n",
                                 fmt::join(cost.sizes, ", "));
  for (const std::string& guard : cost.guards) text += "    each call is checked: " + guard + "\n";
  if (!cost.fixed.converts) return text;
  const std::string open = coverage_text(cost.open), fixed = coverage_text(cost.fixed);
  return text + fmt::format("    with {}: {}{}\n", cost.fixed_input, fixed, open == fixed ? ", the same" : "");
}

nlohmann::json to_json(const OpenCost& cost) {
  nlohmann::json report = {{"sizes", cost.sizes}, {"guards", cost.guards}};
  if (!cost.fixed.converts) return report;
  report["fixed"] = coverage_json(cost.fixed);
  report["fixed"]["input"] = cost.fixed_input;
  return report;
}

}  // namespace nnapi_convert
