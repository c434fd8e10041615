// How much of a partitioned model goes to NNAPI, by multiply-adds and by the operations that make them.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "lib/converter/convert.h"

namespace nnapi_convert {

struct MacShare {
  int64_t nnapi = 0, all = 0;               // multiply-adds that are counted: in NNAPI's part, and in the model
  int64_t estimated = 0;                    // of all, those for an estimate of sizes
  size_t nnapi_products = 0, products = 0;  // convolutions, products of matrices and their like
  size_t uncounted = 0;                     // of the products, those whose sizes aren't known: the CPU runs them

  double of_all(int64_t macs) const { return all == 0 ? 0 : static_cast<double>(macs) / static_cast<double>(all); }
  double share() const { return of_all(nnapi); }
};

MacShare mac_share(const Conversion& conversion);

// "98.1 % of the multiply-adds"; where some aren't counted, first by number: "3 of 5 convolutions and products, 98.1 %
// of the multiply-adds that can be counted".
std::string to_text(const MacShare& share);

// By `products` of the report's schema.
nlohmann::json products_json(const MacShare& share);

}  // namespace nnapi_convert
