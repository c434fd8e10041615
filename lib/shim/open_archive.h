// SPDX-License-Identifier: BSD-3-Clause
// Makes the model of an archive: one model, a package, a chain of segments, or a program.
#pragma once

#include <memory>

#include "lib/shim/archive.h"
#include "lib/shim/open_model.h"

namespace nnapi_shim {

// Opens the model, which keeps the archive. Returns null, and NNAPI_SHIM_BAD_MODEL in `error`, for an archive whose
// parts are damaged or don't fit together.
std::unique_ptr<OpenModel> open_archive(const std::shared_ptr<const Archive>& archive, nnapi_shim_error* error);

}  // namespace nnapi_shim
