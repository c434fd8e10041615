// SPDX-License-Identifier: BSD-3-Clause
// nnapi-probe: asks the NNAPI devices of a phone which operations they support.
#include <getopt.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "lib/shim/devices.h"
#include "lib/shim/nnapi_library.h"
#include "tools/nnapi-probe/bench.h"
#include "tools/nnapi-probe/doctor/doctor.h"
#include "tools/nnapi-probe/model_report.h"
#include "tools/nnapi-probe/probe_model.h"
#include "tools/nnapi-probe/profile_json.h"

namespace {

using namespace nnapi_probe;
using nnapi_shim::Device;
using nnapi_shim::NnapiLibrary;

constexpr const char* kUsage =
    R"(Asks the NNAPI devices of this machine what they take.

Examples:
  nnapi-probe --list                      the devices
  nnapi-probe --device NAME               its profile, as JSON, on stdout (schemas/device_profile.schema.json)
  nnapi-probe --folder profiles           the profiles of all devices, as profiles/NAME.json
  nnapi-probe --model out.pt              which operation of a model (--runtime shim) each device takes
  nnapi-probe --trial out.pt --cache DIR  runs the samples of a model, and keeps which device gave the right results
  nnapi-probe --doctor out.pt             which operation of a model is wrong on which device, and rules to convert by
  nnapi-probe --bench out.pt --input x=1,3,224,224
                                          how long a model takes, as an app without PyTorch runs it

Options:
  --device NAME            ask this device only
  --output FILE            write the profile here instead of stdout; needs --device
  --folder DIR             write the profiles of all devices into this folder, which has to exist
  --answers                print each question and its answer instead of a profile; needs --device
  --model OUT              a file that nnapi-convert wrote with --runtime shim
  --shape N,C,H,W          with --model, the shape of an argument, in PyTorch's order; once for each argument
  --library FILE           NNAPI's library instead of libneuralnetworks.so
  --support-library FILE   an NNAPI support library: drivers shipped with an app
  --trial OUT              a file with samples: find a device that gives the right results; needs --cache
  --cache DIR              the cache directory of the app that will run the file
  --device-kind N          with --trial, a nnapi_shim_device_kind, 0 to 4
  --preference N           with --trial, what drivers compile for: 1 + ANEURALNETWORKS_PREFER_*, 1 to 3
  --variant N              with --trial, the number of a package's model, from 1 on
  --driver-rules FILE      with --model and --trial, the drivers known to be wrong, instead of the library's own rules
                           (schemas/driver_rules.schema.json)
  --driver-rules-text JSON the same, not in a file
  --doctor OUT             a file with samples: examine the devices operation by operation
  --folder DIR             with --doctor, a folder for its results: doctor.json, NAME.profile.json for --device-profile of
                           nnapi-convert, driver_rules.json. A doctor that was ended goes on there
  --all                    with --doctor, examine the operations of devices that are right, too
  --json FILE              with --doctor, write the results here (schemas/doctor.schema.json)
  --profile                with --doctor, measure times only
  --prefixes               with --profile, also measure what each operation adds to those before it: one model for each,
                           so that a model of N operations is compiled N times
  --trace FILE             with --doctor, write the times in Chrome's trace format
  --limit SECONDS          with --doctor, of one trial; 30 if not given
  --runs N                 with --doctor, how often each operation runs for its time; 5 if not given
  --reference NAME         with --doctor, the device that computes the expected values, instead of nnapi-reference
  --reference-library FILE with --doctor, another NNAPI that computes them
  --bench OUT              a file to time
  --input NAME=SIZES       with --bench, an argument and its sizes in PyTorch's order, and its dtype where that is not
                           float32: x=1,3,224,224 or words=12:int64; once for each argument
  --runs N, --json FILE    with --bench, how often the model runs, 20 if not given, and where to write the times
  --list                   list the devices
  --help                   this text

Exit codes: 0 done, 1 NNAPI can't be asked, 2 wrong command line, 3 a file can't be read or written
)";

