// Makes models in float16, bfloat16 or float64 compute in float32. Casts keep the dtypes of the inputs and results.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <memory>

namespace nnapi_convert {

// Turns constants, and casts to `width`, into float32. Casts floating-point inputs, and what is read from attributes,
// to float32; casts results, and what is stored in attributes, back to their original dtype. Tensors in lists, dicts,
// tuples and optionals are cast, too. Throws ConvertError (kNotConvertible) for a model that changes a container that
// it is given or reads from an attribute, and for a result whose tensors have several dtypes.
void compute_in_float32(const std::shared_ptr<torch::jit::Graph>& graph, at::ScalarType width);

}  // namespace nnapi_convert
