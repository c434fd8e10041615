// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-convert/parsed_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <set>
#include <utility>

#include "lib/base/error.h"
#include "lib/base/split_text.h"
#include "lib/nnapi/api_level.h"
#include "lib/nnapi/shipped_profiles.h"
#include "lib/types/control_flow_options.h"
#include "tools/nnapi-convert/command_line.h"
#include "tools/nnapi-convert/input_spec.h"
#include "tools/nnapi-convert/package_option.h"

namespace nnapi_convert {
namespace {

LayoutChoice layout_choice(const CLI::App& app, const ConvertArguments& arguments) {
  LayoutChoice layout;
  layout.nhwc = app.count("--nhwc") != 0;
  layout.is_explicit = layout.nhwc || arguments.nchw;
  if (!layout.nhwc || arguments.nhwc == "true") return layout;  // --nhwc without numbers
  for (const std::string& number : split_text(arguments.nhwc, ',')) {
    if (number.empty() || number.find_first_not_of("0123456789") != std::string::npos || number.size() > 4) {
      throw ConvertError(ExitCode::kUsage,
                         fmt::format("--nhwc={}: write the numbers of inputs, for example --nhwc=0,2", arguments.nhwc));
    }
    layout.nhwc_inputs.insert(std::stoi(number));
  }
  return layout;
}

void read_target(const CLI::App& app, ConvertArguments& arguments) {
  ConvertOptions& options = arguments.options;
  const bool has_level = app.count("--feature-level") > 0, has_api = app.count("--min-api") > 0;
  arguments.has_target = has_level || has_api || !arguments.device_profile.empty();
  if (has_api) {
    const auto level = level_of_api(arguments.min_api);
    if (!level) {
      throw ConvertError(ExitCode::kUsage, fmt::format("--min-api: {} found, 27 or more needed, the first with NNAPI",
                                                       arguments.min_api));
    }
    options.feature_level = *level;
  }
  if (arguments.device_profile.empty()) return;
  options.device = std::make_shared<nnapi::DeviceProfile>(nnapi::find_profile(arguments.device_profile));
  if (!has_level && !has_api) options.feature_level = options.device->feature_level();
}

// Sets the options of a conversion that writes only a LiteRT file. NNAPI never runs it: it may use the operations of
// the highest level, a scale for each channel of its weights, or a symmetric one, the only layout that LiteRT has, and
// no samples for the shim. LiteRT's delegates know the means of layer norms, but not L2_NORMALIZATION.
void read_litert_alone(const CLI::App& app, ConvertArguments& arguments) {
  if (!arguments.output.empty() || arguments.litert.empty()) return;
  if (!arguments.has_target) arguments.options.feature_level = kHighestFeatureLevel;
  if (app.count("--runtime") == 0) arguments.options.runtime = Runtime::kShim;
  if (!arguments.check_samples) arguments.no_self_check = true;
  LayoutChoice& layout = arguments.options.layout;
  if (!layout.is_explicit) layout.nhwc = layout.is_explicit = layout.images_only = true;
  arguments.options.symmetric_weights = true;
  arguments.options.disabled_passes.insert("l2_normalise");
}

// Chooses NHWC below the level that has NCHW. The models of a package have the same inputs for callers, and therefore
// the layout that the model of the lowest level needs.
void read_only_layout(ConvertArguments& arguments) {
  LayoutChoice& layout = arguments.options.layout;
  if (layout.is_explicit) return;
  int lowest = arguments.package.empty() ? arguments.options.target_level() : kHighestFeatureLevel;
  for (const PackageRequest& request : arguments.package) {
    lowest = std::min(lowest, request.feature_level.value_or(arguments.options.target_level()));
  }
  if (lowest < kLevelOfNchw) layout.nhwc = layout.is_explicit = true;
}

// Reads --input-pixels, and moves the options that normalise into it.
void read_pixels(ConvertArguments& arguments) {
  if (arguments.pixels_text.empty()) return;
  const size_t equals = arguments.pixels_text.rfind('=');
  const bool is_named = equals != std::string::npos;
  const std::string format = is_named ? arguments.pixels_text.substr(equals + 1) : arguments.pixels_text;
  const auto fail = [](const std::string& problem) {
    throw ConvertError(ExitCode::kUsage, "--input-pixels: " + problem);
  };
  if (format != "uint8" && format != "rgba") fail(format + " found, uint8 or rgba needed");
  PictureChoice& pictures = arguments.calibration.pictures;
  if (pictures.mean.empty() || pictures.std.empty()) {
    fail(
        "--mean and --std are missing, by which the model's pictures are normalised; a model that takes 0 to 1 "
        "needs --mean 0 --std 1");
  }
  for (const std::vector<double>* values : {&pictures.mean, &pictures.std}) {
    if (values->size() == 1 || values->size() == 3) continue;
    fail(fmt::format("{} numbers found in --mean or --std, 1 or 3 needed", values->size()));
  }
  arguments.options.pixels = PixelInput{is_named ? arguments.pixels_text.substr(0, equals) : "",
                                        format == "rgba",
                                        pictures.pixel_max,
                                        pictures.mean,
                                        pictures.std,
                                        pictures.is_bgr};
  PictureChoice sizes_only;
  sizes_only.resize = pictures.resize;
  sizes_only.crop = pictures.crop;
  pictures = sizes_only;
  LayoutChoice& layout = arguments.options.layout;
  if (!layout.is_explicit) layout.nhwc = layout.is_explicit = true;
}

// Throws for options that have no meaning without data.
void check_calibration(const CLI::App& app, const ConvertArguments& arguments) {
  const bool refuses = arguments.options.quant == QuantMode::kNone && arguments.package_text.empty();
  if (arguments.calibration.is_asked_for() && refuses) {
    throw ConvertError(ExitCode::kUsage,
                       "--quant none: it refuses quantised models, and --calibrate or --calibration makes one; leave "
                       "one of them out");
  }
  if (!arguments.calibration.source.empty()) return;
  for (const CLI::Option* option : app.get_options()) {
    const bool is_of_pictures = option->get_group() == kPicturesGroup;
    const bool needs_data =
        option->get_group() == kQuantiseGroup || (is_of_pictures && arguments.calibration.reads_table());
    if (!needs_data || option->count() == 0 || option->check_lname("calibration")) continue;
    if (is_of_pictures && arguments.options.pixels && !option->check_lname("resize") && !option->check_lname("crop"))
      continue;
    throw ConvertError(
        ExitCode::kUsage,
        is_of_pictures
            ? fmt::format("{}: the table of --calibration tells it", option->get_name(false, true))
            : fmt::format("{}: --calibrate is missing, which gives the data", option->get_name(false, true)));
  }
}

// Sets the options for pictures that the file tells apps, if there are any, or if the model takes pixels. With data
// they are part of the file's record of the calibration, so that a table of scales gives the same file.
void read_pictures(ConvertArguments& arguments) {
  const CalibrationOptions& calibration = arguments.calibration;
  const PictureChoice pictures = calibration.is_asked_for() ? PictureChoice() : calibration.pictures;
  if (pictures.is_given() || arguments.options.pixels) arguments.options.pictures = pictures;
}

void read_package(const CLI::App& app, ConvertArguments& arguments) {
  if (app.get_option("--package")->count() == 0) return;
  arguments.package = parse_package(arguments.package_text);
  ConvertOptions& options = arguments.options;
  if (options.runtime != Runtime::kShim) {
    throw ConvertError(ExitCode::kUsage, "--package: PyTorch's own loader can't choose a model; use --runtime shim");
  }
  if (!arguments.calibration.table.empty() && !arguments.calibration.reads_table()) {
    throw ConvertError(ExitCode::kUsage,
                       "--calibration: the models of a package may have different scales; write the "
                       "table in a conversion without --package");
  }
  const auto is_quantised = [](const PackageRequest& request) { return request.is_quantised(); };
  const bool has_use = std::any_of(arguments.package.begin(), arguments.package.end(), is_quantised);
  if (arguments.calibration.is_asked_for() && !has_use) {
    throw ConvertError(ExitCode::kUsage,
                       "--calibrate: no model of --package is to be quantised; give one of them quant=nnapi, core or "
                       "full, or per-channel");
  }
  constexpr int kPerChannel = 3;  // the level with TENSOR_QUANT8_SYMM_PER_CHANNEL
  for (const PackageRequest& request : arguments.package) {
    const int level = request.feature_level.value_or(options.target_level());
    if (!request.is_per_channel || level >= kPerChannel) continue;
    throw ConvertError(ExitCode::kUsage,
                       fmt::format("--package: '{}': per-channel: NNAPI has weights with a scale for each channel from "
                                   "level {} on, and this model is for level {}",
                                   request.name, kPerChannel, level));
  }
  if (!may_part(options.fallback)) return;
  if (app.count("--fallback") > 0) {
    throw ConvertError(ExitCode::kUsage,
                       "--fallback partition, partition-cpu: packages hold whole models; use none, cpu or cpu-plain");
  }
  options.fallback = Fallback::kNone;
}

void read_self_check(ConvertArguments& arguments) {
  const bool is_shim = arguments.options.runtime == Runtime::kShim;
  if (arguments.check_samples && !is_shim) {
    throw ConvertError(ExitCode::kUsage, "--self-check: PyTorch's own loader can't check a device; use --runtime shim");
  }
  const bool has_samples = is_shim && !arguments.no_self_check;
  arguments.options.check_samples =
      has_samples ? arguments.check_samples.value_or(ConvertOptions::kDefaultCheckSamples) : 0;
}

// Throws for options that work only on forward: methods are converted together, only by their plans.
void check_methods(const ConvertArguments& arguments) {
  const std::vector<std::string>& methods = arguments.methods;
  if (methods.empty()) return;
  for (size_t i = 0; i < methods.size(); ++i) {
    if (std::count(methods.begin(), methods.end(), methods[i]) > 1) {
      throw ConvertError(ExitCode::kUsage, fmt::format("--method {}: given twice", methods[i]));
    }
  }
  std::string refused;
  if (arguments.calibration.is_asked_for()) refused = "--calibrate";
  if (!arguments.calibration.table.empty()) refused = "--calibration";
  if (!arguments.options.emit_cpu.empty()) refused = "--emit-cpu";
  if (arguments.options.bundle_inputs) refused = "--bundle-inputs";
  if (arguments.options.split_outputs) refused = "--split-output";
  if (!arguments.package_text.empty()) refused = "--package";
  if (arguments.calibration.pictures.is_given()) refused = "--mean, --std, --resize or --crop";
  if (arguments.options.pixels) refused = "--input-pixels";
  if (has_cpu_form(arguments.options.fallback)) refused = "--fallback cpu and partition-cpu";
  const auto is_html = [](const std::string& path) { return std::filesystem::path(path).extension() == ".html"; };
  if (std::any_of(arguments.reports.begin(), arguments.reports.end(), is_html)) refused = "--report with a page";
  if (refused.empty()) return;
  throw ConvertError(ExitCode::kUsage,
                     fmt::format("{}: it is for forward alone and can't be used with --method", refused));
}

// Throws for options with which no LiteRT file can be made.
void check_litert(const CLI::App& app, const ConvertArguments& arguments) {
  const bool is_asked_for = app.count("--litert") > 0 || !arguments.litert.empty();
  if (arguments.litert_uint8 && !is_asked_for) {
    throw ConvertError(ExitCode::kUsage, "--litert-uint8: it says how --litert writes; give --litert, too");
  }
  if (!is_asked_for) return;
  refuse_standard_output("--litert", arguments.litert);
  if (arguments.nchw) {
    throw ConvertError(ExitCode::kUsage, "--litert: LiteRT has the layout NHWC alone; use --nhwc in place of --nchw");
  }
  if (!arguments.package.empty()) {
    throw ConvertError(ExitCode::kUsage, "--litert: a package holds several models, a LiteRT file one; leave one out");
  }
}

// Throws for --split-output with a file that records no splits, as verify could not compare it.
void check_split_output(const ConvertArguments& arguments) {
  if (!arguments.options.split_outputs) return;
  const char* other = !arguments.litert.empty() ? "--litert" : !arguments.package.empty() ? "--package" : nullptr;
  if (other == nullptr) return;
  throw ConvertError(ExitCode::kUsage,
                     fmt::format("--split-output: it is for a file of one model for NNAPI; leave {} out", other));
}

// Throws for options that ask for parts that --no-torchscript leaves out.
void check_no_torchscript(const ConvertArguments& arguments) {
  const ConvertOptions& options = arguments.options;
  if (!options.no_torchscript) return;
  const char* other = !arguments.methods.empty()  ? "--method"
                      : options.bundle_inputs     ? "--bundle-inputs"
                      : !options.emit_cpu.empty() ? "--emit-cpu"
                      : options.embed_shim_source ? "--embed-shim-source"
                      : options.may_need_pytorch  ? "--needs-pytorch"
                                                  : nullptr;
  if (options.runtime != Runtime::kShim) {
    throw ConvertError(ExitCode::kUsage, "--no-torchscript: PyTorch's loader runs nothing else; use --runtime shim");
  }
  if (other != nullptr) {
    throw ConvertError(ExitCode::kUsage,
                       fmt::format("--no-torchscript: {} is for files with TorchScript; leave one out", other));
  }
}

void check_code(const ConvertArguments& arguments) {
  refuse_standard_output("--emit-python", arguments.python_code);
  refuse_standard_output("--emit-kotlin", arguments.kotlin_code);
  if (arguments.kotlin_code.empty() || arguments.has_output) return;
  throw ConvertError(ExitCode::kUsage,
                     "--emit-kotlin: it is for the file that -o writes; docs/litert.md has lines for LiteRT");
}

void check_needs_pytorch(const ConvertOptions& options) {
  if (!options.may_need_pytorch || options.runtime == Runtime::kShim) return;
  throw ConvertError(ExitCode::kUsage,
                     "--needs-pytorch: it is for --runtime shim; PyTorch's loader needs PyTorch anyway");
}

// Returns the options that decide the result, for the file's record of its origin. Paths are given by the files' names
// alone: two conversions of the same files are the same, wherever the files lie. Options for quantising by data are
// left out, as a table of scales gives the same file; the file's metadata tell the outcome. Builds often give defaults,
// which are left out, except for a lone LiteRT file, which has other defaults.
//
// With `is_of_report`, returns all options that were given, except --output and those for printing, reports and
// starting code.
std::vector<std::string> given_options(const CLI::App& app, const ConvertArguments& arguments, bool is_of_report) {
  static const std::set<std::string> kOthers = {
      "help",          "help-all",  "output",  "litert", "report",        "verify",      "dump-after", "emit-cpu",
      "torch-library", "calibrate", "verbose", "quiet",  "verify-inputs", "emit-python", "emit-kotlin"};
  static const std::set<std::string> kOfPrinting = {"help",    "help-all", "output",      "report",
                                                    "verbose", "quiet",    "emit-python", "emit-kotlin"};
  const std::set<std::string>& others = is_of_report ? kOfPrinting : kOthers;
  const bool has_usual_defaults = !is_of_report && (arguments.litert.empty() || !arguments.output.empty());
  std::vector<std::string> given;
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0 || option->get_lnames().empty() || others.count(option->get_lnames()[0]) != 0) continue;
    const bool is_of_pictures = option->get_group() == kPicturesGroup && !option->check_lname("input-pixels");
    const bool is_of_data =
        option->get_group() == kQuantiseGroup || (is_of_pictures && arguments.calibration.is_asked_for());
    if (is_of_data && !is_of_report) continue;
    const std::string type = option->get_type_name();
    const bool is_path = type == "FILE" || type == "DATA" || type == "TABLE";
    std::string text = "--" + option->get_lnames()[0];
    const std::vector<std::string> values =
        option->get_expected_max() == 0 ? std::vector<std::string>() : option->results();
    if (has_usual_defaults && values.size() == 1 && values[0] == option->get_default_str()) continue;
    for (const std::string& value : values) {
      text += " " + (is_path ? std::filesystem::path(value).filename().string() : value);
    }
    given.push_back(text);
  }
  return given;
}

