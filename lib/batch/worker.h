// What a worker process does with one model: converts it into a folder of its own, moves the results to their places,
// and leaves a record of them, by which a later run sees that nothing is to be done.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "lib/batch/batch_model.h"
#include "lib/batch/outcome.h"

namespace nnapi_convert {

struct WorkerSettings {
  std::filesystem::path output_folder;
  std::string extension = "pt";  // of the modules
  bool resume = false;           // what a record tells to be finished is not done again
  std::string program;           // tells the version apart from others
  OptionRules rules;
  // The conversion's command: arguments in, exit code out; throws as it does.
  std::function<int(const std::vector<std::string>&)> convert;
};

// Throws nothing: whatever goes wrong is in the outcome. `number` is the model's, for its folder.
Outcome convert_model(const BatchModel& model, size_t number, const WorkerSettings& settings);

}  // namespace nnapi_convert
