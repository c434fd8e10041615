// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/judgement_json.h"

namespace nnapi_convert {

using nlohmann::json;

json to_json(const quantise::Accuracy& accuracy) {
  const quantise::Interval loss = quantise::loss_interval(accuracy);
  return {{"samples", accuracy.samples},
          {"float", accuracy.of_float()},
          {"integers", accuracy.of_integers()},
          {"loss_interval", {loss.lowest, loss.highest}},
          {"right", {{"float", accuracy.right_float}, {"integers", accuracy.right_integers}}},
          {"right_alone", {{"float", accuracy.only_float}, {"integers", accuracy.only_integers}}}};
}

json to_json(const quantise::Score& score) {
  return {
      {"name", score.name}, {"float", score.of_float}, {"integers", score.of_integers}, {"is_share", score.is_share}};
}

quantise::Accuracy accuracy_of(const json& entry) {
  const json &right = entry.at("right"), &alone = entry.at("right_alone");
  return {entry.at("samples"), right.at("float"), right.at("integers"), alone.at("float"), alone.at("integers")};
}

quantise::Score score_of(const json& entry) {
  return {entry.at("name"), entry.at("float"), entry.at("integers"), entry.at("is_share")};
}

json to_json(const std::vector<FedRange>& ranges) {
  json entry = json::array();
  for (const FedRange& range : ranges) {
    entry.push_back({{"name", range.input}, {"lowest", range.lowest}, {"highest", range.highest}});
  }
  return entry;
}

std::vector<FedRange> recorded_ranges(const json& entry) {
  std::vector<FedRange> ranges;
  for (const json& range : entry) ranges.push_back({range.at("name"), range.at("lowest"), range.at("highest")});
  return ranges;
}

}  // namespace nnapi_convert
