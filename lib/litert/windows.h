// SPDX-License-Identifier: BSD-3-Clause
// Padding of convolutions and pools: NNAPI has numbers or a scheme, LiteRT schemes alone.
#pragma once

#include <array>
#include <optional>

#include "lib/litert/operation_writer.h"

namespace nnapi_convert::litert {

// A number for the height, then one for the width.
using Pair = std::array<int64_t, 2>;

struct Window {
  Pair filter{1, 1}, stride{1, 1}, dilation{1, 1};
  bool has_numbers = false;  // the padding is given as numbers
  Pair before{0, 0}, after{0, 0};
  Padding scheme = Padding::VALID;  // if the padding isn't explicit
};

// Reads stride, dilation and padding of the operation.
Window window_of(const OperationWriter& w, Pair filter);

// Drops padding at the end that no window reads, and returns the scheme that pads as much. Returns nothing if no scheme
// does: then pad the input by the numbers that are left in the window, and use VALID.
std::optional<Padding> find_scheme(Window& window, const nnapi::Operand& input, const nnapi::Operand& output);

// Appends a PAD of height and width, with zeros; in quantised tensors with the zero point.
TensorId padded(Graph& graph, TensorId input, const Window& window);
// Appends a PADV2 of height and width with the lowest number of the tensor's type.
TensorId padded_with_lowest(Graph& graph, TensorId input, const Window& window);

}  // namespace nnapi_convert::litert
