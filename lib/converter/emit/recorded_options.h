// SPDX-License-Identifier: BSD-3-Clause
// Records in a converted file the options that shape its NNAPI models, and reads them again.
#pragma once

#include <string>
#include <vector>

#include "lib/converter/frontend/split_results.h"
#include "lib/converter/load/converted_file.h"
#include "lib/types/options.h"

namespace nnapi_convert {

// Returns the options as JSON, for Metadata::options.
std::string record_options(const ConvertOptions& options);

// Returns the arguments of forward that the conversion bound to a value.
std::vector<BoundArgument> recorded_bound(const ConvertedFile& file);

// Returns what --input-pixels said at the conversion.
std::optional<PixelInput> recorded_pixels(const ConvertedFile& file);

// Returns the recorded options together with what --split-output made of the results.
std::string with_splits(const std::string& recorded_options, const std::vector<ResultSplit>& splits);
// Returns the splits of a file; none for one that was converted without --split-output. Throws ConvertError (kBadFile)
// for a damaged record.
std::vector<ResultSplit> recorded_splits(const ConvertedFile& file);

// Returns true if the file was converted with options that change the model's numbers: --fp16-weights, --int8-weights,
// --gelu tanh.
bool is_approximate(const ConvertedFile& file);

// Returns options that make the same NNAPI models from the same original. For a file without a record, options are
// defaults where the file's metadata doesn't say otherwise. Throws ConvertError (kBadFile) for a malformed record.
ConvertOptions recorded_options(const ConvertedFile& file);

}  // namespace nnapi_convert
