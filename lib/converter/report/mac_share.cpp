// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/report/mac_share.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/percent.h"

namespace nnapi_convert {
namespace {

bool is_in_loop(const std::vector<BlockPlace>& places) {
  return std::any_of(places.begin(), places.end(),
                     [](const BlockPlace& place) { return place.kind == BlockPlace::Kind::kLoop; });
}

// Adds `macs` to `sum`. Returns false where int64_t doesn't hold the sum.
bool add(int64_t macs, int64_t& sum) {
  return !__builtin_add_overflow(sum, macs, &sum);
}

void add(const SegmentSummary& segment, MacShare& share) {
  share.nnapi_products += segment.products;
  share.products += segment.products;
  share.uncounted += segment.uncounted;
  if (!add(segment.macs, share.all)) {
    share.uncounted += segment.products - segment.uncounted;
    return;
  }
  share.nnapi += segment.macs;
  if (segment.rows) share.estimated += segment.macs;
  if (segment.products > 0 && is_in_loop(segment.places)) share.counts_rounds = false;
}

void add(const CpuNode& node, MacShare& share) {
  const bool is_product = node.cost == CostKind::kProduct;
  if (!node.macs) ++(is_product ? share.uncounted : share.unknown);
  if (node.macs ? *node.macs > 0 : is_product) {
    ++share.products;
    if (node.is_in_loop) share.counts_rounds = false;
  }
  if (!add(node.macs.value_or(0), share.all)) {
    ++share.uncounted;
  } else if (node.is_estimated) {
    share.estimated += node.macs.value_or(0);
  }
}

}  // namespace

MacShare mac_share(const Conversion& conversion) {
  MacShare share;
  for (const SegmentSummary& segment : conversion.segments) add(segment, share);
  for (const CpuNode& node : conversion.cpu_nodes) add(node, share);
  return share;
}

std::string to_text(const MacShare& share) {
  const std::string percent = percent_text(share.nnapi, share.all);
  if (share.counts_all()) {
    return share.all == 0 ? "no multiply-adds, of which the model has none"
                          : fmt::format("{} % of the multiply-adds", percent);
  }
  return fmt::format("{} of {} convolutions and products, {} % of the multiply-adds that can be counted",
                     share.nnapi_products, share.products, percent);
}

std::string limits_text(const MacShare& share) {
  std::vector<std::string> left_out;
  if (share.uncounted > 0) {
    left_out.push_back(fmt::format("{} on the CPU whose sizes aren't known before the model runs", share.uncounted));
  }
  if (share.unknown > 0) {
    left_out.push_back(fmt::format("{} on the CPU of operators whose cost isn't known", share.unknown));
  }
  std::string text = left_out.empty() ? "" : fmt::format("; not counted: {}", fmt::join(left_out, ", "));
  if (share.estimated > 0) {
    text += fmt::format("; {} % of all {}are estimates, for sizes that depend on values",
                        percent_text(share.estimated, share.all), share.counts_all() ? "" : "that are counted ");
  }
  if (!share.counts_rounds) text += "; loops count with one round";
  return text;
}

nlohmann::json products_json(const MacShare& share) {
  return {{"nnapi", share.nnapi_products},
          {"all", share.products},
          {"uncounted", share.uncounted},
          {"unknown_operators", share.unknown},
          {"counts_rounds", share.counts_rounds}};
}

nlohmann::json share_json(const std::optional<double>& share) {
  return share ? nlohmann::json(*share) : nlohmann::json(nullptr);
}

}  // namespace nnapi_convert
