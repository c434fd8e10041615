// SPDX-License-Identifier: BSD-3-Clause
// Gives callers float tensors for inputs and outputs of a package's model that are 8-bit integers, if they are floats
// in another model of the package.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/shim/model.h"
#include "lib/shim/tensor_types.h"

namespace nnapi_shim {

// The inputs and outputs that callers see as floats.
struct FloatBoundary {
  std::vector<uint8_t> inputs, outputs;  // 1: callers see floats

  // Adds the inputs and outputs that are floats in a further model.
  void add(const ModelBuffer& buffer);
  // Returns whether a model has 8-bit integers for one of them.
  bool converts(const ModelBuffer& buffer) const;
};

// Returns the tensors as callers see them: as floats where `floats` is 1.
std::vector<nnapi_shim_tensor> as_floats(const std::vector<nnapi_shim_tensor>& tensors,
                                         const std::vector<uint8_t>& floats);

// Runs the model with the callers' buffers, as Model::run() does. Converts tensors that are floats for callers and
// integers in the model.
int run_with_floats(Model& model, const FloatBoundary& boundary, const CallShapes& shapes, const RunBuffers& buffers,
                    nnapi_shim_error* error);

}  // namespace nnapi_shim
