// SPDX-License-Identifier: BSD-3-Clause
// Scores the results on the judging samples, as --sample-boxes and --metric ask.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lib/converter/samples/calibration_samples.h"
#include "lib/quantise/forward_results.h"
#include "lib/types/calibration_options.h"

namespace nnapi_convert {

struct ResultScoring {
  std::string name = {};  // "mAP@0.5", "metric"
  bool is_share = true;   // as in quantise::Score
  // `form` is "float" or "integers". The results are by sample. Throws ConvertError.
  std::function<double(const std::vector<ForwardResult>& results, const std::string& form)> of = {};
};

// Returns the scoring; nothing without these options. `names` and `inputs` are of the judging samples. The program of
// --metric is run with the path of a folder: its file NAME/sample_K.npy holds one result of one sample, and samples.txt
// the samples' names, one on each line. Throws ConvertError: kUsage for both options, and as DetectionScore does.
std::optional<ResultScoring> scoring_of(const CalibrationOptions& calibration, const std::vector<SampleName>& names,
                                        const CalibrationSamples& inputs, const std::vector<std::string>& class_names);

}  // namespace nnapi_convert
