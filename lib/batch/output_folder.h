// Where the files of a batch lie: results, records of them, and unfinished files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lib/batch/batch_model.h"

namespace nnapi_convert {

// Where a batch keeps records and unfinished files.
std::filesystem::path state_folder(const std::filesystem::path& output_folder);
std::filesystem::path staging_folder(const std::filesystem::path& output_folder, size_t number);
std::filesystem::path record_path(const std::filesystem::path& output_folder, const std::string& name);

// The files of a model, below the output folder: the module first, then its report, then others.
std::vector<std::string> output_names(const BatchModel& model, const std::string& extension);

}  // namespace nnapi_convert
