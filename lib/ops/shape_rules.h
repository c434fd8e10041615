// SPDX-License-Identifier: BSD-3-Clause
// Shape rules and arithmetic on sizes that several families share.
#pragma once

#include "lib/ops/op_rule.h"

namespace nnapi_convert {

// The highest rank of a tensor in the graph. NNAPI takes rank 4 at most: rules merge axes if an operation allows it.
constexpr size_t kHighestRank = 8;

// Return the type of argument "self" or "input", unchanged.
std::vector<ValueType> same_as_self(const OpArguments& args);
std::vector<ValueType> same_as_input(const OpArguments& args);

// Return the type of argument "self"; refuse dtypes other than float32, or other than float32 and quint8.
std::vector<ValueType> float_self(const OpArguments& args);
std::vector<ValueType> float_or_quantized_self(const OpArguments& args);
// Returns a quint8 type with the scale and zero point of the arguments output_scale and output_zero_point.
std::vector<ValueType> given_quantization(const OpArguments& args);
// Returns the schema's name of the first tensor: "self", "input" or "qx".
std::string tensor_name(const OpArguments& args);

// Returns the sizes of two operands broadcast against each other by PyTorch's rule. Sizes that depend on the inputs are
// assumed to be equal, unless they can never be; NNAPI checks them when it builds the model on the device.
Dims broadcast(const OpArguments& args, const Dims& a, const Dims& b);

// Returns `axis` counted from the front; refuses an axis out of range.
int64_t checked_axis(const OpArguments& args, int64_t axis, size_t rank);

// Returns the axes of the argument `dim`, a number or a list, counted from the front and sorted; all axes if the
// operator has no such argument, or if it is None or empty.
std::vector<int64_t> reduced_axes(const OpArguments& args, const TensorType& self);
// Returns the sizes without the axes, or with size 1 there if `keeps_axes`.
Dims without_axes(const Dims& dims, const std::vector<int64_t>& axes, bool keeps_axes);
// Returns the argument `keepdim`; false if there is none.
bool keeps_axes(const OpArguments& args);

// Returns the output size of a window that slides over `input`:
// floor((input + padding - dilation * (kernel - 1) - 1) / stride) + 1.
Dim window_output(const Dim& input, int64_t padding, int64_t dilation, int64_t kernel, int64_t stride);

// Returns the sizes of a tensor as [N, C, H, W]. The tensor has `spatial` axes after the channels: it may lack N, and
// lacks H if `spatial` is 1.
Dims as_image(const Dims& dims, size_t spatial);

// Refuses fixed sizes below 1.
void require_positive(const OpArguments& args, const Dims& dims);
// Refuses a rank below `lowest` or above `highest`.
void require_rank(const OpArguments& args, const TensorType& type, size_t lowest, size_t highest);
// Returns what to do about float tensors of another dtype than float32: in a model without weights only the input has
// it.
std::string hint_for_floats(const torch::jit::Graph& graph);
// Refuses everything but float32.
void require_float(const OpArguments& args, const TensorType& type);
// Refuses everything but float32 and quint8.
void require_float_or_quantized(const OpArguments& args, const TensorType& type);

}  // namespace nnapi_convert
