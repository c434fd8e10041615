// SPDX-License-Identifier: BSD-3-Clause
// Reads a manifest: a JSON file by schemas/batch_manifest.schema.json.
#pragma once

#include <vector>

#include "tools/nnapi-convert/batch/batch_model.h"

namespace nnapi_convert {

// Returns the models in the manifest's order. Throws ConvertError: kBadFile if the file can't be read or is no JSON,
// kUsage if it breaks the schema; the message has the place as a JSON pointer.
std::vector<BatchModel> models_of_manifest(const ZooRequest& request);

}  // namespace nnapi_convert
