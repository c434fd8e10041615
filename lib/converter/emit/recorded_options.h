// What a converted file records of the options it was made with: those that shape its NNAPI models.
#pragma once

#include <string>
#include <vector>

#include "lib/converter/load/converted_file.h"
#include "lib/converter/options/options.h"

namespace nnapi_convert {

// JSON, for Metadata::options.
std::string record_options(const ConvertOptions& options);

// Arguments of forward that the file was converted for one value of.
std::vector<BoundArgument> recorded_bound(const ConvertedFile& file);

// Options that make the same NNAPI models from the same original; files without a record were made with the defaults as
// far as their metadata tells. Throws ConvertError (kBadFile) for a malformed record.
ConvertOptions recorded_options(const ConvertedFile& file);

}  // namespace nnapi_convert
