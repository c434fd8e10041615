// SPDX-License-Identifier: BSD-3-Clause
// Replaces slices of concatenations by the parts that were concatenated.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// A slice that takes whole parts of a CONCATENATION becomes that part, or a CONCATENATION of those parts. Transposes
// and concatenations along other axes may stand between: they move behind the slice. So the parts of a joined result
// need not share a scale. Changes float tensors only, and puts no model input or output in a slice's place.
void take_parts(Model& model);

}  // namespace nnapi_convert::nnapi
