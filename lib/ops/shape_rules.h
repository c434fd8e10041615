// Shape rules that several families share, and the arithmetic of sizes behind them.
#pragma once

#include "lib/ops/op_rule.h"

namespace nnapi_convert {

// The highest rank of a tensor between operations: NNAPI takes 4, and axes are merged where an operation allows it.
constexpr size_t kHighestRank = 8;

// The type of argument "self" (or "input"), unchanged.
std::vector<ValueType> same_as_self(const OpArguments& args);
std::vector<ValueType> same_as_input(const OpArguments& args);

// The same where it is float32, or float32 or quint8; refuses another dtype.
std::vector<ValueType> float_self(const OpArguments& args);
std::vector<ValueType> float_or_quantized_self(const OpArguments& args);
// A quint8 tensor with the scale and zero point that the arguments output_scale and output_zero_point give.
std::vector<ValueType> given_quantization(const OpArguments& args);
// "self", or what the schema calls its first tensor: "input", "qx".
std::string tensor_name(const OpArguments& args);

// The sizes of two operands broadcast against each other by PyTorch's rule. Sizes that depend on inputs and can't be
// shown equal are taken to be equal, but for those that never are; NNAPI checks them when the model is built on the
// device.
Dims broadcast(const OpArguments& args, const Dims& a, const Dims& b);

// `axis` counted from the front; refuses one out of range.
int64_t checked_axis(const OpArguments& args, int64_t axis, size_t rank);

// The axes of the argument `dim`, a number or a list, counted from the front and in order; all axes where the operator
// has no such argument, or where it is None or empty.
std::vector<int64_t> reduced_axes(const OpArguments& args, const TensorType& self);
// What is left of the sizes: without the axes, or with size 1 there.
Dims without_axes(const Dims& dims, const std::vector<int64_t>& axes, bool keeps_axes);
// The argument `keepdim`; false where there is none.
bool keeps_axes(const OpArguments& args);

// Output size of a window that slides over `input`: floor((input + padding - dilation * (kernel - 1) - 1) / stride)
// + 1.
Dim window_output(const Dim& input, int64_t padding, int64_t dilation, int64_t kernel, int64_t stride);

// [N, C, H, W] of the sizes of a tensor with `spatial` axes after the channels: it may lack N, and lacks H where
// `spatial` is 1.
Dims as_image(const Dims& dims, size_t spatial);

// Refuses fixed sizes below 1.
void require_positive(const OpArguments& args, const Dims& dims);
// Refuses another rank.
void require_rank(const OpArguments& args, const TensorType& type, size_t lowest, size_t highest);
// Refuses everything but float32.
void require_float(const OpArguments& args, const TensorType& type);
// Refuses everything but float32 and quint8.
void require_float_or_quantized(const OpArguments& args, const TensorType& type);

}  // namespace nnapi_convert
