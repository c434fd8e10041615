// SPDX-License-Identifier: BSD-3-Clause
#include "lib/shim/call_contexts.h"

#include <utility>

namespace nnapi_shim {

std::unique_ptr<program::Context> CallContexts::take() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<program::Context> context = std::move(idle_.back());
      idle_.pop_back();
      return context;
    }
  }
  return std::make_unique<program::Context>();
}

void CallContexts::give_back(std::unique_ptr<program::Context> context) {
  if (context->pool.bytes_in_use() > 0) return;
  context->failure[0] = '\0';
  const std::lock_guard<std::mutex> lock(mutex_);
  idle_.push_back(std::move(context));
}

}  // namespace nnapi_shim
