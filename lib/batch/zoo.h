// The models of a batch: those in a folder, those that a pattern matches, or those that a manifest lists
// (schemas/batch_manifest.schema.json).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

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

// In order of names; a manifest keeps its own. Folders and patterns leave out results: what lies in the output folder,
// or in that of an earlier batch. Throws ConvertError: kBadFile where the zoo can't be read, kUsage where a manifest
// breaks its schema or names a model in the output folder, or there is no model.
std::vector<BatchModel> find_models(const ZooRequest& request);

}  // namespace nnapi_convert
