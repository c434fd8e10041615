// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-convert/batch/worker.h"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <new>

#include "lib/base/input_file.h"
#include "lib/base/json_text.h"
#include "lib/base/out_of_memory.h"
#include "lib/base/picture_list.h"
#include "lib/base/split_text.h"
#include "lib/format/json_nesting.h"
#include "tools/nnapi-convert/batch/content_hash.h"
#include "tools/nnapi-convert/batch/output_folder.h"

namespace nnapi_convert {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Returns a hash of a file, or of all pictures or arrays that a folder or a list of paths names, with their names and
// labels. The conversion leaves out a picture that isn't there.
std::string hash_of_data(const std::string& path) {
  const bool is_list = fs::is_directory(path) || calibration::names_pictures(path);
  if (!is_list) return hash_of_file(path);
  std::vector<calibration::ListedPicture> files = calibration::list_arrays(path);
  if (files.empty()) files = calibration::list_pictures(path);
  std::string text;
  for (const calibration::ListedPicture& picture : files) {
    text += picture.name + "\t" + picture.label + "\t" +
            (fs::is_regular_file(picture.path) ? hash_of_file(picture.path) : "none") + "\n";
  }
  return hash_of_text(text);
}

// Returns a hash of exactly the inputs that decide a model's results; files named by options count by their contents.
std::string key_of(const BatchModel& model, const WorkerSettings& settings) {
  json options = json::object();
  for (const auto& [name, values] : model.options) {
    for (const OptionRule& rule : settings.rules) {
      if (rule.name != name) continue;
      for (const std::string& value : values)
        options[name].push_back(rule.is_file(value) && !is_written(name, model.options) ? hash_of_data(value) : value);
    }
  }
  const json parts = {{"program", settings.program}, {"model", hash_of_file(model.file)},
                      {"shown", model.shown},        {"options", options},
                      {"name", model.name},          {"extension", settings.extension}};
  return hash_of_text(json_text(parts));
}

json read_json(const fs::path& path) {
  std::string problem;
  const auto text = text_of_file(path, problem);
  if (!text) throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: {}", path.string(), problem));
  if (is_nested_too_deep(*text)) throw ConvertError(ExitCode::kBadFile, path.string() + ": nested too deep");
  return json::parse(*text);
}

// Writes a file without waiting for the disk, as write_file() does: a later run finds lost data by the hashes.
void write_quickly(const fs::path& path, const std::string& text) {
  const fs::path temporary = path.string() + ".new";
  std::ofstream stream(temporary, std::ios::binary);
  stream << text;
  stream.close();
  if (!stream) {
    const std::string reason = std::strerror(errno);
    throw ConvertError(ExitCode::kBadFile, fmt::format("can't write {}: {}", path.string(), reason));
  }
  fs::rename(temporary, path);
}

// Returns whether another run would end with the same status; a full disk may have room by then.
bool is_final(Status status) {
  return status == Status::kConverted || status == Status::kRefused || status == Status::kVerificationFailed ||
         status == Status::kWrongOptions;
}

bool restore(const fs::path& record, const std::string& key, const WorkerSettings& settings, Outcome& outcome) {
  try {
    Outcome earlier = outcome_from_json(read_json(record));
    if (earlier.key != key || !is_final(earlier.status)) return false;
    for (const auto& [path, hash] : earlier.outputs.items()) {
      if (hash_of_file(settings.output_folder / path) != hash.get<std::string>()) return false;
    }
    outcome = std::move(earlier);
  } catch (const std::exception&) {
    return false;  // the record is missing or damaged
  }
  outcome.is_up_to_date = true;
  return true;
}

std::string replaced(std::string text, const std::string& found, const std::string& by) {
  for (size_t at = text.find(found); at != std::string::npos; at = text.find(found, at + by.size())) {
    text.replace(at, found.size(), by);
  }
  return text;
}

// Converts one model in its staging folder.
class Task {
 public:
  Task(const BatchModel& model, size_t number, const WorkerSettings& settings)
      : model_(model),
        settings_(settings),
        record_(record_path(settings.output_folder, model.name)),
        staging_(staging_folder(settings.output_folder, number)),
        outputs_(outputs_of(model, settings.extension)) {}