// A file format, by the end of a file's name, that users may ask for and that is not written.
struct OtherFormat {
  const char *extension, *name;
};
constexpr OtherFormat kOtherFormats[] = {
    {".onnx", "ONNX"},         {".ort", "ONNX Runtime"}, {".pte", "ExecuTorch"}, {".mlmodel", "Core ML"},
    {".mlpackage", "Core ML"}, {".dlc", "SNPE"},         {".pb", "TensorFlow"},  {".h5", "Keras"},
    {".keras", "Keras"},       {".engine", "TensorRT"},  {".param", "ncnn"},     {".mnn", "MNN"},
};

std::string lower_case_extension(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char letter) { return std::tolower(letter); });
  return extension;
}

}  // namespace

void read_output_format(ConvertArguments& arguments) {
  const std::string extension = lower_case_extension(arguments.output);
  for (const OtherFormat& format : kOtherFormats) {
    if (extension != format.extension) continue;
    throw ConvertError(
        ExitCode::kUsage,
        fmt::format("--output {}: that is a file for {}, which nnapi-convert doesn't write; needed: .pt or "
                    ".ptl, or .tflite for LiteRT",
                    arguments.output, format.name));
  }
  if (extension != ".tflite") return;
  if (!arguments.litert.empty()) {
    throw ConvertError(
        ExitCode::kUsage,
        fmt::format("--output {}: a .tflite file is LiteRT's, and --litert names one, too; leave one out",
                    arguments.output));
  }
  arguments.litert = std::exchange(arguments.output, "");
  arguments.has_output = false;
}

