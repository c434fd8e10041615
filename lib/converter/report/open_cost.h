// SPDX-License-Identifier: BSD-3-Clause
// Says what open sizes of arguments cost: plans the model for one set of sizes, too, and compares the two plans.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lib/converter/convert.h"
#include "lib/converter/report/target_loss.h"

namespace nnapi_convert {

struct OpenCost {
  std::vector<std::string> sizes;   // "size 2 of x", those that a call chooses
  std::vector<std::string> guards;  // "size 3 of x is size 2 of x": what each call is checked for
  std::string fixed_input;          // "--input 1,3,96,96", the sizes of the other plan
  Coverage open, fixed;             // `fixed` doesn't convert where the model doesn't take such sizes
};

// Returns nothing for a conversion without open sizes. `loaded` is the original, for which `options` were made.
std::optional<OpenCost> open_cost(const LoadedModel& loaded, const ConvertOptions& options,
                                  const Conversion& conversion);

// Returns lines for the terminal.
std::string to_text(const OpenCost& cost);
nlohmann::json to_json(const OpenCost& cost);

}  // namespace nnapi_convert
