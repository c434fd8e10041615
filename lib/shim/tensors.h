// SPDX-License-Identifier: BSD-3-Clause
// The shapes of a call's arguments, and the inputs and outputs that a model has for them, as callers see them.
#pragma once

#include <vector>

#include "lib/shim/failure.h"
#include "lib/shim/model_view.h"

namespace nnapi_shim {

// The caller's shapes, one for each argument of forward; refers to the caller's memory.
struct CallShapes {
  const nnapi_shim_shape* arguments;
  uint32_t count;

  CallShapes(const nnapi_shim_shape* first, uint32_t number) : arguments(first), count(number) {}
  CallShapes(const std::vector<nnapi_shim_shape>& all)  // NOLINT(google-explicit-constructor)
      : CallShapes(all.data(), static_cast<uint32_t>(all.size())) {}
  // Returns for each argument its rank, then its sizes.
  std::vector<int64_t> key() const;
};

struct CallTensors {
  std::vector<nnapi_shim_tensor> inputs, outputs;
};

// Fails unless there is a shape for each argument, of a rank that is possible.
int check_shapes(const CallShapes& shapes, uint32_t argument_count, nnapi_shim_error* error);

// Returns whether the same buffer can hold both, whichever arguments they are of.
bool has_same_form(const nnapi_shim_tensor& a, const nnapi_shim_tensor& b);

// Describes the main model's inputs or outputs. Returns NNAPI_SHIM_BAD_MODEL if one is no tensor or larger than memory.
int describe_tensors(const SubgraphView& main, const std::vector<BoundaryView>& boundary,
                     std::vector<nnapi_shim_tensor>* tensors, nnapi_shim_error* error);

}  // namespace nnapi_shim
