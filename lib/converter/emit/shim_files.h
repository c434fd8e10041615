// SPDX-License-Identifier: BSD-3-Clause
// The shim's sources as they were when this program was built, with what an app needs to build them: CMakeLists.txt, a
// Gradle module, the licence. lib/shim_files/CMakeLists.txt lists them.
#pragma once

#include <vector>

#include "lib/base/folder.h"

namespace nnapi_convert {

// Returns the files in ascending order of names; never empty.
const std::vector<FolderFile>& shim_files();

}  // namespace nnapi_convert
