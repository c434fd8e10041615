// SPDX-License-Identifier: BSD-3-Clause
#include "lib/shim/call_contexts.h"

#include <utility>

namespace nnapi_shim {

std::unique_ptr<program::Context> CallContexts::take() {
  constexpr uint64_t kRandomApart = uint64_t{1} << 56;
  uint64_t number = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<program::Context> context = std::move(idle_.back());
      idle_.pop_back();
      return context;
    }
    number = made_++;
  }
  auto context = std::make_unique<program::Context>();
  context->random_state = number * kRandomApart;
  return context;
}

void CallContexts::give_back(std::unique_ptr<program::Context> context) {
  if (context->pool.bytes_in_use() > 0) return;
  context->failure[0] = '\0';
  const std::lock_guard<std::mutex> lock(mutex_);
  idle_.push_back(std::move(context));
}

}  // namespace nnapi_shim
