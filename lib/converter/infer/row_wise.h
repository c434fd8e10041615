// Finds operations that work row by row: row i of what they give depends on row i of what they read alone, along an
// axis whose size isn't known. What they give for some rows is then right whatever other rows there are.
#pragma once

#include <optional>

#include "lib/converter/graph/open_sizes.h"

namespace nnapi_convert {

// The only axis of that size; nothing where all sizes are fixed. Throws ConvertError (kNotConvertible) where others are
// open or two axes have that size.
std::optional<size_t> row_axis(const TensorType& type, const OpenSize& rows);

// The operator has a proof here, which may fail for the arguments of a node.
bool may_be_row_wise(const TorchNode& node);

// The size of the axis along which the node is row by row; nothing for a node whose sizes are all known, or of which a
// type isn't. Throws ConvertError (kNotConvertible) with the reason where it reads or gives sizes that aren't known and
// isn't shown to be row by row.
std::optional<OpenSize> rows_of(const TorchNode& node, const TypeMap& types);

}  // namespace nnapi_convert
