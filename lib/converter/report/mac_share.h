// How much of a partitioned model goes to NNAPI, by multiply-adds and by the operations that make them.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "lib/converter/emit/conversion.h"

namespace nnapi_convert {

struct MacShare {
  int64_t nnapi = 0, all = 0;               // multiply-adds that are counted: in NNAPI's part, and in the model
  int64_t estimated = 0;                    // of all, those for an estimate of sizes
  size_t nnapi_products = 0, products = 0;  // convolutions, products of matrices and their like
  size_t uncounted = 0;                     // of the products, those whose multiply-adds aren't known
  size_t unknown = 0;                       // other operators on the CPU, whose cost isn't known
  bool counts_rounds = true;                // false: something in a loop is counted for one round

  // Nothing is left out.
  bool counts_all() const { return uncounted == 0 && unknown == 0; }
  double of_counted(int64_t macs) const { return all == 0 ? 0 : static_cast<double>(macs) / static_cast<double>(all); }
  // NNAPI's share; nothing where not all is counted.
  std::optional<double> share() const { return counts_all() ? std::optional<double>(of_counted(nnapi)) : std::nullopt; }
};

MacShare mac_share(const Conversion& conversion);

// "98.1 % of the multiply-adds"; where some aren't counted, first by number: "3 of 5 convolutions and products, 98.1 %
// of the multiply-adds that can be counted".
std::string to_text(const MacShare& share);
// "; not counted: 2 on the CPU whose sizes aren't known before the model runs, 1 on the CPU whose cost isn't known",
// and what else the numbers leave out. Empty where they leave out nothing.
std::string limits_text(const MacShare& share);

// By `products` of the report's schema.
nlohmann::json products_json(const MacShare& share);
// The share, or null.
nlohmann::json share_json(const std::optional<double>& share);

}  // namespace nnapi_convert
