// SPDX-License-Identifier: BSD-3-Clause
// An nnapi::Model that runs on the host's NNAPI, by way of the shim: no file is written and no LibTorch needed.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "lib/nnapi/model.h"
#include "lib/quantise/sample.h"

struct nnapi_shim_model;

namespace nnapi_convert::quantise {

class HostModel {
 public:
  // `arguments` are the sizes of forward's tensors, on which flexible sizes depend. `model` is not needed afterwards.
  // Throws ConvertError if the buffer can't be written.
  HostModel(nnapi::Model model, const std::vector<Dims>& arguments, int feature_level);

  // Returns the results' bytes, in the order of the model's outputs; they stay until the next run. Throws ConvertError
  // (kVerificationFailed) if NNAPI fails.
  const std::vector<Bytes>& run(const Sample& sample);
  // Runs the model and moves the results out, for a model that isn't needed afterwards.
  std::vector<Bytes> run_last(const Sample& sample) && {
    run(sample);
    return std::move(results_);
  }

 private:
  std::vector<int32_t> words_;
  Bytes weights_;
  std::shared_ptr<nnapi_shim_model> model_;
  std::vector<Bytes> results_;
};

}  // namespace nnapi_convert::quantise
