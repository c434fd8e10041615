// SPDX-License-Identifier: BSD-3-Clause
// Makes sample inputs of a model: those bundled in its file, or random ones.
#pragma once

#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/frontend/index_range.h"
#include "lib/converter/load/load.h"
#include "lib/serialize/module_interface.h"

namespace nnapi_convert {

// Returns a random tensor of the type: from N(0, 1), quantised if the type is; int32
// and int64 from 0 to 9, smaller integers of all values. The same seed gives
// the same values. Flexible sizes are `flexible_size`.
at::Tensor random_tensor(const TensorType& type, uint64_t seed, int64_t flexible_size);
// Returns a random tensor of the type with integers within the range, by the seed. Flexible sizes are `flexible_size`.
at::Tensor random_indices(const TensorType& type, uint64_t seed, int64_t flexible_size, const IndexRange& range);

// Returns the original's bundled inputs, converted to the new interface; if there are none and `make_one`, a random
// one. Warns about inputs that don't fit the interface and are left out.
std::vector<InputTuple> bundled_samples(const ModuleInterface& interface, const std::vector<InputTuple>& originals,
                                        bool make_one, Diagnostics& diagnostics);

// Returns whether a tensor is of the type: its rank, fixed sizes, dtype, scale and zero point. Flexible sizes take any.
bool fits_type(const at::Tensor& tensor, const TensorType& type);

// Converts a tensor to the type's dtype: float32 to quint8 by the type's scale and zero point, or quint8 to float32.
at::Tensor to_interface(const at::Tensor& tensor, const TensorType& type);

}  // namespace nnapi_convert
