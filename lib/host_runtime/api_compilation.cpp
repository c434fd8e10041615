// SPDX-License-Identifier: BSD-3-Clause
// The C interface: compilations.
#include "lib/host_runtime/api.h"

using namespace nnapi_convert::host;

int ANeuralNetworksCompilation_create(ANeuralNetworksModel* model, ANeuralNetworksCompilation** compilation) {
  return guarded(__func__, [&] {
    require_result(compilation, "compilation");
    require(model, "compilation: model");
    *compilation =
        new ANeuralNetworksCompilation{std::make_shared<Compilation>(model->model, std::vector<const Device*>())};
  });
}

int ANeuralNetworksCompilation_createForDevices(ANeuralNetworksModel* model,
                                                const ANeuralNetworksDevice* const* devices, uint32_t deviceCount,
                                                ANeuralNetworksCompilation** compilation) {
  return guarded(__func__, [&] {
    require_result(compilation, "compilation");
    require(model, "compilation: model");
    *compilation = new ANeuralNetworksCompilation{
        std::make_shared<Compilation>(model->model, chosen_devices(devices, deviceCount))};
  });
}

void ANeuralNetworksCompilation_free(ANeuralNetworksCompilation* compilation) {
  delete compilation;
}

int ANeuralNetworksCompilation_setPreference(ANeuralNetworksCompilation* compilation, int32_t preference) {
  return guarded(__func__, [&] {
    require(compilation, "setPreference: compilation");
    compilation->compilation->set_preference(preference);
  });
}

int ANeuralNetworksCompilation_setPriority(ANeuralNetworksCompilation* compilation, int priority) {
  return guarded(__func__, [&] {
    require(compilation, "setPriority: compilation");
    compilation->compilation->set_priority(priority);
  });
}

int ANeuralNetworksCompilation_setTimeout(ANeuralNetworksCompilation* compilation, uint64_t duration) {
  return guarded(__func__, [&] {
    require(compilation, "setTimeout: compilation");
    compilation->compilation->set_timeout(duration);
  });
}

int ANeuralNetworksCompilation_setCaching(ANeuralNetworksCompilation* compilation, const char* cacheDir,
                                          const uint8_t* token) {
  return guarded(__func__, [&] {
    require(compilation, "setCaching: compilation");
    require(cacheDir, "setCaching: directory");
    require(token, "setCaching: token");
    compilation->compilation->set_caching(cacheDir, token);
  });
}

int ANeuralNetworksCompilation_finish(ANeuralNetworksCompilation* compilation) {
  return guarded(__func__, [&] {
    require(compilation, "finish: compilation");
    compilation->compilation->finish();
  });
}

int ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput(const ANeuralNetworksCompilation* compilation,
                                                                   uint32_t index, uint32_t* alignment) {
  return guarded(__func__, [&] {
    require(compilation, "getPreferredMemoryAlignmentForInput: compilation");
    require(alignment, "getPreferredMemoryAlignmentForInput");
    *alignment = compilation->compilation->preferred_alignment(Direction::kInput, index);
  });
}

int ANeuralNetworksCompilation_getPreferredMemoryPaddingForInput(const ANeuralNetworksCompilation* compilation,
                                                                 uint32_t index, uint32_t* padding) {
  return guarded(__func__, [&] {
    require(compilation, "getPreferredMemoryPaddingForInput: compilation");
    require(padding, "getPreferredMemoryPaddingForInput");
    *padding = compilation->compilation->preferred_padding(Direction::kInput, index);
  });
}

int ANeuralNetworksCompilation_getPreferredMemoryAlignmentForOutput(const ANeuralNetworksCompilation* compilation,
                                                                    uint32_t index, uint32_t* alignment) {
  return guarded(__func__, [&] {
    require(compilation, "getPreferredMemoryAlignmentForOutput: compilation");
    require(alignment, "getPreferredMemoryAlignmentForOutput");
    *alignment = compilation->compilation->preferred_alignment(Direction::kOutput, index);
  });
}

int ANeuralNetworksCompilation_getPreferredMemoryPaddingForOutput(const ANeuralNetworksCompilation* compilation,
                                                                  uint32_t index, uint32_t* padding) {
  return guarded(__func__, [&] {
    require(compilation, "getPreferredMemoryPaddingForOutput: compilation");
    require(padding, "getPreferredMemoryPaddingForOutput");
    *padding = compilation->compilation->preferred_padding(Direction::kOutput, index);
  });
}
