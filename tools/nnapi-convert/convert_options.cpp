#include "tools/nnapi-convert/convert_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <sstream>

#include "lib/base/error.h"
#include "lib/converter/options/control_flow_options.h"
#include "lib/nnapi/api_level.h"
#include "lib/nnapi/passes/optimise.h"
#include "lib/nnapi/shipped_profiles.h"
#include "tools/nnapi-convert/command_line.h"
#include "tools/nnapi-convert/input_spec.h"
#include "tools/nnapi-convert/package_option.h"

namespace nnapi_convert {
namespace {

// The groups of --help-all; options in no group are common options.
constexpr const char* kResult = "Result";
constexpr const char* kPartition = "What stays on the CPU";
constexpr const char* kQuantise = "Quantising by data";
constexpr const char* kFaults = "To find faults";

std::vector<std::string> stages_and_passes() {
  std::vector<std::string> names = conversion_stages();
  for (const std::string& pass : nnapi::pass_names()) names.push_back(pass);
  names.emplace_back("choose_layout");
  return names;
}

std::string profile_names() {
  std::string names;
  for (const FolderFile& profile : shipped_profiles()) names += (names.empty() ? "" : ", ") + profile.name;
  return names;
}

bool is_shipped_profile(const std::string& name) {
  const std::vector<FolderFile>& profiles = shipped_profiles();
  return std::any_of(profiles.begin(), profiles.end(), [&](const FolderFile& profile) { return profile.name == name; });
}

// Used instead of CLI11's own check, whose message prints the largest double.
const CLI::Validator kNotNegative(
    [](const std::string& text) {
      return text.rfind('-', 0) == 0 ? fmt::format("{} found, 0 or more needed", text) : std::string();
    },
    "");

void add_segment_options(CLI::App& app, SegmentLimits& limits) {
  app.add_option("--min-segment-macs", limits.min_macs,
                 "of a partitioned model, what a segment has to save to go to NNAPI: multiply-adds, less one for each\n"
                 "element that is handed over or back; 0: any segment goes; not given: 100000, but one goes")
      ->check(kNotNegative)
      ->type_name("N")
      ->group(kPartition);
  app.add_option("--max-segments", limits.max_segments, "keep the most valuable segments only; 0: no limit")
      ->check(kNotNegative)
      ->type_name("N")
      ->capture_default_str()
      ->group(kPartition);
  app.add_option("--rows-per-call", limits.rows_per_call,
                 "of rows whose number depends on values (proposals, detections), how many a segment takes at a time;\n"
                 "0: all that are expected, within 2^31 multiply-adds")
      ->check(CLI::Range(int64_t{0}, SegmentLimits::kMostRowsPerCall))
      ->type_name("N")
      ->capture_default_str()
      ->group(kPartition);
}

void add_target_options(CLI::App& app, ConvertArguments& arguments) {
  auto* level = app.add_option(
      "--feature-level", arguments.options.feature_level,
      "highest NNAPI feature level to use, in place of --min-api: API level 27 has 1, 31 and later 5; 1000006\n"
      "to 1000008, which NNAPI answers where it was updated, are 6 to 8; 3 is Android 10, the least that\n"
      "PyTorch's loader runs on");
  level->check(CLI::Range(1, 8))->type_name("N")->capture_default_str()->group("Target");
  app.add_option("--min-api", arguments.min_api,
                 "lowest Android API level to run on: 27 or later, or 1000006 to 1000008")
      ->type_name("N")
      ->excludes(level);
  app.add_option("--device-profile", arguments.device_profile,
                 "keep to a device: " + profile_names() + " or a file by nnapi-probe")
      ->type_name("FILE");
}

// "1%" is 0.01; what is no number is left for CLI11 to refuse.
std::string as_share(std::string& text) {
  if (text.size() < 2 || text.back() != '%') return "";
  char* end = nullptr;
  const double percent = std::strtod(text.c_str(), &end);
  if (end == text.c_str() + text.size() - 1) text = fmt::format("{}", percent / 100);
  return "";
}

void add_calibration_options(CLI::App& app, CalibrationOptions& calibration) {
  app.add_option("--calibrate", calibration.source,
                 "quantise a float model by pictures, .pt, .npy, .npz, bundled or random:N")
      ->type_name("DATA");
  app.add_option(
         "--calibration", calibration.table,
         "with --calibrate: write the scales to this JSON file; without: read them from it, so that no data are\n"
         "needed")
      ->type_name("TABLE")
      ->group(kQuantise);
  app.add_option("--resize", calibration.pictures.resize, "of pictures: the shorter side becomes N pixels")
      ->check(CLI::Range(1, 100'000))
      ->type_name("N")
      ->group(kQuantise);
  app.add_option("--crop", calibration.pictures.crop, "of pictures: the middle square of N pixels is used")
      ->check(CLI::Range(1, 100'000))
      ->type_name("N")
      ->group(kQuantise);
  app.add_option("--mean", calibration.pictures.mean,
                 "of pictures: subtracted from each channel, whose pixels are 0 to 1")
      ->delimiter(',')
      ->type_name("M,M,M")
      ->group(kQuantise);
  app.add_option("--std", calibration.pictures.std, "of pictures: each channel is divided by it then")
      ->delimiter(',')
      ->check(CLI::PositiveNumber.description(""))
      ->type_name("S,S,S")
      ->group(kQuantise);
  app.add_option("--pixel-max", calibration.pictures.pixel_max,
                 "of pictures: the brightest pixel before mean and std; 255 keeps pixels as they are")
      ->check(CLI::PositiveNumber.description(""))
      ->type_name("N")
      ->capture_default_str()
      ->group(kQuantise);
  app.add_flag("--bgr", calibration.pictures.is_bgr, "of pictures: blue comes first")->group(kQuantise);
  app.add_option("--max-drop", calibration.max_drop,
                 "leave operations float, those that cost most first, until the share of results with another top-1\n"
                 "than float is at most this, on samples held back: 0.01 or 1%")
      ->transform(CLI::Validator(as_share, ""))
      ->check(CLI::Range(0.0, 1.0).description(""))
      ->type_name("SHARE")
      ->group(kQuantise);
  app.add_option("--min-snr", calibration.min_snr, "the same until the SNR is at least this, in dB")
      ->type_name("DB")
      ->group(kQuantise);
  app.add_option_function<std::string>(
         "--effort", [&calibration](const std::string& effort) { calibration.tries_all = effort == "best"; },
         "how many ranges of tensors are tried: fast limits the time, best tries all")
      ->check(CLI::IsMember(std::vector<std::string>{"fast", "best"}))
      ->type_name("NAME")
      ->group(kQuantise);
  app.add_option("--without", calibration.without, "leave a technique out; may be repeated")
      ->check(CLI::IsMember(std::vector<std::string>{techniques::kEqualise, techniques::kCorrectBias,
                                                     techniques::kSearchRanges, techniques::kRefineRanges}))
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->group(kQuantise);
  app.add_option("--keep-float", calibration.keep_float,
                 "leave operations float: an NNAPI operation, a value's name or a source line; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->group(kQuantise);
}

}  // namespace

void add_model_argument(CLI::App& app, ConvertArguments& arguments) {
  app.add_option("MODEL", arguments.model, "TorchScript file, from torch.jit.trace or torch.jit.script")
      ->required()
      ->type_name(" ");
}

void add_model_options(CLI::App& app, ConvertArguments& arguments) {
  app.add_option("--input", arguments.inputs,
                 "shapes of the arguments of forward, one --input for each, in order:\n"
                 "[NAME=]DIMS[:DTYPE[:SCALE:ZERO_POINT]]; ? is flexible, scalar is rank 0; NAME=VALUE binds a\n"
                 "number, bool, string or Optional (None)")
      ->type_name("SPEC")
      ->allow_extra_args(false);
  app.add_option("--method", arguments.methods,
                 "convert this method instead of forward; repeatable; the others stay as they are (docs/methods.md);\n"
                 "--input METHOD.NAME=DIMS is for one of them")
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->group(kResult);
  // A flag with a value accepts the value only in the form "--nhwc=...".
  auto* nhwc =
      app.add_flag("--nhwc", arguments.nhwc, "hand 4-D inputs to NNAPI as NHWC (--nhwc=0,2: these); callers keep NCHW");
  app.add_flag("--nchw", arguments.nchw, "keep NCHW, without the warning")->excludes(nhwc)->group(kResult);
  const std::map<std::string, QuantMode> modes = {{"auto", QuantMode::kAuto},
                                                  {"none", QuantMode::kNone},
                                                  {"core", QuantMode::kCore},
                                                  {"full", QuantMode::kFull},
                                                  {"nnapi", QuantMode::kNnapi}};
  add_choice(app, "--quant", arguments.options.quant, modes,
             "interface of quantised models; core: float by CPU; full: quint8; nnapi: float by NNAPI; none: refuse");
  const std::map<std::string, PreferenceCode> preferences = {{"low-power", PreferenceCode::LOW_POWER},
                                                             {"fast-single-answer", PreferenceCode::FAST_SINGLE_ANSWER},
                                                             {"sustained-speed", PreferenceCode::SUSTAINED_SPEED}};
  add_choice(app, "--preference", arguments.options.preference, preferences, "what drivers compile for")
      ->group(kResult);
  app.add_flag("--relax-fp16", arguments.options.relax_fp16, "let drivers compute float32 in float16")->group(kResult);
  app.add_flag("--fp16-weights", arguments.options.fp16_weights,
               "store float weights as float16, in half the size; NNAPI gets them as float32")
      ->group(kResult);
  app.add_flag("--bundle-inputs", arguments.options.bundle_inputs,
               "bundle sample inputs, for speed_benchmark_torch --use_bundled_input=0")
      ->group(kResult);
  const std::map<std::string, Runtime> runtimes = {{"pytorch", Runtime::kPytorch}, {"shim", Runtime::kShim}};
  add_choice(app, "--runtime", arguments.options.runtime, runtimes, "what runs the result: PyTorch, or the shim");
  const std::map<std::string, Fallback> fallbacks = {{"none", Fallback::kNone},
                                                     {"partition", Fallback::kPartition},
                                                     {"cpu", Fallback::kCpu},
                                                     {"cpu-plain", Fallback::kCpuPlain}};
  arguments.options.fallback = Fallback::kPartition;
  add_choice(
      app, "--fallback", arguments.options.fallback, fallbacks,
      "what becomes of operations that NNAPI can't run: partition leaves them to TorchScript, in the same file;\n"
      "none refuses the model; cpu, cpu-plain (with the shim) refuse it, too, and add the whole model for\n"
      "devices without NNAPI, optimised for mobile or as it is")
      ->group(kPartition);
  add_segment_options(app, arguments.options.segments);
  const std::map<std::string, ControlFlow> control_flows = {{"refuse", ControlFlow::kRefuse},
                                                            {"nnapi", ControlFlow::kNnapi}};
  add_choice(app, "--control-flow", arguments.options.control_flow, control_flows,
             "branches and loops that depend on the input: nnapi makes IF and WHILE of them, with the shim and from\n"
             "feature level 4 on; drivers leave them to the CPU")
      ->group(kPartition);
  app.add_option(
         "--self-check", arguments.check_samples,
         "with the shim, how many samples the file holds, by which it checks a device before it uses it: 1 to 4;\n"
         "not given: 2")
      ->check(CLI::Range(1, 4))
      ->type_name("N")
      ->group(kResult);
  app.add_flag("--no-self-check", arguments.no_self_check, "with the shim, store no samples")
      ->excludes("--self-check")
      ->group(kResult);
  app.add_flag("--strip", arguments.options.strip_names,
               "leave out names and source lines that the shim's messages show")
      ->group(kResult);
  app.add_flag("--embed-shim-source", arguments.options.embed_shim_source,
               "with the shim, store its sources in the output; nnapi-convert shim --from gets them out")
      ->group(kResult);
  add_target_options(app, arguments);
  add_library_option(app, arguments.torch_libraries);
  app.add_option("--disable-pass", arguments.options.disabled_passes,
                 "leave out a pass of the stage optimise, to find faults")
      ->check(CLI::IsMember(nnapi::pass_names()))
      ->type_name("NAME")
      ->group(kFaults);
}

void add_convert_options(CLI::App& app, ConvertArguments& arguments) {
  add_model_argument(app, arguments);
  app.add_option("-o,--output", arguments.output, "file to write; .ptl is for the lite interpreter")
      ->required()
      ->type_name("OUT");
  add_model_options(app, arguments);
  add_calibration_options(app, arguments.calibration);
  app.add_option("--package", arguments.package_text,
                 "with the shim: several models of the network in one file, of which each phone takes the first that\n"
                 "suits it, such as \"level=3,quant=nnapi; level=3; level=1\"; also shape=1,3,320,320, per-channel,\n"
                 "relax-fp16")
      ->type_name("LIST")
      ->group(kResult);
  app.add_option("--emit-cpu", arguments.options.emit_cpu, "also write the CPU counterpart, optimised for mobile")
      ->type_name("FILE")
      ->group(kResult);
  app.add_flag("--verify", arguments.verify, "run original and result on this machine and compare");
  app.add_option("--report", arguments.reports, "write a report, JSON or a page (.html); - is stdout; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app.add_option("--dump-after", arguments.dump_after,
                 "print the model after a stage, or each time after a pass (see --disable-pass)")
      ->check(CLI::IsMember(stages_and_passes()).description(""))
      ->type_name("STAGE")
      ->group(kFaults);
}

namespace {

LayoutChoice layout_choice(const CLI::App& app, const ConvertArguments& arguments) {
  LayoutChoice layout;
  layout.nhwc = app.count("--nhwc") != 0;
  layout.is_explicit = layout.nhwc || arguments.nchw;
  if (arguments.nhwc == "true") return layout;      // without numbers
  std::stringstream numbers(arguments.nhwc + ",");  // so that an empty last number is seen
  for (std::string number; layout.nhwc && std::getline(numbers, number, ',');) {
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

// The other options of the group mean nothing without data.
void check_calibration(const CLI::App& app, const CalibrationOptions& calibration) {
  if (!calibration.source.empty()) return;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group() != kQuantise || option->count() == 0 || option->check_lname("calibration")) continue;
    throw ConvertError(ExitCode::kUsage,
                       fmt::format("{}: --calibrate is missing, which gives the data", option->get_name(false, true)));
  }
}

void read_package(const CLI::App& app, ConvertArguments& arguments) {
  if (arguments.package_text.empty()) return;
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
  if (options.fallback != Fallback::kPartition) return;
  if (app.count("--fallback") > 0) {
    throw ConvertError(ExitCode::kUsage,
                       "--fallback partition: packages hold whole models; use none, cpu or cpu-plain");
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

}  // namespace

// Methods are converted together by their plans alone: what works on forward alone is refused.
void check_methods(const ConvertArguments& arguments) {
  const std::vector<std::string>& methods = arguments.methods;
  if (methods.empty()) return;
  for (size_t i = 0; i < methods.size(); ++i) {
    if (std::count(methods.begin(), methods.end(), methods[i]) > 1) {
      throw ConvertError(ExitCode::kUsage, fmt::format("--method {}: given twice", methods[i]));
    }
  }
  const Fallback fallback = arguments.options.fallback;
  std::string refused;
  if (arguments.calibration.is_asked_for()) refused = "--calibrate";
  if (!arguments.calibration.table.empty()) refused = "--calibration";
  if (!arguments.options.emit_cpu.empty()) refused = "--emit-cpu";
  if (arguments.options.bundle_inputs) refused = "--bundle-inputs";
  if (!arguments.package_text.empty()) refused = "--package";
  if (fallback == Fallback::kCpu || fallback == Fallback::kCpuPlain) refused = "--fallback cpu";
  const auto is_html = [](const std::string& path) { return std::filesystem::path(path).extension() == ".html"; };
  if (std::any_of(arguments.reports.begin(), arguments.reports.end(), is_html)) refused = "--report with a page";
  if (refused.empty()) return;
  throw ConvertError(ExitCode::kUsage,
                     fmt::format("{}: it is for forward alone and can't be used with --method", refused));
}

void read_parsed(const CLI::App& app, ConvertArguments& arguments) {
  if (!arguments.output.empty()) refuse_standard_output("--output", arguments.output);
  refuse_standard_output("--calibration", arguments.calibration.table);
  if (!arguments.options.emit_cpu.empty()) refuse_standard_output("--emit-cpu", arguments.options.emit_cpu);
  for (const std::string& text : arguments.inputs) arguments.options.inputs.push_back(parse_input_spec(text));
  arguments.options.layout = layout_choice(app, arguments);
  read_target(app, arguments);
  const Fallback fallback = arguments.options.fallback;
  const bool needs_shim = fallback == Fallback::kCpu || fallback == Fallback::kCpuPlain;
  if (needs_shim && arguments.options.runtime != Runtime::kShim) {
    throw ConvertError(ExitCode::kUsage, "--fallback: PyTorch's own loader has none; use --runtime shim");
  }
  if (arguments.options.embed_shim_source && arguments.options.runtime != Runtime::kShim) {
    throw ConvertError(ExitCode::kUsage, "--embed-shim-source: the output needs no shim; use --runtime shim");
  }
  read_self_check(arguments);
  read_package(app, arguments);
  check_control_flow(arguments.options);
  check_calibration(app, arguments.calibration);
  check_methods(arguments);
}

FilesInUse files_of(const ConvertArguments& arguments) {
  FilesInUse files = {{{"MODEL", arguments.model}}, {{"--output", arguments.output}}};
  if (std::filesystem::is_regular_file(arguments.calibration.source)) {
    files.read.push_back({"--calibrate", arguments.calibration.source});
  }
  const CalibrationOptions& calibration = arguments.calibration;
  (calibration.reads_table() ? files.read : files.written).push_back({"--calibration", calibration.table});
  if (!is_shipped_profile(arguments.device_profile)) {
    files.read.push_back({"--device-profile", arguments.device_profile});
  }
  for (const std::string& path : arguments.torch_libraries) files.read.push_back({"--torch-library", path});
  files.written.push_back({"--emit-cpu", arguments.options.emit_cpu});
  for (const std::string& path : arguments.reports) files.written.push_back({"--report", path});
  return files;
}

std::vector<ConvertOption> convert_options() {
  ConvertArguments unused;
  CLI::App app;
  add_convert_options(app, unused);
  std::vector<ConvertOption> options;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_lnames().empty()) continue;
    ConvertOption entry;
    entry.rule.name = option->get_lnames()[0];
    if (entry.rule.name == "help" || entry.rule.name == "output" || entry.rule.name == "report" ||
        entry.rule.name == "dump-after") {
      continue;
    }
    const bool is_emit_cpu = entry.rule.name == "emit-cpu";
    entry.rule.is_flag = option->get_expected_min() == 0 || is_emit_cpu;
    entry.rule.repeats = option->get_expected_max() > 1;
    entry.type_name = entry.rule.is_flag ? "" : option->get_type_name();
    entry.rule.is_path = entry.type_name == "FILE";
    if (entry.rule.name == "device-profile") {
      for (const FolderFile& profile : shipped_profiles()) entry.rule.known_values.insert(profile.name);
    }
    entry.description = is_emit_cpu ? "also write the CPU counterpart, to NAME.cpu.pt" : option->get_description();
    options.push_back(std::move(entry));
  }
  return options;
}

void check_convert_options(const Arguments& options) {
  ConvertArguments arguments;
  CLI::App app;
  add_convert_options(app, arguments);
  Arguments reversed = {"OUT", "--output", "MODEL"};  // as CLI11 takes a vector
  for (const std::string& option : options) {
    // Adds a file name, which the option does not have here.
    reversed.push_back(option == "--emit-cpu" ? "--emit-cpu=FILE" : option);
  }
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    throw ConvertError(ExitCode::kUsage, error.what());
  }
  read_parsed(app, arguments);
}

}  // namespace nnapi_convert
