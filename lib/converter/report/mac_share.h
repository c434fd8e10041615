// SPDX-License-Identifier: BSD-3-Clause
// Computes NNAPI's share of a partitioned model, by multiply-adds and by the operations that have multiply-adds.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "lib/converter/emit/conversion.h"

namespace nnapi_convert {

struct MacShare {
  int64_t nnapi = 0, all = 0;               // counted multiply-adds: in NNAPI's part, and in the model
  int64_t estimated = 0;                    // multiply-adds among `all` that are computed from estimated sizes
  size_t nnapi_products = 0, products = 0;  // operations with multiply-adds: convolutions, matrix products and similar
  size_t uncounted = 0;                     // operations among `products` whose multiply-adds are unknown
  size_t unknown = 0;                       // other operators on the CPU whose cost is unknown
  bool counts_rounds = true;                // false: a loop's multiply-adds are counted for one round only

  // True if the multiply-adds of all operations are counted.
  bool counts_all() const { return uncounted == 0 && unknown == 0; }
  double of_counted(int64_t macs) const { return all == 0 ? 0 : static_cast<double>(macs) / static_cast<double>(all); }
  // Returns NNAPI's share; nothing if not all multiply-adds are counted.
  std::optional<double> share() const { return counts_all() ? std::optional<double>(of_counted(nnapi)) : std::nullopt; }
};

MacShare mac_share(const Conversion& conversion);

// Returns for example "98.1 % of the multiply-adds"; if some are not counted, "3 of 5 convolutions and products, 98.1 %
// of the multiply-adds that can be counted".
std::string to_text(const MacShare& share);
// Returns a text that names everything the numbers leave out: "; not counted: 2 on the CPU whose sizes aren't known
// before the model runs, 1 on the CPU whose cost isn't known". Empty if they leave out nothing.
std::string limits_text(const MacShare& share);

// Returns the numbers in the form of `products` in the report's schema.
nlohmann::json products_json(const MacShare& share);
// Returns the share, or null.
nlohmann::json share_json(const std::optional<double>& share);

}  // namespace nnapi_convert
