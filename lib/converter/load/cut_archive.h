// SPDX-License-Identifier: BSD-3-Clause
// Says what is left of a zip archive that lost its end.
#pragma once

#include <string>

#include "lib/shim/zip_directory.h"

namespace nnapi_convert {

// Returns a sentence about a file that begins as an archive and whose list of entries, which ends it, is missing or
// wrong: how many bytes there are, how many are needed as far as the file tells, and how many entries are whole. Reads
// the file up to the first entry that is not.
std::string what_is_left(const nnapi_shim::ZipFile& file);

}  // namespace nnapi_convert
