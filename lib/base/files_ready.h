// SPDX-License-Identifier: BSD-3-Clause
// Checks the files of one command line before the work begins. Otherwise a misspelt name would be reported only after
// LibTorch was loaded (half a second) or after a calibration (minutes).
#pragma once

#include "lib/base/files_apart.h"

namespace nnapi_convert {

// Throws ConvertError (kBadFile) if a file that is read is missing or may not be read, or if no file can be made at the
// place of one that is written. Doesn't check the format of a file that is read. Empty names and standard output pass.
void check_files_ready(const FilesInUse& files);

}  // namespace nnapi_convert
