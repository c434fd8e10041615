#include "lib/converter/mac_share.h"

#include <fmt/format.h>

namespace nnapi_convert {

MacShare mac_share(const Conversion& conversion) {
  MacShare result;
  for (const SegmentSummary& segment : conversion.segments) {
    result.nnapi += segment.macs;
    result.nnapi_products += segment.products;
    if (segment.rows) result.estimated += segment.macs;
  }
  result.all = result.nnapi;
  result.products = result.nnapi_products;
  for (const CpuNode& node : conversion.cpu_nodes) {
    result.all += node.macs.value_or(0);
    if (node.is_estimated) result.estimated += node.macs.value_or(0);
    if (!node.macs) ++result.uncounted;
    if (node.macs.value_or(1) > 0) ++result.products;
  }
  return result;
}

std::string to_text(const MacShare& share) {
  if (share.uncounted == 0) return fmt::format("{:.1f} % of the multiply-adds", 100 * share.share());
  return fmt::format("{} of {} convolutions and products, {:.1f} % of the multiply-adds that can be counted",
                     share.nnapi_products, share.products, 100 * share.share());
}

nlohmann::json products_json(const MacShare& share) {
  return {{"nnapi", share.nnapi_products}, {"all", share.products}, {"uncounted", share.uncounted}};
}

}  // namespace nnapi_convert
