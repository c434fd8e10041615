// SPDX-License-Identifier: BSD-3-Clause
// nnapi-convert inspect OUT: shows the content of a converted file.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <iostream>
#include <optional>

#include "lib/base/error.h"
#include "lib/base/files_apart.h"
#include "lib/base/input_file.h"
#include "lib/base/json_text.h"
#include "lib/litert/file_reader.h"
#include "tools/nnapi-convert/command_line.h"
#include "tools/nnapi-convert/commands.h"
#include "tools/nnapi-convert/engine.h"

namespace nnapi_convert {
namespace {

const ExitCodes kInspectExitCodes = {{"0", "done"},
                                     {"2", "wrong command line"},
                                     {"3", "a file can't be read or is malformed, or the output can't be written"},
                                     {"70", "internal error"},
                                     {"75", "memory, stack or time is not enough"}};

// Returns the text of a LiteRT file, which needs no LibTorch; nothing for other files, and for one without a model.
std::optional<std::string> litert_text(const std::string& path, const std::string& format) {
  constexpr size_t kFirstBytes = 8;
  InputFile file(path);
  std::string bytes(kFirstBytes, '\0');
  bytes.resize(file.read(bytes.data(), bytes.size()));
  if (!file.problem().empty() || !litert::is_litert_file(bytes)) return std::nullopt;
  if (format != "text" && format != "json") {
    throw ConvertError(ExitCode::kUsage,
                       fmt::format("--format {}: {} is a LiteRT file; use text or json", format, path));
  }
  std::string problem;
  const std::optional<std::string> all = text_of_file(path, problem);
  if (!all) throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: {}", path, problem));
  const litert::ReadFile read = litert::read_file(*all, path);
  if (read.subgraphs.empty()) return std::nullopt;
  return format == "json" ? json_text(litert::to_json(read), 2) + "\n" : litert::to_text(read);
}

}  // namespace

int run_inspect(const Arguments& command_line) {
  std::string path;
  std::string format = "text", doctor, device;
  CLI::App app(
      "Shows what a converted file holds: its interface and its NNAPI operations.\n\n"
      "Examples:\n  nnapi-convert inspect out.pt\n  nnapi-convert inspect out.pt --format json\n"
      "  nnapi-convert inspect out.pt --format dot\n"
      "  nnapi-convert inspect out.pt --format html",
      "nnapi-convert inspect");
  app.add_option("OUT", path, "a file that nnapi-convert wrote, .tflite included")->required();
  app.add_option("--format", format, "how to show it")
      ->check(CLI::IsMember({"text", "json", "dot", "html"}))
      ->capture_default_str();
  app.add_option("--doctor", doctor, "with html, doctor.json of nnapi-probe --doctor: colours what is wrong and slow")
      ->type_name("FILE");
  app.add_option("--device", device, "with --doctor, the device; if not given, the first one that is wrong")
      ->type_name("NAME");
  add_log_options(app);
  if (const auto code = parse_command_line(app, command_line, kInspectExitCodes)) return *code;
  if (!doctor.empty() && format != "html") throw ConvertError(ExitCode::kUsage, "--doctor needs --format html");
  FilesInUse files = {{{"OUT", path}}, {}};
  if (!doctor.empty()) files.read.push_back({"--doctor", doctor});
  check_files(files);
  if (!doctor.empty()) {
    std::string problem;
    const auto found = text_of_file(doctor, problem);
    if (!found) throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: {}", doctor, problem));
    std::cout << engine().doctor_page(path, *found, device);
    return 0;
  }
  if (const std::optional<std::string> text = litert_text(path, format)) {
    std::cout << *text;
  } else {
    std::cout << engine().inspect(path, format);
  }
  return 0;
}

}  // namespace nnapi_convert
