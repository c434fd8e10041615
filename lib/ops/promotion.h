// SPDX-License-Identifier: BSD-3-Clause
// Implements PyTorch's type promotion: finds the common dtype of arguments, and casts arguments to it.
#pragma once

#include "lib/ops/expression.h"

namespace nnapi_convert {

// Returns the promoted dtype of the named arguments, tensors or numbers. Tensors of rank 1 or more decide; tensors of
// rank 0, and after them numbers, change the dtype only if they are of a higher class (bool, integer, float). Refuses
// dtypes that NNAPI doesn't have, and quantised tensors.
at::ScalarType promoted_dtype(const OpArguments& args, const std::vector<std::string>& names);
// Returns the sizes of the named arguments broadcast against each other; numbers have none. Refuses a rank above 4.
Dims broadcast_dims(const OpArguments& args, const std::vector<std::string>& names);
// Returns the result type of an elementwise operation on the named arguments.
TensorType promoted_type(const OpArguments& args, const std::vector<std::string>& names);
// Returns the result dtype of operations such as division or square root: float32 for integers and bool.
at::ScalarType float_of(at::ScalarType dtype);

// True if the argument is a whole number that the model computes, as from its inputs' flexible sizes.
bool is_size(const OpArguments& args, const std::string& name);
// True if the argument is a number or a constant with one element.
bool is_number(const OpArguments& args, const std::string& name);
// Returns the value of an argument for which is_number() is true.
double number_value(const OpArguments& args, const std::string& name);
// True if the argument is a number or a constant tensor.
bool is_known(const OpArguments& args, const std::string& name);
// Returns a tensor or number argument, cast to the dtype and multiplied by the factor: constants at conversion, other
// arguments by CAST and MUL. Takes numbers computed from flexible sizes; refuses other numbers computed at run time.
Expression argument_as(OpContext& ctx, const std::string& name, at::ScalarType dtype, double factor = 1);
// Makes an operand of a constant tensor.
Expression tensor_constant(OpContext& ctx, const at::Tensor& value);

}  // namespace nnapi_convert
