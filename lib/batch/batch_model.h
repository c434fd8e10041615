// One model of a batch, and what asks for all of them.
#pragma once

#include <filesystem>
#include <string>

#include "lib/batch/option_set.h"

namespace nnapi_convert {

struct BatchModel {
  std::string name;            // of its results below the output folder, without extension; "/" separates folders
  std::filesystem::path file;  // need not exist: a missing model is one that fails
  std::string shown;           // the file as the zoo names it, for reports: the same wherever the zoo lies
  OptionSet options;
};

struct ZooRequest {
  std::string zoo;
  std::filesystem::path output_folder;  // what lies in it is never a model
  OptionRules rules;
  OptionSet command_line;  // goes before a manifest's defaults, and behind what it says of one model
};

}  // namespace nnapi_convert
