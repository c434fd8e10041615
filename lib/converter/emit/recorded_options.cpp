// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/emit/recorded_options.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lib/base/error.h"
#include "lib/base/json_problem.h"
#include "lib/nnapi/shipped_profiles.h"
#include "lib/quantise/recorded_calibration.h"

namespace nnapi_convert {
namespace {

using nlohmann::json;

QuantMode quant_mode(const std::string& name) {
  for (const QuantMode mode :
       {QuantMode::kAuto, QuantMode::kNone, QuantMode::kCore, QuantMode::kFull, QuantMode::kNnapi}) {
    if (name == name_of(mode)) return mode;
  }
  throw ConvertError(ExitCode::kBadFile,
                     fmt::format("malformed {}: unknown quantisation mode {}", kMetadataFile, name));
}

// Returns the dtype and quantisation of the original's input, with the sizes of the conversion.
InputSpec spec_of(const MetadataInput& input, size_t number, const SizeConditions& conditions) {
  InputSpec spec;
  spec.name = input.name;
  for (size_t axis = 0; axis < input.type.rank(); ++axis) {
    const Dim& size = input.type.dims[axis];
    spec.sizes.push_back(size.fixed_value());
    if (size.is_fixed()) continue;
    OpenSizeSpec& open = spec.open[axis];
    open.range = range_of(size, conditions);
    if (size != Dim::of_input(static_cast<int>(number), static_cast<int>(axis))) open.relation = size;
  }
  spec.dtype = input.original.dtype;
  if (input.original.is_quantized()) spec.quantization = input.original.quantization;
  return spec;
}

// Reads the options that the metadata of a file without a record tells.
void read_interface(const ConvertedFile& file, ConvertOptions& options) {
  options.runtime = file.runtime;
  options.feature_level = std::max(options.feature_level, file.metadata.feature_level);
  options.fallback = file.is_partitioned ? Fallback::kPartition : Fallback::kNone;
  options.quant = file.is_partitioned ? QuantMode::kAuto : quant_mode(file.metadata.quant);
  options.layout.is_explicit = true;
  for (size_t i = 0; i < file.metadata.inputs.size(); ++i) {
    options.inputs.push_back(spec_of(file.metadata.inputs[i], i, file.metadata.conditions));
    if (!file.metadata.inputs[i].nhwc) continue;
    options.layout.nhwc = true;
    options.layout.nhwc_inputs.insert(static_cast<int>(i));
  }
}

// Returns the profile of this name that comes with the program; null for an empty name.
std::shared_ptr<const nnapi::DeviceProfile> shipped_device(const std::string& name) {
  if (name.empty()) return nullptr;
  for (const FolderFile& file : shipped_profiles()) {
    auto profile = std::make_shared<const nnapi::DeviceProfile>(nnapi::find_profile(file.name));
    if (profile->name() == name) return profile;
  }
  throw ConvertError(ExitCode::kUsage, fmt::format("the file was converted for the device {}, whose profile does not "
                                                   "come with this program; verify it without --per-op",
                                                   name));
}

std::vector<BoundArgument> bound_of(const json& record) {
  std::vector<BoundArgument> bound;
  const json values = record.value("bound", json::object());
  for (const auto& [name, text] : values.items()) bound.push_back({name, text});
  return bound;
}

std::optional<PixelInput> pixels_of(const json& record) {
  if (!record.contains("pixels")) return std::nullopt;
  const json& pixels = record["pixels"];
  return PixelInput{pixels.at("name"), pixels.at("alpha"), pixels.at("max"),
                    pixels.at("mean"), pixels.at("std"),   pixels.at("bgr")};
}

[[noreturn]] void fail_malformed(const json::exception& error) {
  throw ConvertError(ExitCode::kBadFile, fmt::format("malformed {}: {}", kMetadataFile, json_problem(error)));
}

void read_record(const std::string& text, ConvertOptions& options) {
  const json record = json::parse(text);
  options.feature_level = record.at("feature_level");
  options.device = shipped_device(record.value("device", ""));
  options.layout.nhwc = record.at("nhwc");
  options.layout.nhwc_inputs = record.at("nhwc_inputs").get<std::set<int>>();
  options.quant = quant_mode(record.at("quant"));
  options.control_flow = record.at("control_flow").get<bool>() ? ControlFlow::kNnapi : ControlFlow::kRefuse;
  const json& min_macs = record.at("min_segment_macs");
  if (!min_macs.is_null()) options.segments.min_macs = min_macs;
  options.segments.max_segments = record.at("max_segments");
  options.segments.rows_per_call = record.value("rows_per_call", options.segments.rows_per_call);
  options.fp16_weights = record.value("fp16_weights", false);
  options.int8_weights = record.value("int8_weights", false);
  options.relax_fp16 = record.value("relax_fp16", false);
  options.tanh_gelu = record.value("tanh_gelu", false);
  options.split_outputs = record.contains("splits");
  options.bound = bound_of(record);
  options.pixels = pixels_of(record);
  options.disabled_passes = record.at("disabled_passes").get<std::set<std::string>>();
}

}  // namespace

std::string record_options(const ConvertOptions& options) {
  json record{{"feature_level", options.feature_level},
              {"device", options.device ? options.device->name() : ""},
              {"nhwc", options.layout.nhwc},
              {"nhwc_inputs", options.layout.nhwc_inputs},
              {"quant", name_of(options.quant)},
              {"control_flow", options.control_flow == ControlFlow::kNnapi},
              {"min_segment_macs", options.segments.min_macs ? json(*options.segments.min_macs) : json()},
              {"max_segments", options.segments.max_segments},
              {"rows_per_call", options.segments.rows_per_call},
              {"disabled_passes", options.disabled_passes}};
  if (options.fp16_weights) record["fp16_weights"] = true;
  if (options.int8_weights) record["int8_weights"] = true;
  if (options.relax_fp16) record["relax_fp16"] = true;
  if (options.tanh_gelu) record["tanh_gelu"] = true;
  for (const BoundArgument& each : options.bound) record["bound"][each.name] = each.text;
  if (const auto& pixels = options.pixels) {
    record["pixels"] = {{"name", pixels->name}, {"alpha", pixels->has_alpha}, {"max", pixels->pixel_max},
                        {"mean", pixels->mean}, {"std", pixels->std},         {"bgr", pixels->is_bgr}};
  }
  if (options.pictures && options.pictures->is_given()) {
    record["pictures"] = json::parse(picture_text(*options.pictures));
  }
  return record.dump();
}

ConvertOptions recorded_options(const ConvertedFile& file) {
  ConvertOptions options;
  read_interface(file, options);
  if (file.metadata.options.empty()) return options;
  try {
    read_record(file.metadata.options, options);
  } catch (const json::exception& error) {
    fail_malformed(error);
  }
  return options;
}

std::vector<BoundArgument> recorded_bound(const ConvertedFile& file) {
  if (file.metadata.options.empty()) return {};
  try {
    return bound_of(json::parse(file.metadata.options));
  } catch (const json::exception& error) {
    fail_malformed(error);
  }
}

std::optional<PixelInput> recorded_pixels(const ConvertedFile& file) {
  if (file.metadata.options.empty()) return std::nullopt;
  try {
    return pixels_of(json::parse(file.metadata.options));
  } catch (const json::exception& error) {
    fail_malformed(error);
  }
}

std::string with_splits(const std::string& recorded_options, const std::vector<ResultSplit>& splits) {
  if (splits.empty()) return recorded_options;
  json record = json::parse(recorded_options);
  for (const ResultSplit& split : splits) {
    record["splits"].push_back({{"result", split.result}, {"axis", split.axis}, {"sizes", split.sizes}});
  }
  return record.dump();
}

std::vector<ResultSplit> recorded_splits(const ConvertedFile& file) {
  if (file.metadata.options.empty()) return {};
  try {
    std::vector<ResultSplit> splits;
    const json record = json::parse(file.metadata.options).value("splits", json::array());
    for (const json& split : record) {
      splits.push_back({split.at("result"), split.at("axis"), split.at("sizes").get<std::vector<int64_t>>()});
    }
    return splits;
  } catch (const json::exception& error) {
    fail_malformed(error);
  }
}

bool is_approximate(const ConvertedFile& file) {
  if (file.metadata.options.empty()) return false;
  try {
    const json record = json::parse(file.metadata.options);
    return record.value("fp16_weights", false) || record.value("int8_weights", false) ||
           record.value("tanh_gelu", false);
  } catch (const json::exception& error) {
    fail_malformed(error);
  }
}

}  // namespace nnapi_convert