  Outcome run() {
    Outcome outcome;
    outcome.key = key_of(model_, settings_);
    if (settings_.resume && restore(record_, outcome.key, settings_, outcome)) return outcome;
    fs::remove(record_);
    fs::create_directories(staging_);
    convert(outcome);
    finish_report(outcome);
    place(outcome);
    fs::create_directories(record_.parent_path());
    write_quickly(record_, json_text(to_json(outcome)));
    return outcome;
  }

  // Replaces the staging folder in a message by the output folder, which the user knows.
  std::string readable(const std::string& message) const {
    return replaced(message, staging_.string(), (settings_.output_folder / model_.name).parent_path().string());
  }

 private:
  fs::path staged(const std::string& name) const { return staging_ / fs::path(name).filename(); }
  fs::path report() const { return staged(outputs_[1].name); }

  void convert(Outcome& outcome) {
    if (!model_.wrong_options.empty()) {
      outcome.status = Status::kWrongOptions;
      outcome.error = model_.wrong_options;
      return;
    }
    OptionSet options = model_.options;
    for (const BatchOutput& output : outputs_) options.erase(output.option);
    std::vector<std::string> arguments = to_arguments(options);
    arguments.push_back(model_.file.string());
    for (const BatchOutput& output : outputs_) {
      arguments.push_back("--" + output.option + "=" + staged(output.name).string());
    }
    try {
      outcome.status = status_of(static_cast<ExitCode>(settings_.convert(arguments)));
    } catch (const ConvertError& error) {
      outcome.status = status_of(error.exit_code());
      outcome.error = readable(error.what());
    }
    if (tells_of_full_memory(outcome.error)) outcome.status = Status::kOutOfMemory;
  }

  // Completes the report. Its paths do not depend on the places of zoo and results.
  void finish_report(Outcome& outcome) const {
    outcome.report = fs::exists(report()) ? read_json(report()) : failure_report(model_.shown, outcome.error);
    outcome.report["model"] = model_.shown;
    if (outcome.report.contains("output")) outcome.report["output"] = outputs_[0].name;
    for (const auto& [option, name] : outputs_) {
      if (option == "litert" && outcome.report.contains(option)) outcome.report[option]["output"] = name;
    }
    if (outcome.status == Status::kVerificationFailed && outcome.error.empty()) {
      const json verification = outcome.report.value("verification", json::object());
      outcome.error = "the result differs from the original; needed: " + verification.value("criterion", "");
    }
    write_quickly(report(), json_text(outcome.report, 2) + "\n");
  }

  void place(Outcome& outcome) const {
    outcome.outputs = json::object();
    for (const auto& [option, name] : outputs_) {
      const fs::path file = staged(name);
      if (!fs::exists(file) || (option != "report" && outcome.status != Status::kConverted)) continue;
      outcome.outputs[name] = hash_of_file(file);
      if (option == "output") outcome.file_bytes = fs::file_size(file);
      const fs::path destination = settings_.output_folder / name;
      fs::create_directories(destination.parent_path());
      fs::rename(file, destination);
    }
  }

  const BatchModel& model_;
  const WorkerSettings& settings_;
  fs::path record_, staging_;
  std::vector<BatchOutput> outputs_;
};

Outcome failure(Status status, const std::string& message) {
  Outcome outcome;
  outcome.status = tells_of_full_memory(message) ? Status::kOutOfMemory : status;
  outcome.error = message;
  return outcome;
}

}  // namespace

Outcome convert_model(const BatchModel& model, size_t number, const WorkerSettings& settings) {
  const auto start = std::chrono::steady_clock::now();
  Task task(model, number, settings);
  Outcome outcome;
  try {
    outcome = task.run();
  } catch (const ConvertError& error) {
    outcome = failure(status_of(error.exit_code()), task.readable(error.what()));
  } catch (const fs::filesystem_error& error) {
    outcome = failure(Status::kBadFile, task.readable(fmt::format("can't write the results: {}", error.what())));
  } catch (const std::bad_alloc&) {
    outcome = failure(Status::kOutOfMemory, "out of memory");
  } catch (const std::exception& error) {
    outcome = failure(Status::kInternalError, "internal error: " + first_line(error.what()));
  }
  if (outcome.report.is_null()) outcome.report = failure_report(model.shown, outcome.error);
  if (!outcome.is_up_to_date) {
    outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  return outcome;
}

}  // namespace nnapi_convert
