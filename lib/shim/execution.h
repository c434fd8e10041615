// SPDX-License-Identifier: BSD-3-Clause
// Runs a compiled model.
//
// NNAPI binds buffers to an execution once and for all. Where NNAPI can reuse executions (feature level 5), the pool
// keeps some of them, each with its buffers, and takes the one whose buffers have the caller's addresses. So callers
// that keep their buffers save the time to make and bind an execution. Executions with shared memory are made for each
// run, as an idle one would keep the memory mapped. NNAPI reads and writes buffers only while it
// computes: libneuralnetworks.so copies them to its drivers' processes for each computation. The drivers of support
// libraries run in the app's process and could keep a mapping of freed memory, so the pool does not reuse executions
// with them. Where NNAPI has bursts (level 3), each run that goes on at the same time uses a burst of its own.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "lib/shim/nnapi_library.h"
#include "lib/shim/options.h"
#include "lib/shim/shared_memory.h"
#include "lib/shim/tensors.h"

namespace nnapi_shim {

// The caller's buffers in the order of the model's inputs and outputs, with the sizes that the model needs.
struct RunBuffers {
  const nnapi_shim_buffer* inputs;
  uint32_t input_count;
  const nnapi_shim_buffer* outputs;
  uint32_t output_count;
  // Null, or as many places as `inputs` and `outputs`: a place with a memory holds its tensor, whatever the buffer's
  // address.
  const nnapi_shim_place* shared_inputs = nullptr;
  const nnapi_shim_place* shared_outputs = nullptr;

  bool has_shared() const { return shared_inputs != nullptr || shared_outputs != nullptr; }
};

// Check that the buffer of one tensor, or the buffers of all inputs and outputs, are there and have the right sizes.
int check_buffer(const char* what, uint32_t index, const nnapi_shim_buffer& found, size_t needed,
                 nnapi_shim_error* error);
int check_buffers(const RunBuffers& buffers, const CallTensors& tensors, nnapi_shim_error* error);

// Times of a run in nanoseconds; 0: not measured.
struct DeviceTimes {
  uint64_t on_device = 0, in_driver = 0;
};

// Several threads may call run() at the same time.
class ExecutionPool {
 public:
  // The arguments have to outlive the pool. `devices` are names for messages.
  ExecutionPool(const NnapiLibrary& library, const Options& options, ANeuralNetworksCompilation* compilation,
                const std::string& devices);
  ~ExecutionPool();
  ExecutionPool(const ExecutionPool&) = delete;
  ExecutionPool& operator=(const ExecutionPool&) = delete;

  // Runs the model once. After NNAPI_SHIM_FAILED or NNAPI_SHIM_TIMED_OUT, the content of the outputs is undefined.
  int run(const RunBuffers& buffers, DeviceTimes* times, nnapi_shim_error* error);

 private:
  struct Bound {
    ANeuralNetworksExecution* execution = nullptr;
    std::vector<const void*> addresses;  // of the inputs' buffers, then of the outputs'
  };

  bool may_reuse(const RunBuffers& buffers) const { return reuses_ && !buffers.has_shared(); }
  bool take_idle(const RunBuffers& buffers, Bound* bound, ANeuralNetworksBurst** burst);
  int make(const RunBuffers& buffers, Bound* bound, nnapi_shim_error* error);
  int set_options(ANeuralNetworksExecution* execution, bool is_reusable, nnapi_shim_error* error);
  int bind(const RunBuffers& buffers, ANeuralNetworksExecution* execution, nnapi_shim_error* error);
  int compute(ANeuralNetworksExecution* execution, ANeuralNetworksBurst* burst, const char** function);
  int compute_in_background(ANeuralNetworksExecution* execution, const char** function);
  void measure(const ANeuralNetworksExecution* execution, DeviceTimes* times);
  void give_back(Bound* bound, ANeuralNetworksBurst* burst, bool works, bool is_reusable);
  void drop(ANeuralNetworksExecution* execution, ANeuralNetworksBurst* burst);
  int fail_call(const char* function, int code, nnapi_shim_error* error);

  const NnapiLibrary& library_;
  const Options& options_;
  ANeuralNetworksCompilation* const compilation_;
  const std::string& devices_;
  const bool reuses_, bursts_;

  std::mutex mutex_;
  std::vector<Bound> idle_;  // the longest unused first
  std::vector<ANeuralNetworksBurst*> idle_bursts_;
  uint32_t burst_count_ = 0;
};

}  // namespace nnapi_shim
