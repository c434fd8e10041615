// SPDX-License-Identifier: BSD-3-Clause
// Describes one model of a batch, and the request for a batch's models.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "tools/nnapi-convert/batch/option_set.h"

namespace nnapi_convert {

struct BatchModel {
  std::string name;            // the results' path below the output folder, without extension; "/" separates folders
  std::filesystem::path file;  // need not exist: the conversion of a missing model fails
  std::string shown;           // the file's name within the zoo, for reports: independent of the zoo's place
  OptionSet options;
  std::string wrong_options = {};  // why the options are wrong, which makes the model fail; empty: they are right
};

struct ZooRequest {
  std::string zoo;
  std::filesystem::path output_folder;  // files in this folder are never models
  OptionRules rules;
  OptionSet command_line;  // overrides a manifest's defaults; a manifest's options of one model override it
  // Throws ConvertError (kUsage) for options that the conversion's command line refuses.
  std::function<void(const OptionSet&)> check_options;
};

}  // namespace nnapi_convert
