// SPDX-License-Identifier: BSD-3-Clause
// nnapi-convert phone: converts a model for the phones that are attached, until each runs it right.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "lib/base/error.h"
#include "lib/base/files_apart.h"
#include "lib/base/files_ready.h"
#include "lib/base/input_file.h"
#include "lib/base/output_file.h"
#include "tools/nnapi-convert/child_program.h"
#include "tools/nnapi-convert/command_line.h"
#include "tools/nnapi-convert/commands.h"
#include "tools/nnapi-convert/doctor_answer.h"

namespace nnapi_convert {
namespace {

constexpr const char* kPhoneDescription =
    R"(Converts a model, has nnapi-probe's doctor examine it on an attached phone, and converts again
around what is wrong there, until the phone computes it right or nothing helps. Options that are not
listed here are those of the conversion.

Examples:
  nnapi-convert phone model.pt --nhwc --probe build-android/nnapi-probe -o out.pt
  nnapi-convert phone model.pt --nhwc --probe build-android/nnapi-probe -s SERIAL -s OTHER -o out.pt)";

const ExitCodes kPhoneExitCodes = {{"0", "each phone computes the file right"},
                                   {"1", "the model can't be converted"},
                                   {"2", "wrong command line"},
                                   {"3", "a file can't be read or written, adb fails, or the phone can't be examined"},
                                   {"4", "a phone computes the file wrongly, whatever was tried"},
                                   {"70", "internal error"},
                                   {"75", "memory, stack or time is not enough"}};

struct PhoneArguments {
  std::string model, output, probe, adb = "adb", folder = "/data/local/tmp/nnapi-convert", library, device;
  std::vector<std::string> serials;
  int rounds = 4, limit = 30;
  bool is_dry = false, is_quiet = false;
  Arguments conversion;  // options of the conversion

  // Tells on standard error what the command does.
  void say(const std::string& what) const {
    if (!is_quiet) fmt::print(stderr, "nnapi-convert: {}\n", what);
  }
};

// Runs adb for one phone. An empty serial stands for the only phone attached.
class Phone {
 public:
  Phone(const PhoneArguments& arguments, std::string serial) : arguments_(arguments), serial_(std::move(serial)) {}

  const std::string& serial() const { return serial_; }

  // Runs adb with these words and returns its output; with is_dry, only prints the command. Throws ConvertError
  // (kBadFile) if it fails.
  std::string adb(const std::string& purpose, Arguments words) const {
    Arguments command = {arguments_.adb};
    if (!serial_.empty()) command.insert(command.end(), {"-s", serial_});
    command.insert(command.end(), words.begin(), words.end());
    if (arguments_.is_dry) {
      fmt::print("{}\n", shell_text(command));
      return "";
    }
    arguments_.say(purpose);
    const ProgramEnd end = run_child(command);
    if (end.exit_code == 0) return end.output;
    throw ConvertError(ExitCode::kBadFile,
                       fmt::format("{} failed with exit code {}: {}", shell_text(command), end.exit_code, end.output));
  }

  // Runs a command in the phone's shell.
  std::string shell(const std::string& purpose, const Arguments& words) const {
    return adb(purpose, {"shell", shell_text(words)});
  }

 private:
  const PhoneArguments& arguments_;
  const std::string serial_;
};

void write_file(const std::string& path, const std::string& text) {
  OutputFile file(path);
  file.append(text.data(), text.size());
  const std::string problem = file.finish();
  if (!problem.empty()) throw ConvertError(ExitCode::kBadFile, fmt::format("can't write {}: {}", path, problem));
}

std::string read_file(const std::string& path) {
  std::string problem;
  const auto text = text_of_file(path, problem);
  if (!text) throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: {}", path, problem));
  return *text;
}

// Return the paths of the files beside the output.
std::string profile_of(const std::string& output) {
  return output + ".profile.json";
}
std::string doctor_of(const std::string& output) {
  return output + ".doctor.json";
}

// The result for one phone.
struct PhoneResult {
  std::string serial, output, device, conclusion;
  int rounds = 0;
  bool is_right = false;
};

// Converts a model for one phone, until the phone runs it right.
class PhoneLoop {
 public:
  PhoneLoop(const PhoneArguments& arguments, const std::string& serial, const std::string& output)
      : arguments_(arguments), phone_(arguments, serial), output_(output) {}

