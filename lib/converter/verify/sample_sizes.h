// SPDX-License-Identifier: BSD-3-Clause
// Chooses the sizes of made-up inputs, where the converted file leaves some open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/converter/load/load_exported.h"
#include "lib/serialize/metadata.h"
#include "lib/types/options.h"

namespace nnapi_convert {

// Returns the type to make a sample of: sizes from the spec, else from the converted file; open ones get what an
// exported program states as an example, or the usual size as far as the file's conditions allow it. `spec` and
// `stated` may be null.
TensorType sample_type(const MetadataInput& input, const SizeConditions& conditions, const InputSpec* spec,
                       const ExportedTensor* stated);

// Returns the open axes of which the spec, which may be null, gives no size.
std::vector<size_t> open_axes(const MetadataInput& input, const InputSpec* spec);

// Returns a size in the place of a usual one: in turn the same, a smaller odd one, and a larger one.
int64_t other_size(int64_t usual, size_t sample);

// Returns whether inputs of these types, whose sizes are fixed, meet the conditions.
bool hold(const SizeConditions& conditions, const std::vector<TensorType>& types);

// Returns a size in the place of a usual one, within the range that an exported program states. Sizes of one symbol
// follow from that symbol's other value.
int64_t other_size(const ExportedTensor::Size& size, size_t sample);

}  // namespace nnapi_convert