void read_parsed(const CLI::App& app, ConvertArguments& arguments) {
  if (!arguments.output.empty()) refuse_standard_output("--output", arguments.output);
  refuse_standard_output("--calibration", arguments.calibration.table);
  if (!arguments.options.emit_cpu.empty()) refuse_standard_output("--emit-cpu", arguments.options.emit_cpu);
  for (const std::string& text : arguments.inputs) arguments.options.inputs.push_back(parse_input_spec(text));
  arguments.options.layout = layout_choice(app, arguments);
  read_pixels(arguments);
  read_target(app, arguments);
  read_litert_alone(app, arguments);
  if (has_cpu_form(arguments.options.fallback) && arguments.options.runtime != Runtime::kShim) {
    throw ConvertError(ExitCode::kUsage, "--fallback: PyTorch's own loader has none; use --runtime shim");
  }
  if (arguments.options.embed_shim_source && arguments.options.runtime != Runtime::kShim) {
    throw ConvertError(ExitCode::kUsage, "--embed-shim-source: the output needs no shim; use --runtime shim");
  }
  arguments.verify = arguments.verify || !arguments.verify_inputs.empty();
  check_split_output(arguments);
  check_no_torchscript(arguments);
  check_needs_pytorch(arguments.options);
  // LiteRT's delegates, drivers with rules, and data of a calibration need fixed sizes.
  arguments.options.takes_any_rows = arguments.litert.empty() && arguments.package.empty() &&
                                     !arguments.calibration.is_asked_for() && !arguments.options.device &&
                                     !arguments.options.bundle_inputs;
  read_self_check(arguments);
  read_package(app, arguments);
  read_only_layout(arguments);
  check_control_flow(arguments.options);
  check_calibration(app, arguments);
  read_pictures(arguments);
  check_methods(arguments);
  check_litert(app, arguments);
  check_code(arguments);
  arguments.given = given_options(app, arguments, false);
  arguments.told = given_options(app, arguments, true);
}

}  // namespace nnapi_convert
