// SPDX-License-Identifier: BSD-3-Clause
// Compiles a model for arguments of certain shapes, and runs it.
#pragma once

#include <memory>
#include <string>

#include "lib/shim/devices.h"
#include "lib/shim/execution.h"
#include "lib/shim/model_builder.h"
#include "lib/shim/sha256.h"

namespace nnapi_shim {

// The token by which NNAPI tells cached compilations apart: the SHA-256 of the format's version, the relax flag,
// whether the weights are copied, the patched words and the digest of the weights. NNAPI itself adds the device and the
// version of its driver. A driver that could not map the weights may have kept a model of zeros: a copy has another
// token.
struct CacheToken {
  uint8_t bytes[Sha256::kDigestBytes];
};
CacheToken make_cache_token(const ModelView& view, const uint8_t weights_digest[Sha256::kDigestBytes], bool copies);

// Several threads may run one compiled model at the same time.
class CompiledModel {
 public:
  // Builds the model, asks the chosen devices which operations they support, and compiles. A null `choice` means the
  // options' own choice, a null `token` no cache. `library` and `options` have to outlive the result; the others need
  // not. Failures are NNAPI_SHIM_REFUSED,
  // NNAPI_SHIM_TOO_OLD, NNAPI_SHIM_NO_DEVICE, NNAPI_SHIM_BAD_ARGUMENT or NNAPI_SHIM_TIMED_OUT.
  static std::shared_ptr<CompiledModel> make(const NnapiLibrary& library, const Options& options, const ModelView& view,
                                             std::shared_ptr<const WeightMemory> weights, const DeviceChoice* choice,
                                             const CacheToken* token, int* status, nnapi_shim_error* error);
  // For make() only: the object is not compiled yet.
  CompiledModel(const NnapiLibrary& library, const Options& options, std::shared_ptr<const WeightMemory> weights);
  ~CompiledModel();
  CompiledModel(const CompiledModel&) = delete;
  CompiledModel& operator=(const CompiledModel&) = delete;

  int run(const RunBuffers& buffers, DeviceTimes* times, nnapi_shim_error* error) {
    return executions_->run(buffers, times, error);
  }

  uint64_t build_ns() const { return build_ns_; }
  uint64_t compile_ns() const { return compile_ns_; }
  const std::string& devices() const { return choice_.names; }
  bool weights_are_mapped() const { return model_.weights().memory() != nullptr; }
  bool copies_weights() const { return model_.weights().copies(); }
  const std::string& forbidden() const { return choice_.forbidden; }  // as DeviceChoice::forbidden

 private:
  int compile(const ModelView& view, const CacheToken* token, nnapi_shim_error* error);
  int create(nnapi_shim_error* error);
  int set_options(const ModelView& view, const CacheToken* token, nnapi_shim_error* error);
  int fail_call(const char* function, int code, nnapi_shim_error* error);

  const NnapiLibrary& library_;
  const Options& options_;
  BuiltModel model_;
  DeviceChoice choice_;
  ANeuralNetworksCompilation* compilation_ = nullptr;
  std::unique_ptr<ExecutionPool> executions_;
  uint64_t build_ns_ = 0, compile_ns_ = 0;
};

}  // namespace nnapi_shim