struct Arguments {
  std::string device, output, folder, model, library, trial, cache, rules, rules_file;
  int device_kind = 0, preference = 0, variant = 0;
  std::vector<std::vector<int64_t>> shapes;
  std::string doctor, json, trace, reference, reference_library;
  int limit_seconds = 30, runs = 0;
  std::string bench;
  std::vector<BenchInput> inputs;
  bool is_support_library = false, lists = false, prints_answers = false;
  bool examines_all = false, only_times = false, times_prefixes = false;
};

enum ExitCode { kDone = 0, kNotAsked = 1, kWrongUsage = 2, kBadFile = 3 };

int complain(int code, const std::string& sentence) {
  std::fprintf(stderr, "nnapi-probe: error: %s\n", sentence.c_str());
  return code;
}

bool parse_shape(const char* text, std::vector<int64_t>* shape) {
  while (true) {
    char* end = nullptr;
    errno = 0;
    const long long size = std::strtoll(text, &end, 10);
    if (end == text || errno != 0 || size < 1) return false;
    shape->push_back(size);
    if (*end == '\0') return true;
    if (*end != ',') return false;
    text = end + 1;
  }
}

bool are_same(const std::string& one, const std::string& other) {
  struct stat a {
  }, b{};
  if (one == other) return true;
  return ::stat(one.c_str(), &a) == 0 && ::stat(other.c_str(), &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int check_doctor(const Arguments& arguments) {
  for (const std::string* written : {&arguments.json, &arguments.trace}) {
    if (!written->empty() && are_same(*written, arguments.doctor)) {
      return complain(kWrongUsage, *written + " would replace the file that is examined; give another name");
    }
  }
  if (!arguments.json.empty() && are_same(arguments.json, arguments.trace)) {
    return complain(kWrongUsage, "--json and --trace name the same file, " + arguments.json);
  }
  if (arguments.times_prefixes && !arguments.only_times) {
    return complain(kWrongUsage, "--prefixes needs --profile");
  }
  if (arguments.limit_seconds < 1 || arguments.limit_seconds > 86400) {
    return complain(kWrongUsage, "--limit: 1 to 86400 seconds needed");
  }
  if (arguments.runs > 1000) return complain(kWrongUsage, "--runs: 1 to 1000 needed");
  return -1;
}

// Returns the exit code for the program, or -1 to go on.
int parse(int argc, char** argv, Arguments* arguments) {
  static const option kOptions[] = {{"device", 1, nullptr, 'd'},
                                    {"output", 1, nullptr, 'o'},
                                    {"folder", 1, nullptr, 'f'},
                                    {"answers", 0, nullptr, 'a'},
                                    {"model", 1, nullptr, 'm'},
                                    {"shape", 1, nullptr, 's'},
                                    {"library", 1, nullptr, 'l'},
                                    {"support-library", 1, nullptr, 'p'},
                                    {"trial", 1, nullptr, 't'},
                                    {"cache", 1, nullptr, 'c'},
                                    {"list", 0, nullptr, 'L'},
                                    {"help", 0, nullptr, 'h'},
                                    {"device-kind", 1, nullptr, 'k'},
                                    {"preference", 1, nullptr, 'P'},
                                    {"variant", 1, nullptr, 'V'},
                                    {"driver-rules", 1, nullptr, 'r'},
                                    {"driver-rules-text", 1, nullptr, 'R'},
                                    {"doctor", 1, nullptr, 'D'},
                                    {"all", 0, nullptr, 'A'},
                                    {"json", 1, nullptr, 'j'},
                                    {"profile", 0, nullptr, 'T'},
                                    {"prefixes", 0, nullptr, 'X'},
                                    {"trace", 1, nullptr, 'C'},
                                    {"limit", 1, nullptr, 'S'},
                                    {"runs", 1, nullptr, 'N'},
                                    {"reference", 1, nullptr, 'E'},
                                    {"bench", 1, nullptr, 'H'},
                                    {"input", 1, nullptr, 'I'},
                                    {"reference-library", 1, nullptr, 'B'},
                                    {nullptr, 0, nullptr, 0}};
  for (int code = 0; (code = getopt_long(argc, argv, "h", kOptions, nullptr)) != -1;) {
    if (code == 'd') arguments->device = optarg;
    if (code == 'o') arguments->output = optarg;
    if (code == 'f') arguments->folder = optarg;
    if (code == 'a') arguments->prints_answers = true;
    if (code == 'm') arguments->model = optarg;
    if (code == 'l' || code == 'p') arguments->library = optarg;
    if (code == 'p') arguments->is_support_library = true;
    if (code == 'L') arguments->lists = true;
    if (code == 't') arguments->trial = optarg;
    if (code == 'c') arguments->cache = optarg;
    if (code == 'r') arguments->rules_file = optarg;
    if (code == 'R') arguments->rules = optarg;
    if (code == 'k') arguments->device_kind = std::atoi(optarg);
    if (code == 'P') arguments->preference = std::atoi(optarg);
    if (code == 'V') arguments->variant = std::max(0, std::atoi(optarg));
    if (code == 'D') arguments->doctor = optarg;
    if (code == 'A') arguments->examines_all = true;
    if (code == 'j') arguments->json = optarg;
    if (code == 'T') arguments->only_times = true;
    if (code == 'X') arguments->times_prefixes = true;
    if (code == 'C') arguments->trace = optarg;
    if (code == 'S') arguments->limit_seconds = std::atoi(optarg);
    if (code == 'N') {
      arguments->runs = std::atoi(optarg);
      if (arguments->runs < 1 || arguments->runs > 100000) return complain(kWrongUsage, "--runs: 1 to 100000 needed");
    }
    if (code == 'H') arguments->bench = optarg;
    if (code == 'I') {
      arguments->inputs.emplace_back();
      if (!parse_bench_input(optarg, &arguments->inputs.back())) {
        return complain(kWrongUsage,
                        std::string("--input ") + optarg +
                            ": a name, sizes and perhaps a dtype needed, as x=1,3,224,224 or words=12:int64");
      }
    }
    if (code == 'E') arguments->reference = optarg;
    if (code == 'B') arguments->reference_library = optarg;
    if (code == '?') return complain(kWrongUsage, "see nnapi-probe --help");
    if (code == 'h') {
      std::fputs(kUsage, stdout);
      return kDone;
    }
    if (code != 's') continue;
    arguments->shapes.emplace_back();
    if (!parse_shape(optarg, &arguments->shapes.back())) {
      return complain(kWrongUsage,
                      std::string("--shape ") + optarg + ": sizes above 0 separated by commas needed, as 1,3,224,224");
    }
  }
  if (optind < argc) return complain(kWrongUsage, std::string(argv[optind]) + ": no argument needed; see --help");
  if (arguments->trial.empty() != arguments->cache.empty()) {
    return complain(kWrongUsage, "--trial and --cache need each other");
  }
  if (!arguments->trial.empty()) return -1;
  if (!arguments->doctor.empty()) return check_doctor(*arguments);
  if (!arguments->bench.empty()) return -1;
  const bool has_device = !arguments->device.empty();
  if (!has_device && (arguments->prints_answers || !arguments->output.empty())) {
    return complain(kWrongUsage, "--output and --answers are of one device; name it by --device, see --list");
  }
  if (arguments->prints_answers && !(arguments->folder.empty() && arguments->model.empty() && !arguments->lists)) {
    return complain(kWrongUsage, "--answers needs --device alone");
  }
  if (!has_device && !arguments->lists && arguments->folder.empty() && arguments->model.empty()) {
    return complain(kWrongUsage, "nothing to do; give --device, --folder, --model or --list, see --help");
  }
  return -1;
}

std::vector<AnsweredGrid> ask_all(const NnapiLibrary& nnapi, const Device& device) {
  std::vector<AnsweredGrid> grids;
  size_t unanswered = 0;
  std::string example;
  for (OperationGrid& grid : make_grid(static_cast<int32_t>(device.feature_level))) {
    AnsweredGrid answered{std::move(grid), {}};
    for (const Point& point : answered.grid.points) {
      std::string reason;
      answered.answers.push_back(ask(nnapi, device.handle, answered.grid, point, &reason));
      if (reason.empty()) continue;
      if (unanswered++ == 0) example = to_text(answered.grid, point) + ": " + reason;
    }
    grids.push_back(std::move(answered));
  }
  if (unanswered != 0) {
    std::fprintf(stderr, "nnapi-probe: warning: %s: %zu questions have no answer, the first: %s\n", device.name,
                 unanswered, example.c_str());
  }
  return grids;
}

void print_answers(const std::vector<AnsweredGrid>& grids) {
  static const char* const kAnswers[] = {"refused", "accepted", "not asked"};
  for (const AnsweredGrid& answered : grids) {
    for (size_t i = 0; i < answered.answers.size(); ++i) {
      std::printf("%s: %s\n", to_text(answered.grid, answered.grid.points[i]).c_str(),
                  kAnswers[static_cast<size_t>(answered.answers[i])]);
    }
  }
}

int write_text(const std::string& path, const std::string& text) {
  const std::string problem = nnapi_doctor::write_text(path, text);
  return problem.empty() ? kDone : complain(kBadFile, problem);
}

int print_text(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  return kDone;
}

// Returns a file name for a device; names of drivers may have slashes.
std::string file_name(const Device& device) {
  std::string name = device.name;
  for (char& character : name) {
    if (character == '/' || character == '\\') character = '_';
  }
  return name + ".json";
}

int write_profiles(const NnapiLibrary& nnapi, const std::vector<Device>& devices, const Arguments& arguments) {
  for (const Device& device : devices) {
    const std::vector<AnsweredGrid> grids = ask_all(nnapi, device);
    if (arguments.prints_answers) {
      print_answers(grids);
      continue;
    }
    const std::string text = profile_json(device, grids);
    std::string path = arguments.output;
    if (!arguments.folder.empty()) path = arguments.folder + "/" + file_name(device);
    if (const int code = path.empty() ? print_text(text) : write_text(path, text)) return code;
  }
  return kDone;
}

int list(const std::vector<Device>& devices) {
  static const char* const kTypes[] = {"unknown", "other", "cpu", "gpu", "accelerator"};
  for (const Device& device : devices) {
    std::printf("%s: %s, version %s, feature level %u\n", device.name,
                device.type >= 0 && device.type < 5 ? kTypes[device.type] : "unknown", device.version,
                device.feature_level);
  }
  return kDone;
}

int report(const Arguments& arguments, const nnapi_shim_options& options, const std::vector<Device>& devices) {
  ModelReportRequest request{arguments.model, arguments.shapes, options, {}};
  for (const Device& device : devices) request.devices.emplace_back(device.name);
  nnapi_shim_error error{};
  const int status = report_model(request, &error);
  if (status == NNAPI_SHIM_OK) return kDone;
  const bool is_file =
      status == NNAPI_SHIM_BAD_MODEL || (status == NNAPI_SHIM_BAD_ARGUMENT && arguments.shapes.empty());
  return complain(is_file ? kBadFile : status == NNAPI_SHIM_BAD_ARGUMENT ? kWrongUsage : kNotAsked, error.message);
}

// Returns the options with the choices that an app has, too.
nnapi_shim_options with_choices(const Arguments& arguments, nnapi_shim_options options) {
  options.device = arguments.device.empty() ? nullptr : arguments.device.c_str();
  options.device_kind = arguments.device_kind;
  options.preference = arguments.preference;
  options.variant = static_cast<uint32_t>(arguments.variant);
  return options;
}

int run_trial(const Arguments& arguments, nnapi_shim_options options) {
  options.cache_directory = arguments.cache.c_str();
  nnapi_shim_error error{};
  const int status = nnapi_shim_probe(arguments.trial.c_str(), &options, &error);
  if (status == NNAPI_SHIM_OK) return kDone;
  const bool is_file = status == NNAPI_SHIM_BAD_MODEL || status == NNAPI_SHIM_BAD_ARGUMENT;
  return complain(is_file ? kBadFile : kNotAsked, error.message);
}

int run_doctor(const Arguments& arguments) {
  nnapi_doctor::DoctorRequest request;
  request.path = arguments.doctor;
  request.variant = static_cast<uint32_t>(arguments.variant);
  request.json = arguments.json;
  request.trace = arguments.trace;
  nnapi_doctor::DoctorOptions& options = request.options;
  options.library = {arguments.library, arguments.is_support_library};
  options.reference_library = arguments.reference_library;
  options.device = arguments.device;
  options.reference = arguments.reference;
  options.folder = arguments.folder;
  options.examines_all = arguments.examines_all;
  options.only_times = arguments.only_times;
  options.times_prefixes = arguments.times_prefixes;
  options.limit_ns = static_cast<uint64_t>(arguments.limit_seconds) * 1000000000;
  if (arguments.runs > 0) options.runs = static_cast<uint32_t>(arguments.runs);
  nnapi_shim_error error{};
  const int status = nnapi_doctor::run_doctor(request, &error);
  if (status == NNAPI_SHIM_OK) return kDone;
  return complain(status == NNAPI_SHIM_UNAVAILABLE ? kNotAsked : kBadFile, error.message);
}

int run_bench(const Arguments& arguments, const nnapi_shim_options& options) {
  BenchRequest request;
  request.path = arguments.bench;
  request.inputs = arguments.inputs;
  if (arguments.runs > 0) request.runs = arguments.runs;
  request.options = options;
  if (!arguments.json.empty() && are_same(arguments.json, arguments.bench)) {
    return complain(kWrongUsage, arguments.json + " would replace the file that is timed; give another name");
  }
  nnapi_shim_error error{};
  std::string json;
  const int status = nnapi_probe::run_bench(request, &json, &error);
  if (status == NNAPI_SHIM_OK) return arguments.json.empty() ? kDone : write_text(arguments.json, json);
  const bool is_usage = status == NNAPI_SHIM_BAD_ARGUMENT;
  const bool is_file = status == NNAPI_SHIM_BAD_MODEL || ::access(arguments.bench.c_str(), R_OK) != 0;
  return complain(is_file ? kBadFile : is_usage ? kWrongUsage : kNotAsked, error.message);
}

int run(const Arguments& arguments) {
  // Loads no NNAPI in this process: its children do.
  if (!arguments.doctor.empty()) return run_doctor(arguments);
  nnapi_shim_options options{};
  options.struct_bytes = sizeof(options);
  options.library = arguments.library.empty() ? nullptr : arguments.library.c_str();
  options.is_support_library = arguments.is_support_library ? 1 : 0;
  options.driver_rules = arguments.rules.empty() ? nullptr : arguments.rules.c_str();
  options.driver_rules_file = arguments.rules_file.empty() ? nullptr : arguments.rules_file.c_str();
  if (!arguments.trial.empty()) return run_trial(arguments, with_choices(arguments, options));
  if (!arguments.bench.empty()) return run_bench(arguments, with_choices(arguments, options));
  const NnapiLibrary* nnapi = nullptr;
  nnapi_shim_error error{};
  std::vector<Device> devices;
  if (nnapi_shim::load_nnapi(options.library, arguments.is_support_library, &nnapi, &error) != NNAPI_SHIM_OK ||
      nnapi_shim::list_devices(*nnapi, &devices, &error) != NNAPI_SHIM_OK) {
    return complain(kNotAsked, error.message);
  }
  if (!arguments.device.empty()) {
    std::string names;
    std::vector<Device> named;
    for (const Device& device : devices) {
      names += (names.empty() ? "" : ", ") + std::string(device.name);
      if (arguments.device == device.name) named.push_back(device);
    }
    if (named.empty()) return complain(kWrongUsage, "there is no device " + arguments.device + ", but " + names);
    devices = std::move(named);
  }
  if (arguments.lists) return list(devices);
  return arguments.model.empty() ? write_profiles(*nnapi, devices, arguments) : report(arguments, options, devices);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  const int code = parse(argc, argv, &arguments);
  const int result = code >= 0 ? code : run(arguments);
  const bool is_written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  return result != kDone || is_written ? result : complain(kBadFile, "can't write to standard output");
}