  PhoneResult run() {
    result_.serial = phone_.serial();
    result_.output = output_;
    phone_.shell("makes a folder on the phone", {"mkdir", "-p", arguments_.folder});
    phone_.adb("copies nnapi-probe to the phone", {"push", arguments_.probe, on_phone("nnapi-probe")});
    phone_.shell("lets it run", {"chmod", "755", on_phone("nnapi-probe")});
    convert();
    for (result_.rounds = 1;; ++result_.rounds) {
      if (!examine() || arguments_.is_dry) break;
      convert();
    }
    measure();
    return result_;
  }

 private:
  std::string on_phone(const std::string& name) const { return arguments_.folder + "/" + name; }
  std::string profile_path() const { return profile_of(output_); }
  std::string doctor_path() const { return doctor_of(output_); }

  Arguments probe(Arguments words) const {
    words.insert(words.begin(), on_phone("nnapi-probe"));
    if (!arguments_.library.empty()) words.insert(words.end(), {"--library", arguments_.library});
    return words;
  }

  void convert() const {
    Arguments words = {arguments_.model};
    words.insert(words.end(), arguments_.conversion.begin(), arguments_.conversion.end());
    words.insert(words.end(), {"--runtime", "shim", "-o", output_});
    if (!profile_.is_null()) words.insert(words.end(), {"--device-profile", profile_path()});
    if (arguments_.is_dry) {
      Arguments command = words;
      command.insert(command.begin(), "nnapi-convert");
      fmt::print("{}\n", shell_text(command));
      return;
    }
    arguments_.say(profile_.is_null() ? "converts the model" : "converts it again, around what is wrong there");
    if (arguments_.is_quiet) words.emplace_back("-q");
    const int code = run_convert(words);
    if (code != 0) throw ConvertError(static_cast<ExitCode>(code), "the conversion failed");
  }

  // Returns whether another conversion may help.
  bool examine() {
    phone_.adb("copies the file to the phone", {"push", output_, on_phone("out.pt")});
    Arguments doctor = {"--doctor",        on_phone("out.pt"), "--folder",
                        arguments_.folder, "--limit",          std::to_string(arguments_.limit)};
    if (!device_.empty()) doctor.insert(doctor.end(), {"--device", device_});
    phone_.shell("examines it there", probe(doctor));
    phone_.adb("fetches the results", {"pull", on_phone("doctor.json"), doctor_path()});
    if (arguments_.is_dry) return false;
    const std::vector<ExaminedDevice> devices = read_doctor(read_file(doctor_path()), doctor_path());
    const ExaminedDevice& device = choose(devices);
    result_.device = device.name.empty() ? "NNAPI's choice" : device.name;
    result_.conclusion = device.conclusion;
    result_.is_right = device.is_right;
    arguments_.say(fmt::format("{}: {}", result_.device, device.conclusion));
    if (device.is_right || result_.rounds >= arguments_.rounds) return false;
    device_ = device.name;
    if (!add_rules(profile_, device.profile)) return false;  // the findings are avoided already
    write_file(profile_path(), profile_.dump(2) + "\n");
    return true;
  }

  // Returns the device that was asked for or chosen before; otherwise the first one that is wrong.
  const ExaminedDevice& choose(const std::vector<ExaminedDevice>& devices) const {
    const auto found = std::find_if(devices.begin(), devices.end(), [&](const ExaminedDevice& device) {
      return device_.empty() ? !device.is_right : device.name == device_;
    });
    return found == devices.end() ? devices.front() : *found;
  }

  void measure() const {
    Arguments times = {"--doctor", on_phone("out.pt"), "--profile"};
    if (!device_.empty()) times.insert(times.end(), {"--device", device_});
    const std::string text = phone_.shell("measures each operation", probe(times));
    fmt::print("{}", text);
    if (!arguments_.is_dry && !result_.is_right) return;
    phone_.shell("makes the trial that the app will make",
                 probe({"--trial", on_phone("out.pt"), "--cache", arguments_.folder}));
  }

