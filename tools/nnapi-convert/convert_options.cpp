// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-convert/convert_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include "lib/base/error.h"
#include "lib/nnapi/passes/optimise.h"
#include "lib/nnapi/shipped_profiles.h"
#include "lib/types/infer_passes.h"
#include "tools/nnapi-convert/command_line.h"
#include "tools/nnapi-convert/parsed_options.h"

namespace nnapi_convert {
namespace {

// The groups of --help-all; options in no group are common options.
constexpr const char* kResult = "Result";
constexpr const char* kPartition = "What stays on the CPU";
constexpr const char* kFaults = "To find faults";

// Options that name a further file for one model, and are flags for many models; with the flags' descriptions.
const std::map<std::string, std::string> kFurtherFiles = {
    {"emit-cpu", "also write the CPU counterpart, to NAME.cpu.pt"},
    {"litert", "also write the model for LiteRT, to NAME.tflite"},
};

// Returns the passes of the stages infer and optimise, in their order.
std::vector<std::string> passes() {
  std::vector<std::string> names(std::begin(kInferPasses), std::end(kInferPasses));
  for (const std::string& pass : nnapi::pass_names()) names.push_back(pass);
  return names;
}

std::vector<std::string> stages_and_passes() {
  std::vector<std::string> names = conversion_stages();
  for (const std::string& pass : passes()) names.push_back(pass);
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

void add_segment_options(CLI::App& app, SegmentLimits& limits) {
  app.add_option("--min-segment-macs", limits.min_macs,
                 "of a partitioned model, what a segment has to save to go to NNAPI: multiply-adds, less one for each\n"
                 "element that is handed over or back; 0: any segment goes; not given: 100000, but one goes")
      ->check(not_negative())
      ->type_name("N")
      ->group(kPartition);
  app.add_option("--max-segments", limits.max_segments, "keep the most valuable segments only; 0: no limit")
      ->check(not_negative())
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

// Turns "1%" into 0.01. CLI11 refuses texts that are no number.
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
      ->check(not_empty())
      ->type_name("DATA");
  app.add_option(
         "--calibration", calibration.table,
         "with --calibrate: write the scales to this JSON file; without: read them from it, so that no data are\n"
         "needed")
      ->check(not_empty())
      ->type_name("TABLE")
      ->group(kQuantiseGroup);
  app.add_option(
         "--sample-labels", calibration.sample_labels,
         "the class of each sample, to print accuracy: lines of a picture's path and its class, or a class for\n"
         "each sample in order; a number from 0 on, or a name of --labels")
      ->check(not_empty())
      ->type_name("FILE")
      ->group(kQuantiseGroup);
  auto* boxes = app.add_option("--sample-boxes", calibration.sample_boxes,
                               "the boxes in each picture, in COCO's JSON, to print a detector's mAP at an IoU of 0.5");
  boxes->check(not_empty())->type_name("FILE")->group(kQuantiseGroup);
  app.add_option("--metric", calibration.metric_command,
                 "a program that judges results: run with the path of a folder with NAME/sample_K.npy, it prints a\n"
                 "number, larger is better")
      ->check(not_empty())
      ->type_name("COMMAND")
      ->excludes(boxes)
      ->group(kQuantiseGroup);
  app.add_option("--max-drop", calibration.max_drop,
                 "leave operations float, those that cost most first, until at most this share of accuracy is lost on\n"
                 "samples held back: 0.01 or 1%; with --sample-boxes of mAP, with --metric of float's number; without\n"
                 "these and classes of samples, this share of results has another top-1 than float")
      ->transform(CLI::Validator(as_share, ""))
      ->check(finite_number())
      ->check(CLI::Range(0.0, 1.0).description(""))
      ->type_name("SHARE")
      ->group(kQuantiseGroup);
  app.add_option("--min-snr", calibration.min_snr, "the same until the SNR is at least this, in dB")
      ->check(finite_number())
      ->type_name("DB")
      ->group(kQuantiseGroup);
  app.add_option_function<std::string>(
         "--effort", [&calibration](const std::string& effort) { calibration.tries_all = effort == "best"; },
         "how many ranges of tensors are tried: fast limits the time, best tries all")
      ->check(CLI::IsMember(std::vector<std::string>{"fast", "best"}))
      ->type_name("NAME")
      ->group(kQuantiseGroup);
  app.add_option("--without", calibration.without, "leave a technique out; may be repeated")
      ->check(CLI::IsMember(std::vector<std::string>{techniques::kEqualise, techniques::kCorrectBias,
                                                     techniques::kSearchRanges, techniques::kRefineRanges,
                                                     techniques::kPoolLayers}))
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->group(kQuantiseGroup);
  app.add_option("--keep-float", calibration.keep_float,
                 "leave operations float: an NNAPI operation, a value's name or a source line; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->group(kQuantiseGroup);
}

// Adds the options for turning pictures into the model's input: pictures that --calibrate reads, those of
// --input-pixels, and those of an app that asks the file.
void add_picture_options(CLI::App& app, std::string& pixels, PictureChoice& pictures) {
  app.add_option("--input-pixels", pixels,
                 "the result takes pictures as bytes and normalises them by --mean and --std itself: uint8 (rows of\n"
                 "red, green, blue) or rgba, which has a fourth byte; NAME=uint8 is for an argument of forward;\n"
                 "--input gives the sizes that MODEL takes")
      ->type_name("FORMAT")
      ->group(kPicturesGroup);
  app.add_option("--resize", pictures.resize, "of pictures: the shorter side becomes N pixels")
      ->check(CLI::Range(1, 100'000))
      ->type_name("N")
      ->group(kPicturesGroup);
  app.add_option("--crop", pictures.crop, "of pictures: the middle square of N pixels is used")
      ->check(CLI::Range(1, 100'000))
      ->type_name("N")
      ->group(kPicturesGroup);
  app.add_option("--mean", pictures.mean, "of pictures: subtracted from each channel, whose pixels are 0 to 1")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(finite_number())
      ->type_name("M,M,M")
      ->group(kPicturesGroup);
  app.add_option("--std", pictures.std, "of pictures: each channel is divided by it then")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(more_than_zero())
      ->type_name("S,S,S")
      ->group(kPicturesGroup);
  app.add_option("--pixel-max", pictures.pixel_max,
                 "of pictures: the brightest pixel before mean and std; 255 keeps pixels as they are")
      ->check(more_than_zero())
      ->type_name("N")
      ->capture_default_str()
      ->group(kPicturesGroup);
  app.add_flag("--bgr", pictures.is_bgr, "of pictures: MODEL takes blue first")->group(kPicturesGroup);
}

}  // namespace

namespace {

// Adds the options for notes that the file tells apps and people about the model.
void add_note_options(CLI::App& app, ConvertArguments& arguments) {
  app.add_option("--labels", arguments.labels,
                 "names of the classes, for apps (model.top(5)): a text file with a line for each, or a JSON list")
      ->check(not_empty())
      ->type_name("FILE")
      ->group(kResult);
  app.add_option("--note", arguments.notes,
                 "a note for apps and people, such as author=..., licence=..., version=..., description=...; may be\n"
                 "repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)
      ->group(kResult);
}

}  // namespace

void add_model_argument(CLI::App& app, ConvertArguments& arguments) {
  app.add_option("MODEL", arguments.model, "TorchScript file, or exported program (.pt2, torch.export)")
      ->required()
      ->type_name(" ");
}

void add_model_options(CLI::App& app, ConvertArguments& arguments) {
  app.add_option("--input", arguments.inputs,
                 "shapes of the arguments of forward, one --input for each, in order:\n"
                 "[NAME=]DIMS[:DTYPE[:SCALE:ZERO_POINT]]; ?, 8..64: open; scalar: rank 0;\n"
                 "NAME=VALUE binds a number, bool, string, Optional (None) or tensor ([36])")
      ->type_name("SPEC")
      ->allow_extra_args(false);
  app.add_option("--method", arguments.methods,
                 "convert this method instead of forward; repeatable; the others stay as they are (docs/methods.md);\n"
                 "--input METHOD.NAME=DIMS is for one of them")
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->group(kResult);
  add_picture_options(app, arguments.pixels_text, arguments.calibration.pictures);
  // A flag with a value accepts the value only in the form "--nhwc=...".
  auto* nhwc =
      app.add_flag("--nhwc", arguments.nhwc, "NHWC for convolutions, 1-D too (--nhwc=0,2: these); callers keep NCHW");
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
  app.add_flag("--int8-weights", arguments.options.int8_weights,
               "store float weights as int8 with a scale for each channel where that is exact enough, in a quarter of\n"
               "the size; NNAPI gets them as float32")
      ->group(kResult);
  const std::map<std::string, bool> gelus = {{"exact", false}, {"tanh", true}};
  add_choice(app, "--gelu", arguments.options.tanh_gelu, gelus,
             "tanh: NNAPI computes gelu() as approximate=\"tanh\" does, at most 0.00048 off, in fewer operations")
      ->group(kResult);
  app.add_flag("--split-output", arguments.options.split_outputs,
               "return results that join parts of unlike ranges, such as boxes and scores, as one result for each part")
      ->group(kResult);
  app.add_flag("--bundle-inputs", arguments.options.bundle_inputs,
               "bundle sample inputs, for speed_benchmark_torch --use_bundled_input=0")
      ->group(kResult);
  const std::map<std::string, Runtime> runtimes = {{"pytorch", Runtime::kPytorch}, {"shim", Runtime::kShim}};
  add_choice(app, "--runtime", arguments.options.runtime, runtimes, "what runs the result: PyTorch, or the shim");
  const std::map<std::string, Fallback> fallbacks = {{"none", Fallback::kNone},
                                                     {"partition", Fallback::kPartition},
                                                     {"partition-cpu", Fallback::kPartitionCpu},
                                                     {"cpu", Fallback::kCpu},
                                                     {"cpu-plain", Fallback::kCpuPlain}};
  arguments.options.fallback = Fallback::kPartition;
  add_choice(
      app, "--fallback", arguments.options.fallback, fallbacks,
      "what becomes of operations that NNAPI can't run: partition leaves them to TorchScript, in the same file;\n"
      "none refuses the model; cpu, cpu-plain (with the shim) refuse it, too, and add the whole model for\n"
      "devices without NNAPI, optimised for mobile or as it is; partition-cpu (with the shim) is partition, and\n"
      "without PyTorch the shim computes small segments on the CPU where NNAPI fails")
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
               "leave out names and source lines that messages show on the phone")
      ->group(kResult);
  app.add_flag("--no-torchscript", arguments.options.no_torchscript,
               "with the shim, store what an app without PyTorch needs, and no TorchScript module")
      ->group(kResult);
  app.add_flag("--needs-pytorch", arguments.options.may_need_pytorch,
               "with the shim, write a file with steps that its programs lack, too: for apps that have PyTorch")
      ->group(kResult);
  app.add_flag("--embed-shim-source", arguments.options.embed_shim_source,
               "with the shim, store its sources in the output; nnapi-convert shim --from gets them out")
      ->group(kResult);
  add_target_options(app, arguments);
  add_library_option(app, arguments.torch_libraries);
  app.add_option("--disable-pass", arguments.options.disabled_passes,
                 "leave out a pass of the stages infer and optimise, to find faults")
      ->check(CLI::IsMember(passes()))
      ->type_name("NAME")
      ->group(kFaults);
}

void add_litert_options(CLI::App& app, ConvertArguments& arguments) {
  app.add_flag("--litert-uint8", arguments.litert_uint8,
               "with --litert: keep uint8 tensors; not given: they become int8, which NPUs and newer kernels take")
      ->group(kResult);
}

void add_package_option(CLI::App& app, ConvertArguments& arguments) {
  app.add_option("--package", arguments.package_text,
                 "with the shim: several models of the network in one file, of which each phone takes the first that\n"
                 "suits it, such as \"level=3,quant=full; level=3; level=1\"; also shape=1,3,320,320, per-channel,\n"
                 "relax-fp16")
      ->type_name("LIST")
      ->group(kResult);
}

void add_convert_options(CLI::App& app, ConvertArguments& arguments) {
  add_model_argument(app, arguments);
  app.add_option("-o,--output", arguments.output,
                 "file to write; .ptl is for the lite interpreter, .tflite means --litert")
      ->type_name("OUT");
  app.add_option("--litert", arguments.litert, "write the model for LiteRT (.tflite), too, or alone: then as NHWC")
      ->check(not_empty())
      ->type_name("FILE")
      ->group(kResult);
  add_litert_options(app, arguments);
  add_note_options(app, arguments);
  add_model_options(app, arguments);
  add_calibration_options(app, arguments.calibration);
  add_package_option(app, arguments);
  app.add_option("--emit-cpu", arguments.options.emit_cpu, "also write the CPU counterpart, optimised for mobile")
      ->type_name("FILE")
      ->group(kResult);
  app.add_option("--emit-python", arguments.python_code,
                 "also write a script that compares OUT with MODEL, by the Python module nnapi_convert")
      ->check(not_empty())
      ->type_name("FILE")
      ->group(kResult);
  app.add_option("--emit-kotlin", arguments.kotlin_code, "also write a class that runs OUT in an app")
      ->check(not_empty())
      ->type_name("FILE")
      ->group(kResult);
  app.add_flag("--verify", arguments.verify, "run original and result on this machine and compare");
  app.add_option("--verify-inputs", arguments.verify_inputs,
                 "verify on these inputs in place of made-up ones: what verify --inputs takes")
      ->type_name("FILE")
      ->group(kResult);
  app.add_option("--report", arguments.reports, "write a report, JSON or a page (.html); - is stdout; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app.add_option("--dump-after", arguments.dump_after,
                 "print the model after a stage, or each time after a pass (see --disable-pass)")
      ->check(CLI::IsMember(stages_and_passes()).description(""))
      ->type_name("STAGE")
      ->group(kFaults);
}

FilesInUse files_of(const ConvertArguments& arguments) {
  FilesInUse files = {{{"MODEL", arguments.model}}, {}};
  if (arguments.has_output) files.written.push_back({"--output", arguments.output});
  if (is_file_of_samples(arguments.calibration.source)) {
    files.read.push_back({"--calibrate", arguments.calibration.source, AlsoFits::kFolder});
  }
  if (is_file_of_samples(arguments.verify_inputs)) {
    files.read.push_back({"--verify-inputs", arguments.verify_inputs, AlsoFits::kFolder});
  }
  const CalibrationOptions& calibration = arguments.calibration;
  if (calibration.reads_table()) {
    files.read.push_back({"--calibration", calibration.table});
  } else {
    files.written.push_back({"--calibration", calibration.table, AlsoFits::kPipe});
  }
  if (!is_shipped_profile(arguments.device_profile)) {
    files.read.push_back({"--device-profile", arguments.device_profile});
  }
  files.read.push_back({"--labels", arguments.labels});
  files.read.push_back({"--sample-labels", calibration.sample_labels});
  files.read.push_back({"--sample-boxes", calibration.sample_boxes});
  add_libraries(files, arguments.torch_libraries);
  files.written.push_back({"--litert", arguments.litert});
  files.written.push_back({"--emit-cpu", arguments.options.emit_cpu});
  files.written.push_back({"--emit-python", arguments.python_code});
  files.written.push_back({"--emit-kotlin", arguments.kotlin_code});
  for (const std::string& path : arguments.reports) files.written.push_back({"--report", path, AlsoFits::kPipe});
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
    static const std::set<std::string> of_one_model = {"help",       "output",      "report",
                                                       "dump-after", "emit-python", "emit-kotlin"};
    if (of_one_model.count(entry.rule.name) != 0) continue;
    const auto file = kFurtherFiles.find(entry.rule.name);
    entry.rule.is_flag = option->get_expected_min() == 0 || file != kFurtherFiles.end();
    entry.rule.repeats = option->get_expected_max() > 1;
    entry.type_name = entry.rule.is_flag ? "" : option->get_type_name();
    entry.rule.is_path = entry.type_name == "FILE" || entry.type_name == "DATA" || entry.type_name == "TABLE";
    if (entry.type_name == "DATA") entry.rule.known_values = {"bundled", "random"};
    if (entry.rule.name == "device-profile") {
      for (const FolderFile& profile : shipped_profiles()) entry.rule.known_values.insert(profile.name);
    }
    entry.description = file != kFurtherFiles.end() ? file->second : option->get_description();
    options.push_back(std::move(entry));
  }
  return options;
}

void check_convert_options(const Arguments& options) {
  ConvertArguments arguments;
  CLI::App app;
  add_convert_options(app, arguments);
  Arguments reversed = {"OUT", "--output", "MODEL"};  // CLI11 takes a vector in this order
  for (const std::string& option : options) {
    // Adds a file name, as the option is a flag without one here.
    const bool is_file = option.rfind("--", 0) == 0 && kFurtherFiles.count(option.substr(2)) != 0;
    reversed.push_back(is_file ? option + "=FILE" : option);
  }
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    throw ConvertError(ExitCode::kUsage, error.what());
  }
  read_parsed(app, arguments);
}

}  // namespace nnapi_convert
