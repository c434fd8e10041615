// SPDX-License-Identifier: BSD-3-Clause
// The C interface: executions in the background, events and sync fences.
#include "lib/host_runtime/api.h"

using namespace nnapi_convert::host;

namespace {

void start(ANeuralNetworksExecution* execution, std::vector<std::shared_ptr<const Event>> dependencies,
           uint64_t duration, ANeuralNetworksEvent** event) {
  *event = new ANeuralNetworksEvent;
  try {
    (*event)->event = execution->execution->start(std::move(dependencies), duration);
  } catch (...) {
    delete *event;
    *event = nullptr;
    throw;
  }
}

}  // namespace

int ANeuralNetworksExecution_startCompute(ANeuralNetworksExecution* execution, ANeuralNetworksEvent** event) {
  return guarded(__func__, [&] {
    require_result(event, "startCompute: event");
    require(execution, "startCompute: execution");
    start(execution, {}, 0, event);
  });
}

int ANeuralNetworksExecution_startComputeWithDependencies(ANeuralNetworksExecution* execution,
                                                          const ANeuralNetworksEvent* const* dependencies,
                                                          uint32_t numOfDependencies, uint64_t duration,
                                                          ANeuralNetworksEvent** event) {
  return guarded(__func__, [&] {
    require_result(event, "startComputeWithDependencies: event");
    require(execution, "startComputeWithDependencies: execution");
    if (numOfDependencies != 0) require(dependencies, "startComputeWithDependencies: dependencies");
    std::vector<std::shared_ptr<const Event>> events;
    for (uint32_t i = 0; i < numOfDependencies; ++i) {
      require(dependencies[i], "startComputeWithDependencies: dependency");
      events.push_back(dependencies[i]->event);
    }
    start(execution, std::move(events), duration, event);
  });
}

int ANeuralNetworksEvent_wait(ANeuralNetworksEvent* event) {
  nnapi_convert::ResultCode code = nnapi_convert::ResultCode::NO_ERROR;
  const int refused = guarded(__func__, [&] {
    require(event, "wait: event");
    code = event->event->wait();
  });
  return refused ? refused : static_cast<int>(code);
}

void ANeuralNetworksEvent_free(ANeuralNetworksEvent* event) {
  if (!event) return;
  guarded(__func__, [&] { event->event->wait(); });
  delete event;
}

int ANeuralNetworksEvent_createFromSyncFenceFd(int sync_fence_fd, ANeuralNetworksEvent** event) {
  return guarded(__func__, [&] {
    require_result(event, "createFromSyncFenceFd: event");
    *event = new ANeuralNetworksEvent{std::make_shared<const FenceEvent>(sync_fence_fd)};
  });
}

int ANeuralNetworksEvent_getSyncFenceFd(const ANeuralNetworksEvent* event, int* sync_fence_fd) {
  return guarded(__func__, [&] {
    require(sync_fence_fd, "getSyncFenceFd");
    *sync_fence_fd = -1;
    require(event, "getSyncFenceFd: event");
    *sync_fence_fd = event->event->fence();
    if (*sync_fence_fd < 0) bad_data("getSyncFenceFd: no sync fence is behind the event");
  });
}
