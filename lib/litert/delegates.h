// SPDX-License-Identifier: BSD-3-Clause
// Tells which operators LiteRT's delegates take, according to their sources (docs/litert.md).
#pragma once

#include <map>
#include <string>

#include "lib/litert/file.h"

namespace nnapi_convert::litert {

using OperatorCounts = std::map<std::string, size_t>;

OperatorCounts operator_counts(const File& file);
// Returns the operators of the file that the GPU's list lacks; a phone computes them, and those between them, on the
// CPU.
OperatorCounts lacking_on_gpu(const File& file);

}  // namespace nnapi_convert::litert
