// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/recorded_calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lib/base/error.h"
#include "lib/base/json_problem.h"
#include "lib/quantise/judgement_json.h"

namespace nnapi_convert {
namespace {

using nlohmann::json;

json pictures_json(const PictureChoice& pictures) {
  return {{"resize", pictures.resize}, {"crop", pictures.crop}, {"pixel_max", pictures.pixel_max},
          {"mean", pictures.mean},     {"std", pictures.std},   {"bgr", pictures.is_bgr}};
}

PictureChoice pictures_of(const json& record) {
  PictureChoice pictures;
  pictures.resize = record.value("resize", pictures.resize);
  pictures.crop = record.value("crop", pictures.crop);
  pictures.pixel_max = record.value("pixel_max", pictures.pixel_max);
  pictures.mean = record.value("mean", pictures.mean);
  pictures.std = record.value("std", pictures.std);
  pictures.is_bgr = record.value("bgr", pictures.is_bgr);
  return pictures;
}

json range_methods(const quantise::QuantisedParts& quantised) {
  json methods = json::array();
  for (const quantise::QuantisedPart& part : quantised.parts) {
    methods.push_back(part.report ? json(name_of(part.report->method)) : json(nullptr));
  }
  return methods;
}

}  // namespace

std::string with_calibration(const std::string& recorded_options, const CalibrationOptions& calibration,
                             const quantise::QuantisedParts& quantised) {
  json record = json::parse(recorded_options);
  json& entry = record["calibration"];
  entry = {{"samples", quantised.calibration_samples},
           {"held_back", quantised.held_back_samples},
           {"range_methods", range_methods(quantised)},
           {"snr_db", nullptr},
           {"keep_float", calibration.keep_float}};
  if (quantised.distance && !quantised.distance->is_of_integers)
    entry["snr_db"] = std::min(quantised.distance->snr_db, kMostDecibels);
  if (quantised.accuracy) entry["accuracy"] = to_json(*quantised.accuracy);
  if (quantised.score) entry["score"] = to_json(*quantised.score);
  if (calibration.pictures.is_given()) entry["pictures"] = pictures_json(calibration.pictures);
  if (!quantised.fed.empty()) entry["inputs"] = to_json(quantised.fed);
  return record.dump();
}

std::string picture_text(const PictureChoice& pictures) {
  return pictures_json(pictures).dump();
}

PictureChoice picture_choice(const std::string& text) {
  return pictures_of(json::parse(text));
}

namespace {

// Reads the record of options, if there is one.
template <typename Read>
auto read_record(const ConvertedFile& file, const Read& read) -> decltype(read(json())) {
  if (file.metadata.options.empty()) return std::nullopt;
  try {
    return read(json::parse(file.metadata.options));
  } catch (const json::exception& error) {
    throw ConvertError(ExitCode::kBadFile, fmt::format("malformed {}: {}", kMetadataFile, json_problem(error)));
  }
}

}  // namespace

std::optional<RecordedCalibration> recorded_calibration(const ConvertedFile& file) {
  return read_record(file, [](const json& record) -> std::optional<RecordedCalibration> {
    if (!record.contains("calibration")) return std::nullopt;
    const json& entry = record["calibration"];
    RecordedCalibration recorded{{}, pictures_of(entry.value("pictures", json::object()))};
    if (!entry.at("snr_db").is_null()) recorded.snr_db = entry["snr_db"].get<double>();
    if (entry.contains("accuracy")) recorded.accuracy = accuracy_of(entry["accuracy"]);
    if (entry.contains("score")) recorded.score = score_of(entry["score"]);
    if (entry.contains("inputs")) recorded.fed = recorded_ranges(entry["inputs"]);
    return recorded;
  });
}

std::optional<PictureChoice> recorded_pictures(const ConvertedFile& file) {
  return read_record(file, [](const json& record) -> std::optional<PictureChoice> {
    const json calibration = record.value("calibration", json::object());
    if (calibration.contains("pictures")) return pictures_of(calibration["pictures"]);
    if (record.contains("pictures")) return pictures_of(record["pictures"]);
    return std::nullopt;
  });
}

}  // namespace nnapi_convert
