// SPDX-License-Identifier: BSD-3-Clause
// Finds the models of a batch (its zoo): in a folder, by a pattern of file names, or in a manifest
// (schemas/batch_manifest.schema.json).
#pragma once

#include <vector>

#include "tools/nnapi-convert/batch/batch_model.h"

namespace nnapi_convert {

// Returns the models in order of names, or in a manifest's own order. Folders and patterns leave out files in the
// output folder and in output folders of earlier batches. Throws ConvertError: kBadFile if the zoo can't be read,
// kUsage if a manifest breaks its schema or names a model in the output folder, or if there is no model.
std::vector<BatchModel> find_models(const ZooRequest& request);

}  // namespace nnapi_convert
