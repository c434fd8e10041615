// SPDX-License-Identifier: BSD-3-Clause
// The script tools/litert-runner/run.js as a part of the program.
#pragma once

#include <vector>

#include "lib/base/folder.h"

namespace nnapi_convert {

// Returns one file.
const std::vector<FolderFile>& litert_script();

}  // namespace nnapi_convert
