// The models of a batch: those in a folder, those that a pattern matches, or those that a manifest lists
// (schemas/batch_manifest.schema.json).
#pragma once

#include <vector>

#include "lib/batch/batch_model.h"

namespace nnapi_convert {

// In order of names; a manifest keeps its own. Folders and patterns leave out results: what lies in the output folder,
// or in that of an earlier batch. Throws ConvertError: kBadFile where the zoo can't be read, kUsage where a manifest
// breaks its schema or names a model in the output folder, or there is no model.
std::vector<BatchModel> find_models(const ZooRequest& request);

}  // namespace nnapi_convert
