// SPDX-License-Identifier: BSD-3-Clause
// Prints a conversion's messages besides its result: warnings by the log, tables on standard output, or on standard
// error if a report takes standard output.
#pragma once

#include <optional>
#include <string>

#include "lib/base/diagnostics.h"
#include "lib/converter/emit/conversion.h"
#include "lib/converter/report/target_loss.h"
#include "lib/converter/verify/verify.h"

namespace nnapi_convert {

void log_warnings(const Diagnostics& diagnostics);
// Warns of too few samples even with --quiet: users still have to know that so few prove nothing.
void log_few_samples(const Conversion& conversion);
void log_loss(const std::optional<TargetLoss>& loss);
// Logs the segments of a partitioned model: as a warning, or, if one segment has all operations, as information.
void log_parts(const Conversion& conversion, const std::string& before = "");
// Prints the outcome of quantising by data.
void log_calibration(const Conversion& conversion, bool is_stdout_taken);
// Prints which results became several, with --split-output.
void log_splits(const Conversion& conversion, bool is_stdout_taken);
// Prints how the weights are stored, with --int8-weights.
void log_weights(const Conversion& conversion, bool is_stdout_taken, const std::string& before = "");
// Prints the table of a verification; with --quiet only if it failed. If a report is on standard output, it has the
// same numbers, and stays alone there.
void log_verification(const Verification& verification, bool is_stdout_taken, const std::string& before = "");

}  // namespace nnapi_convert
