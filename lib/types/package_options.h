// SPDX-License-Identifier: BSD-3-Clause
// One model of a package, as --package gives it: the options that differ from those of the conversion.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/types/options.h"

namespace nnapi_convert {

struct PackageRequest {
  std::string name;  // the text of its --package, without spaces
  std::optional<int> feature_level;
  std::optional<QuantMode> quant;
  std::vector<InputSpec> inputs;  // sizes in place of those of --input; none: those of --input
  bool is_per_channel = false;    // needs weights with a scale per channel; `quant` is then nnapi unless given
  bool relax_fp16 = false;

  bool is_quantised() const { return quant && *quant != QuantMode::kNone; }
};

}  // namespace nnapi_convert
