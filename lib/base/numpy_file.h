// SPDX-License-Identifier: BSD-3-Clause
// NumPy's files: one array (.npy), or several by name in a zip archive (.npz).
#pragma once

#include <string>
#include <vector>

#include "lib/base/array.h"

namespace nnapi_convert::calibration {

// Throws ConvertError (kBadFile) for files that are none, or damaged, and for dtypes that no model takes.
std::vector<Array> read_numpy_file(const std::string& path);

}  // namespace nnapi_convert::calibration
