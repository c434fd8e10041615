// What TorchScript computes on the way from a model's inputs to its outputs, also in branches and in each round of
// loops.
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

// Values of a model's graph, by their names.
struct ReferenceRequest {
  std::vector<std::string> made;    // of one block
  std::vector<std::string> wanted;  // of these; each as it was when it was made, whatever changes it later
  std::vector<std::string> read;    // wanted too, as they are when what is made is computed from them
};

class Reference {
 public:
  // Changes the model's graph. Names that the graph has not are left out.
  Reference(NormalisedModel model, const std::vector<ReferenceRequest>& requests);

  // The tensors of each request, once for each run of the block that they are of: none for a branch that isn't taken.
  // Throws c10::Error where the model doesn't run.
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
