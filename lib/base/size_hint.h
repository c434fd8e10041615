// SPDX-License-Identifier: BSD-3-Clause
// The hint of refusals whose `needed` names the size that a tensor has to have.
#pragma once

namespace nnapi_convert {

constexpr const char* kSeeInput = "see --input";

}  // namespace nnapi_convert
