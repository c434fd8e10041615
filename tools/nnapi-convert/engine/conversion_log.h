// SPDX-License-Identifier: BSD-3-Clause
// What a conversion tells beside its result: warnings by the log, tables on standard output, or on standard error where
// a report takes that.
#pragma once

#include <optional>
#include <string>

#include "lib/base/diagnostics.h"
#include "lib/converter/emit/conversion.h"
#include "lib/converter/report/target_loss.h"
#include "lib/converter/verify/verify.h"

namespace nnapi_convert {

void log_warnings(const Diagnostics& diagnostics);
// Whoever asks for errors alone still has to know that samples are too few to prove anything.
void log_few_samples(const Conversion& conversion);
void log_loss(const std::optional<TargetLoss>& loss);
// Logs the segments of a partitioned model: as a warning, or, if one segment has all operations, as information.
void log_parts(const Conversion& conversion, const std::string& before = "");
// What quantising by data has come to.
void log_calibration(const Conversion& conversion, bool is_stdout_taken);
// Which results became several, with --split-output.
void log_splits(const Conversion& conversion, bool is_stdout_taken);
// How the weights are stored, with --int8-weights.
void log_weights(const Conversion& conversion, bool is_stdout_taken, const std::string& before = "");
// Shows the table, or, to those who ask for errors alone, that of a verification that failed. A report on stdout has
// the same numbers, and stays alone there.
void log_verification(const Verification& verification, bool is_stdout_taken, const std::string& before = "");

}  // namespace nnapi_convert
