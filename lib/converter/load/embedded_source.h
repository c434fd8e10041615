// SPDX-License-Identifier: BSD-3-Clause
// The shim's sources that a model carries (--embed-shim-source).
#pragma once

#include <string>
#include <vector>

#include "lib/base/folder.h"

namespace nnapi_convert {

// Throws ConvertError (kBadFile) for a file that is no archive, is damaged, carries no sources, or has names among them
// that lead out of a folder.
std::vector<FolderFile> read_shim_source(const std::string& path);

}  // namespace nnapi_convert
