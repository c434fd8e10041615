// SPDX-License-Identifier: BSD-3-Clause
// The buffer and the TorchScript module of one NNAPI model.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <memory>
#include <optional>
#include <vector>

#include "lib/converter/plan/nnapi_part.h"
#include "lib/serialize/buffer_sample.h"
#include "lib/serialize/buffer_writer.h"
#include "lib/serialize/deferred_tensors.h"
#include "lib/serialize/emitted_class.h"
#include "lib/serialize/shim_buffer_writer.h"
#include "lib/types/stages.h"

namespace nnapi_convert {

struct EmittedPart {
  torch::jit::Module module;
  SerializedModel serialized;             // filled for PyTorch's runtime only
  std::shared_ptr<ShimBuffer> shim = {};  // filled for the shim only
  size_t buffer_bytes = 0;
  uint64_t weight_bytes = 0;
};

struct EmitRequest {
  const BundledInputs& bundled_inputs;
  std::optional<torch::jit::Module> cpu = {};  // the shim runs this module on devices without NNAPI
  ClassPlace place = {};
  std::vector<BufferSample> samples = {};  // the shim checks a device by them
  bool shares_weights = false;             // with other parts of the file
};

// Writes the buffer and makes the module, for the runtime that the options name. Its large weights are added to `late`.
EmittedPart emit_part(NnapiPart& part, const ConvertOptions& options, const EmitRequest& request, DeferredTensors& late,
                      Stages& stages);

// Lets segments for the shim share equal weights of some size with other segments: makes their compilations anew.
// `buffers` are those of the segments' modules. Returns groups, as share_weights() of buffers does.
std::vector<std::vector<size_t>> share_weights(const std::vector<torch::jit::Module>& segments,
                                               const std::vector<std::shared_ptr<ShimBuffer>>& buffers,
                                               DeferredTensors& late);

}  // namespace nnapi_convert
