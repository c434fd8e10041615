// Operands of several dtypes: PyTorch's rules of type promotion, and arguments brought to the promoted dtype.
#pragma once

#include "lib/ops/expression.h"

namespace nnapi_convert {

// The dtype of the named arguments combined, tensors or numbers: tensors of rank 1 or more decide, then those of rank
// 0, then numbers, and a lower kind counts only where it is of a higher class (bool, integer, float). Refuses what
// NNAPI has no type for, and quantised tensors.
at::ScalarType promoted_dtype(const OpArguments& args, const std::vector<std::string>& names);
// The sizes of the named arguments broadcast against each other; numbers have none. Refuses a rank above 4.
Dims broadcast_dims(const OpArguments& args, const std::vector<std::string>& names);
// The type of an elementwise operation on the named arguments.
TensorType promoted_type(const OpArguments& args, const std::vector<std::string>& names);
// float32 for integers and bool, as of a division or a root.
at::ScalarType float_of(at::ScalarType dtype);

// True if the argument is a number or a constant with one element.
bool is_number(const OpArguments& args, const std::string& name);
// Its value.
double number_value(const OpArguments& args, const std::string& name);
// True if the argument is a number or a constant tensor.
bool is_known(const OpArguments& args, const std::string& name);
// An argument, tensor or number, as an operand of that dtype, times a factor; constants are converted here, the rest by
// CAST and MUL.
Expression argument_as(OpContext& ctx, const std::string& name, at::ScalarType dtype, double factor = 1);
// A constant tensor as an operand.
Expression tensor_constant(OpContext& ctx, const at::Tensor& value);

}  // namespace nnapi_convert
