// SPDX-License-Identifier: BSD-3-Clause
// JSON of what results on samples held back are worth, in files, tables and reports.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "lib/quantise/target.h"

namespace nnapi_convert {

nlohmann::json to_json(const quantise::Accuracy& accuracy);
nlohmann::json to_json(const quantise::Score& score);

// Read an entry that to_json() made. Throw nlohmann::json::exception for another entry.
quantise::Accuracy accuracy_of(const nlohmann::json& entry);
quantise::Score score_of(const nlohmann::json& entry);

// Write and read the ranges that inputs were fed.
nlohmann::json to_json(const std::vector<FedRange>& ranges);
std::vector<FedRange> recorded_ranges(const nlohmann::json& entry);

}  // namespace nnapi_convert
