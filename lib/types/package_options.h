// SPDX-License-Identifier: BSD-3-Clause
// One model of a package, as --package gives it: what differs from the other options of the conversion.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/types/options.h"

namespace nnapi_convert {

struct PackageRequest {
  std::string name;  // its text, without spaces
  std::optional<int> feature_level;
  std::optional<QuantMode> quant;
  std::vector<InputSpec> inputs;  // sizes in place of those of --input; none: the same
  bool is_per_channel = false;    // has to have weights with a scale per channel; without `quant` it is nnapi
  bool relax_fp16 = false;

  bool is_quantised() const { return quant && *quant != QuantMode::kNone; }
};

}  // namespace nnapi_convert
