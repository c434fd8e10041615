// SPDX-License-Identifier: BSD-3-Clause
// Checks the files of one command line before the work begins: a calibration takes minutes, and LibTorch half a second
// to load, before a misspelt name would be told otherwise.
#pragma once

#include "lib/base/files_apart.h"

namespace nnapi_convert {

// Throws ConvertError (kBadFile) if a file that is read is missing or may not be read, or if no file can be made at the
// place of one that is written. Whether a file is of the right kind, its reader tells. Empty names and standard
// output pass.
void check_files_ready(const FilesInUse& files);

}  // namespace nnapi_convert
