// SPDX-License-Identifier: BSD-3-Clause
// The calibration table: a JSON file of the scales that quantising chose (schemas/calibration.schema.json). A build
// that reads it needs no samples, and a person can change a scale in it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/nnapi/model.h"
#include "lib/quantise/quantised_parts.h"
#include "lib/types/calibration_options.h"

namespace nnapi_convert {

// The table's description of a float model, besides the choices; taken before the model is quantised.
struct TableModel {
  struct Operation {
    std::string code, result;
  };
  std::vector<Operation> operations;
  std::vector<std::string> names;  // by operand
  std::vector<bool> is_fixed;      // by operand: NNAPI gives its scale
  uint32_t weights = 0;            // a checksum of the weights
};
TableModel table_model(const nnapi::Model& model);

// Returns the table's text; `models` are the float models by segment.
std::string calibration_table(const std::vector<TableModel>& models, const quantise::QuantisedParts& quantised,
                              const CalibrationOptions& calibration);

struct ReadTable {
  quantise::QuantisedParts parts;
  CalibrationOptions calibration;  // how the samples were read and what was kept float
};

// Reads options.table for these models. Warns where the weights are others. Throws ConvertError (kBadFile) for a
// damaged table, one of another model, unknown names and bad scales.
ReadTable read_calibration_table(const CalibrationOptions& calibration, const std::vector<TableModel>& models,
                                 Diagnostics& diagnostics);

}  // namespace nnapi_convert
