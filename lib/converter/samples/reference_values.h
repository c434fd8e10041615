// SPDX-License-Identifier: BSD-3-Clause
// Records the intermediate values that TorchScript computes for a model, also in branches and in each round of loops.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "lib/converter/graph/normalised_model.h"

namespace torch::jit {
struct Code;
}

namespace nnapi_convert {

using ReferenceValues = std::unordered_map<std::string, at::Tensor>;

// The names of the values of one block to record.
struct ReferenceRequest {
  std::vector<std::string> made;    // values that nodes of the block make
  std::vector<std::string> wanted;  // values among `made` to record, as they are when made, before later changes
  std::vector<std::string> read;    // values to record as they are when the values in `made` are computed from them
};

class Reference {
 public:
  // Changes the model's graph. Ignores names that the graph doesn't have.
  Reference(NormalisedModel model, const std::vector<ReferenceRequest>& requests);

  // Runs the model. Returns for each request the tensors of each run of its block; none if a branch is not taken.
  // Throws c10::Error if the model fails to run.
  std::vector<std::vector<ReferenceValues>> run(const std::vector<at::Tensor>& inputs) const;

 private:
  struct Slot {
    size_t request;
    std::string name;  // empty: a run of the request's block begins
  };
  class Recording;

  NormalisedModel model_;
  std::vector<Slot> slots_;
  size_t requests_;
  std::shared_ptr<const torch::jit::Code> code_;
};

}  // namespace nnapi_convert
