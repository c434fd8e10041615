// SPDX-License-Identifier: BSD-3-Clause
// Finds operations that work row by row along an axis of unknown size: row i of each result depends only on row i of
// the inputs. Such an operation can run on any part of the rows.
#pragma once

#include <optional>

#include "lib/converter/graph/open_sizes.h"

namespace nnapi_convert {

// Returns the only axis of size `rows`; nothing if all sizes are fixed. Throws ConvertError (kNotConvertible) if the
// type has other open sizes, or two axes of size `rows`.
std::optional<size_t> row_axis(const TensorType& type, const OpenSize& rows);

// True if this unit has a proof for the operator. The proof may still fail for the node's arguments.
bool may_be_row_wise(const TorchNode& node);

// Returns the size of the axis along which the node works row by row; nothing if all its sizes are known, or if a type
// is unknown. Throws ConvertError (kNotConvertible) with the reason if the node has unknown sizes and can't be shown to
// work row by row.
std::optional<OpenSize> rows_of(const TorchNode& node, const TypeMap& types);

}  // namespace nnapi_convert
