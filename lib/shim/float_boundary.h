// SPDX-License-Identifier: BSD-3-Clause
// Serves callers with float tensors where a model of a package takes or gives 8-bit integers, because another model of
// the package takes or gives floats there.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/shim/model.h"
#include "lib/shim/tensor_types.h"

namespace nnapi_shim {

// Which inputs and outputs callers see as floats.
struct FloatBoundary {
  std::vector<uint8_t> inputs, outputs;  // 1 or 0

  // Takes over the inputs and outputs that are floats in a further model.
  void add(const ModelBuffer& buffer);
  // Returns whether a model has 8-bit integers for one of them.
  bool converts(const ModelBuffer& buffer) const;
};

// Returns the tensors as callers see them.
std::vector<nnapi_shim_tensor> as_floats(const std::vector<nnapi_shim_tensor>& tensors,
                                         const std::vector<uint8_t>& floats);

// Runs the model with the callers' buffers, and converts where they hold floats and the model has integers. As
// Model::run() otherwise.
int run_with_floats(Model& model, const FloatBoundary& boundary, const CallShapes& shapes, const RunBuffers& buffers,
                    nnapi_shim_error* error);

}  // namespace nnapi_shim