  const PhoneArguments& arguments_;
  const Phone phone_;
  const std::string output_;
  std::string device_ = arguments_.device;
  nlohmann::json profile_;
  PhoneResult result_;
};

// Returns the path of the output for one phone: out.pt, or, with several phones, out-SERIAL.pt.
std::string output_for(const PhoneArguments& arguments, const std::string& serial) {
  if (arguments.serials.size() < 2) return arguments.output;
  const std::filesystem::path path(arguments.output);
  std::string plain = serial;
  for (char& letter : plain) {
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0 && letter != '.') letter = '_';
  }
  return (path.parent_path() / (path.stem().string() + "-" + plain + path.extension().string())).string();
}

FilesInUse files_of(const PhoneArguments& arguments, const std::vector<std::string>& serials) {
  FilesInUse files{{{"MODEL", arguments.model}, {"--probe", arguments.probe}}, {}};
  for (const std::string& serial : serials) {
    const std::string output = output_for(arguments, serial);
    const std::string name = serials.size() < 2 ? "--output" : "the output for " + serial;
    files.written.push_back({name, output});
    files.written.push_back({"the profile beside " + name, profile_of(output)});
    files.written.push_back({"the results beside " + name, doctor_of(output)});
  }
  return files;
}

void print_table(const std::vector<PhoneResult>& results) {
  fmt::print("{:<20} {:<24} {:>6}  {:<5}  {}\n", "phone", "device", "rounds", "right", "file");
  for (const PhoneResult& result : results) {
    fmt::print("{:<20} {:<24} {:>6}  {:<5}  {}\n", result.serial.empty() ? "attached" : result.serial, result.device,
               result.rounds, result.is_right ? "yes" : "no", result.output);
  }
}

}  // namespace

int run_phone(const Arguments& command_line) {
  PhoneArguments arguments;
  CLI::App app(kPhoneDescription, "nnapi-convert phone");
  app.allow_extras();
  app.add_option("MODEL", arguments.model, "TorchScript file or exported program")->required();
  app.add_option("-o,--output", arguments.output, "file to write; beside it, OUT.profile.json and OUT.doctor.json")
      ->required()
      ->type_name("OUT");
  app.add_option("--probe", arguments.probe, "nnapi-probe for the phone (docs/doctor.md tells how to build it)")
      ->required()
      ->type_name("FILE");
  app.add_option("-s,--serial", arguments.serials, "a phone, where several are attached; once for each")
      ->type_name("SERIAL")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--device", arguments.device, "NNAPI's device; if not given, the first one that is wrong")
      ->type_name("NAME");
  app.add_option("--library", arguments.library, "NNAPI's library on the phone, instead of libneuralnetworks.so")
      ->type_name("FILE");
  app.add_option("--adb", arguments.adb, "the program adb")->type_name("FILE")->capture_default_str();
  app.add_option("--folder", arguments.folder, "folder on the phone")->type_name("DIR")->capture_default_str();
  app.add_option("--rounds", arguments.rounds, "the most examinations")
      ->check(CLI::Range(1, 100))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--limit", arguments.limit, "seconds of one trial on the phone")
      ->check(CLI::Range(1, 86400))
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--dry-run", arguments.is_dry, "print the commands of the first round, and run none");
  add_log_options(app);
  if (const auto code = parse_command_line(app, command_line, kPhoneExitCodes)) return *code;
  arguments.is_quiet = spdlog::get_level() >= spdlog::level::err;
  refuse_standard_output("--output", arguments.output);
  arguments.conversion = app.remaining();
  for (const std::string& word : arguments.conversion) {
    if (word.rfind("--device-profile", 0) != 0 && word.rfind("--runtime", 0) != 0) continue;
    throw ConvertError(ExitCode::kUsage, word + ": no such option needed; phone gives it to the conversion itself");
  }
  std::vector<std::string> serials = arguments.serials;
  if (serials.empty()) serials.emplace_back();
  const FilesInUse files = files_of(arguments, serials);
  check_files_apart(files);
  if (!arguments.is_dry) check_files_ready(files);
  std::vector<PhoneResult> results;
  for (const std::string& serial : serials) {
    results.push_back(PhoneLoop(arguments, serial, output_for(arguments, serial)).run());
  }
  if (arguments.is_dry) return 0;
  print_table(results);
  const bool are_right =
      std::all_of(results.begin(), results.end(), [](const PhoneResult& result) { return result.is_right; });
  return static_cast<int>(are_right ? ExitCode::kDone : ExitCode::kVerificationFailed);
}

}  // namespace nnapi_convert
