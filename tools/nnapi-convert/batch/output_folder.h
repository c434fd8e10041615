// SPDX-License-Identifier: BSD-3-Clause
// Returns the paths of a batch's files: results, records of results, and unfinished files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/nnapi-convert/batch/batch_model.h"

namespace nnapi_convert {

// Returns the folder for records and unfinished files.
std::filesystem::path state_folder(const std::filesystem::path& output_folder);
std::filesystem::path staging_folder(const std::filesystem::path& output_folder, size_t number);
std::filesystem::path record_path(const std::filesystem::path& output_folder, const std::string& name);

// A file that a conversion writes.
struct BatchOutput {
  std::string option;  // the conversion's option, without dashes
  std::string name;    // its path below the output folder
};

// Returns a model's files: the module, its report, then those that options ask for.
std::vector<BatchOutput> outputs_of(const BatchModel& model, const std::string& extension);

}  // namespace nnapi_convert
