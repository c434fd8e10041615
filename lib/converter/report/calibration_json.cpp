// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/report/calibration_json.h"

#include <cmath>

#include "lib/quantise/judgement_json.h"

namespace nnapi_convert {
namespace {

using nlohmann::json;

json decibels_json(const std::optional<double>& snr) {
  return snr && std::isfinite(*snr) ? json(*snr) : json(nullptr);
}

json distance_json(const quantise::Distance& distance) {
  const quantise::Interval interval = quantise::top1_interval(distance);
  return {{"rms", distance.rms},
          {"snr_db", decibels_json(distance.snr_db)},
          {"cosine", distance.cosine},
          {"top1_agreement", distance.top1},
          {"top1_interval", distance.rows > 0 ? json::array({interval.lowest, interval.highest}) : json(nullptr)}};
}

json spread_json(const quantise::Spread& values) {
  return {{"lowest", values.lowest},
          {"highest", values.highest},
          {"counts", values.counts},
          {"scale_lowest", values.scale_lowest},
          {"scale_highest", values.scale_highest}};
}

json loss_json(const quantise::OperationLoss& loss) {
  return {{"operation", loss.code},
          {"result", loss.result},
          {"where", loss.source},
          {"snr_db_alone", decibels_json(loss.alone)},
          {"snr_db_cumulated", decibels_json(loss.cumulated)},
          {"snr_db_weights", decibels_json(loss.weights)},
          {"snr_db_activations", decibels_json(loss.activations)},
          {"saturated", loss.saturated},
          {"values", spread_json(loss.values)}};
}

json part_json(const quantise::QuantisedPart& part) {
  if (!part.report) return {{"float_because", part.left_float}};
  const quantise::Report& report = *part.report;
  json losses = json::array();
  for (const quantise::OperationLoss& loss : report.losses) losses.push_back(loss_json(loss));
  return {{"operation_count", report.operations},
          {"integer_operation_count", report.integer_operations},
          {"range_method", name_of(report.method)},
          {"is_equalised", report.is_equalised},
          {"is_bias_corrected", report.is_bias_corrected},
          {"pool_layers", report.choice.pool_layer_count()},
          {"left_float", report.left_float},
          {"refused_by_device", report.refused},
          {"samples", report.calibration_samples},
          {"held_back", report.held_back_samples},
          {"distance", distance_json(report.distance)},
          {"losses", losses},
          {"advice", quantise::advice_on(report.losses)}};
}

}  // namespace

json to_json(const quantise::QuantisedParts& quantised) {
  json segments = json::array();
  for (const quantise::QuantisedPart& part : quantised.parts) segments.push_back(part_json(part));
  json result = {{"samples", quantised.calibration_samples},
                 {"held_back", quantised.held_back_samples},
                 {"distance", quantised.distance ? distance_json(*quantised.distance) : json(nullptr)},
                 {"segments", segments}};
  if (!quantised.class_source.empty()) result["class_source"] = quantised.class_source;
  if (quantised.accuracy) result["accuracy"] = to_json(*quantised.accuracy);
  if (quantised.score) result["score"] = to_json(*quantised.score);
  return result;
}

}  // namespace nnapi_convert
