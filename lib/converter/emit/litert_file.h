// SPDX-License-Identifier: BSD-3-Clause
// Writes the LiteRT file (.tflite) of a conversion.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/emit/conversion.h"
#include "lib/litert/convert_model.h"

namespace nnapi_convert {

// The name of the file's metadata that tell verify() how its tensors belong to forward's: a text in JSON.
constexpr const char* kLitertRecord = "nnapi_convert";

// A method and its conversion; the key of forward's signature is "serving_default", that of others their name.
using NamedConversion = std::pair<std::string, const Conversion*>;

// Makes the file; reads no weights. The conversions have to live, and keep their weights, until it is written. Throws
// ConvertError (kNotConvertible) for a model that LiteRT can't run whole, with all that it lacks.
litert::File make_litert_file(const std::vector<NamedConversion>& methods, bool keeps_uint8, Diagnostics& diagnostics);
litert::File make_litert_file(const Conversion& conversion, bool keeps_uint8, Diagnostics& diagnostics);

// Writes the file to `path` and overwrites any file there: give a temporary path. Returns the number of bytes. Throws
// ConvertError (kBadFile).
uint64_t write_litert_file(const litert::File& file, const std::string& path);

}  // namespace nnapi_convert
