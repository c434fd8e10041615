// SPDX-License-Identifier: BSD-3-Clause
// Checks what LibTorch doesn't: a zip archive's checksums, and what its entries hold (archive_content.h). Damaged ones
// could crash it.
#pragma once

#include "lib/converter/load/model_archive.h"

namespace nnapi_convert {

// Reads every entry but the weights (data/...), which are large and only numbers. Throws ConvertError (kBadFile) for a
// damaged entry.
void check_archive(ModelArchive& archive);

}  // namespace nnapi_convert
