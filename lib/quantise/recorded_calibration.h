// SPDX-License-Identifier: BSD-3-Clause
// A converted file's record of the data by which it was quantised.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/base/fed_range.h"
#include "lib/converter/load/converted_file.h"
#include "lib/quantise/quantised_parts.h"
#include "lib/types/calibration_options.h"

namespace nnapi_convert {

// Stands for infinite decibels, which JSON can't express.
constexpr double kMostDecibels = 1000;

struct RecordedCalibration {
  std::optional<double> snr_db;  // the outputs' SNR on the samples held back; nothing: they can't be compared
  PictureChoice pictures;        // the preparation of samples that were pictures
  std::optional<quantise::Accuracy> accuracy = {};  // on the samples held back, where their classes were known
  std::optional<quantise::Score> score = {};        // on the samples held back, if something scored results
  std::vector<FedRange> fed = {};                   // the ranges of float inputs
};

// Returns the recorded options with the calibration added.
std::string with_calibration(const std::string& recorded_options, const CalibrationOptions& calibration,
                             const quantise::QuantisedParts& quantised);

// Write and read a choice of pictures as JSON.
std::string picture_text(const PictureChoice& pictures);
PictureChoice picture_choice(const std::string& text);

// Returns the file's record; nothing for a file that was not quantised by data. Throws ConvertError (kBadFile) for a
// damaged record.
std::optional<RecordedCalibration> recorded_calibration(const ConvertedFile& file);

// Returns how pictures become the model's input; nothing for a file that doesn't tell. Throws ConvertError (kBadFile)
// for a damaged record.
std::optional<PictureChoice> recorded_pictures(const ConvertedFile& file);

}  // namespace nnapi_convert
