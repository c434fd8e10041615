// SPDX-License-Identifier: BSD-3-Clause
// Rewrites nodes of torchao, which rounds tensors in blocks, as PT2E's operators (quantised_nodes.h), which are one for
// each way in which blocks can lie.
#pragma once

#include <nlohmann/json.hpp>

namespace nnapi_convert {

// Renames quantize_affine, dequantize_affine and choose_qparams_affine of the program's graph, and their arguments.
// Throws ConvertError (kNotConvertible) for blocks that no operator of PT2E has, and for torchao's other operators.
void rename_affine_nodes(nlohmann::json& program);

}  // namespace nnapi_convert
