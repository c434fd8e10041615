// SPDX-License-Identifier: BSD-3-Clause
// Makes models in float16, bfloat16 or float64 compute in float32. Casts keep the dtypes of the inputs and results.
#pragma once

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include <memory>
#include <vector>

#include "lib/converter/graph/float_width.h"

namespace nnapi_convert {

// Turns constants, and casts to other widths, into float32. Casts floating-point inputs, and what is read from
// attributes, to float32; casts results, and what is stored in attributes, back to their original dtype. Tensors in
// lists, dicts, tuples and optionals are cast, too. `width` is that of the model (float_width.h), `arguments` what is
// stated of graph inputs, by their numbers. Throws ConvertError (kNotConvertible) for a model
// that changes a container that it is given or reads from an attribute, and for a result whose tensors have several
// dtypes.
void compute_in_float32(const std::shared_ptr<torch::jit::Graph>& graph, at::ScalarType width,
                        const StatedFloats& arguments);

// Makes steps of a float32 model that compute in float16 or bfloat16, as torch.autocast makes them, compute in float32,
// as compute_in_float32() does. Returns the dtypes of these steps; none: the graph has no such step and stays as it is.
// `graph` is the frozen module's forward.
std::vector<at::ScalarType> compute_steps_in_float32(const torch::jit::Module& module,
                                                     const std::shared_ptr<torch::jit::Graph>& graph,
                                                     const StatedFloats& arguments);

}  // namespace nnapi_convert
