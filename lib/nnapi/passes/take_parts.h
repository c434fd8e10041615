// SPDX-License-Identifier: BSD-3-Clause
// Replaces slices of concatenations by the parts that were concatenated.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// A slice that takes parts of a CONCATENATION as a whole becomes that part, or joins those alone, also where transposes
// and concatenations along other axes come between: they move behind the slice. So the parts of a joined result need
// not share a scale. Changes float tensors only, and none that a model takes or gives already.
void take_parts(Model& model);

}  // namespace nnapi_convert::nnapi
