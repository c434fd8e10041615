// How far a partitioned model's own results are from the float model's: the written module runs on the host's NNAPI.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/converter/emit/conversion.h"
#include "lib/converter/load/load.h"
#include "lib/converter/partition/planned_model.h"
#include "lib/converter/samples/calibration_samples.h"
#include "lib/quantise/distance.h"

namespace nnapi_convert {

// Samples with what the original gives for them.
struct ExpectedResults {
  std::vector<InputTuple> inputs;                // arguments of forward
  std::vector<std::vector<at::Tensor>> results;  // by sample: the float tensors that forward returns
};

// Runs the original. Throws ConvertError (kNotConvertible) where it fails.
ExpectedResults expected_results(const LoadedModel& loaded, const PlannedModel& planned,
                                 const CalibrationSamples& samples);

struct WholeDistance {
  // Nothing where a result has another size than the original's.
  std::optional<quantise::Distance> distance = {};
  std::vector<std::string> warnings = {};  // of slices of the results that lost their values
};

// Throws ConvertError (kVerificationFailed) where
// the host's NNAPI doesn't run the module.
WholeDistance whole_distance(const Conversion& conversion, const ExpectedResults& expected);

}  // namespace nnapi_convert
