// SPDX-License-Identifier: BSD-3-Clause
// Declares what all files of the C interface use: the objects behind the handles, null checks, the guard of each call.
#pragma once

#include <memory>
#include <string>

#include "lib/host_runtime/compilation.h"
#include "lib/host_runtime/device.h"
#include "lib/host_runtime/event.h"
#include "lib/host_runtime/execution.h"
#include "lib/host_runtime/failure.h"
#include "lib/host_runtime/feature_level.h"
#include "lib/host_runtime/guard.h"
#include "lib/host_runtime/memory.h"
#include "lib/host_runtime/memory_descriptor.h"
#include "lib/host_runtime/model.h"
#include "lib/host_runtime/neural_networks.h"

struct ANeuralNetworksModel {
  std::shared_ptr<nnapi_convert::host::Model> model;
};
struct ANeuralNetworksCompilation {
  std::shared_ptr<nnapi_convert::host::Compilation> compilation;
};
struct ANeuralNetworksExecution {
  std::shared_ptr<nnapi_convert::host::Execution> execution;
};
struct ANeuralNetworksBurst {
  nnapi_convert::host::Burst burst;
};
struct ANeuralNetworksEvent {
  std::shared_ptr<const nnapi_convert::host::Event> event;
};
struct ANeuralNetworksMemory {
  std::shared_ptr<nnapi_convert::host::Memory> memory;
};
struct ANeuralNetworksMemoryDesc {
  nnapi_convert::host::MemoryDescriptor descriptor;
};
struct ANeuralNetworksDevice {
  nnapi_convert::host::Device device;
};

namespace nnapi_convert::host {

// Fails if the offered feature level lacks the function.
void require_level(const char* function);

inline void require(const void* pointer, const char* what) {
  if (!pointer) fail(ResultCode::UNEXPECTED_NULL, "{}: null found", what);
}

// Checks that `result` is not null and sets it to null until the call succeeds; `what` names it in the sentence.
template <typename T>
void require_result(T** result, const char* what) {
  require(result, what);
  *result = nullptr;
}

// Runs a call of the C interface. Turns every exception into a result code, and prints each refusal on stderr.
template <typename Body>
int guarded(const char* function, const Body& body) {
  return static_cast<int>(guarded_code([&] {
    require_level(function);
    body();
  }));
}

// Checks and returns the devices of a call.
std::vector<const Device*> chosen_devices(const ANeuralNetworksDevice* const* devices, uint32_t count);

}  // namespace nnapi_convert::host
