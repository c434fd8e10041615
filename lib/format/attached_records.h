// SPDX-License-Identifier: BSD-3-Clause
// Records of an archive that tell an app about the model (schemas/nnapi_extras.md).
#pragma once

#include <cstddef>

namespace nnapi_convert {

// The names of the classes, each ended by a newline, in UTF-8.
constexpr const char* kLabelsRecord = "extra/nnapi_shim.labels";
// The record of notes: a JSON object of strings.
constexpr const char* kNotesRecord = "extra/nnapi_shim.notes";
// The record of how the file was made, as JSON: the converter's version, its options and the original model's checksum.
// Phones don't read it.
constexpr const char* kOriginRecord = "extra/nnapi_convert.origin.json";
// Readers refuse larger records.
constexpr size_t kMostAttachedBytes = size_t{1} << 22;

}  // namespace nnapi_convert
