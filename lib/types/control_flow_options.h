// SPDX-License-Identifier: BSD-3-Clause
// Checks --control-flow against the other options. The check needs no model and no LibTorch.
#pragma once

#include <fmt/format.h>

#include "lib/base/error.h"
#include "lib/types/options.h"

namespace nnapi_convert {

// NNAPI's IF and WHILE run other NNAPI models, and PyTorch's loader can't make these. Throws ConvertError (kUsage).
inline void check_control_flow(const PlanOptions& options) {
  constexpr int kLevel = 4;
  if (options.control_flow == ControlFlow::kRefuse) return;
  if (options.runtime != Runtime::kShim) {
    throw ConvertError(ExitCode::kUsage, "--control-flow nnapi: runtime pytorch found, --runtime shim needed");
  }
  if (options.target_level() < kLevel) {
    throw ConvertError(ExitCode::kUsage, fmt::format("--control-flow nnapi: feature level {} found, {} needed; use "
                                                     "--feature-level {}",
                                                     options.target_level(), kLevel, kLevel));
  }
}

}  // namespace nnapi_convert
