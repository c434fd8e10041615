// SPDX-License-Identifier: BSD-3-Clause
// Converts one model in a worker process: converts it into a folder of its own, moves the results to their places, and
// writes a record of them. A later run reads the record and skips a model that is up to date.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tools/nnapi-convert/batch/batch_model.h"
#include "tools/nnapi-convert/batch/outcome.h"

namespace nnapi_convert {

struct WorkerSettings {
  std::filesystem::path output_folder;
  std::string extension = "pt";  // the extension of the modules
  bool resume = false;           // true: skip models that a record shows as finished
  std::string program;           // name and version of the program
  OptionRules rules;
  // Runs the conversion's command: takes arguments, returns the exit code, and throws as the command does.
  std::function<int(const std::vector<std::string>&)> convert;
};

// Converts the model. Throws nothing: the outcome holds any error. The model's `number` names its folder.
Outcome convert_model(const BatchModel& model, size_t number, const WorkerSettings& settings);

}  // namespace nnapi_convert
