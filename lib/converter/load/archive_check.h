// SPDX-License-Identifier: BSD-3-Clause
// Checks what LibTorch doesn't: a zip archive's checksums, and what its entries hold (archive_content.h). Damaged ones
// could crash it.
#pragma once

#include "lib/converter/load/model_archive.h"

namespace nnapi_convert {

enum class WeightReading {
  kChecked,  // read for their checksums
  kLater,    // those that can be mapped are checked by SourceChecks
  kIgnored,  // for callers that read no weights
};

// Reads every entry. Of weights (data/..., constants/...), which are large and only numbers, it checks the checksum
// alone. Throws ConvertError (kBadFile) for an entry that is damaged or that the program doesn't read.
void check_archive(ModelArchive& archive, WeightReading weights);

}  // namespace nnapi_convert
