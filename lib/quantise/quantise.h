// SPDX-License-Identifier: BSD-3-Clause
// Quantises a float nnapi::Model by the values of its tensors on samples.
//
// Measures the model that will run: the passes have folded, fused and chosen layouts before. Operations without an
// integer form stay float, between QUANTIZE and DEQUANTIZE.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/nnapi/model.h"
#include "lib/quantise/accuracy.h"
#include "lib/quantise/choice.h"
#include "lib/quantise/diagnose.h"
#include "lib/quantise/distance.h"
#include "lib/quantise/options.h"
#include "lib/quantise/range.h"
#include "lib/quantise/target.h"

namespace nnapi_convert::quantise {

struct Report {
  size_t operations = 0, integer_operations = 0;
  RangeMethod method = RangeMethod::kMinMax;
  std::vector<std::string> left_float = {};     // for the target: operations by name and source line
  std::vector<std::string> refused = {};        // likewise: those whose integer form the device refuses
  std::vector<std::string> uneven_joints = {};  // concatenations that stay float as one scale doesn't fit their parts
  bool is_equalised = false, is_bias_corrected = false;
  size_t refined_ranges = 0;  // the number of tensors whose range is not the method's
  Distance distance;          // between the integer form and the float model, on the samples held back
  std::optional<Accuracy> accuracy = {};
  std::optional<Score> score = {};
  size_t calibration_samples = 0, held_back_samples = 0;
  std::vector<std::string> warnings;
  Choice choice;                           // by which it can be repeated
  std::vector<OperationLoss> losses = {};  // the losses of integer operations, on some samples held back
};

// The error that no operation of the model can compute with integers.
class NothingToQuantise : public ConvertError {
 public:
  explicit NothingToQuantise(const std::string& where = "at this feature level")
      : ConvertError(ExitCode::kNotConvertible, "--calibrate: no operation of the model can compute with integers " +
                                                    where + "; convert it without --calibrate") {}
};

// Quantises `model`, whose boundaries keep their order. `arguments` are the sizes of forward's tensors. Throws
// ConvertError: NothingToQuantise, kVerificationFailed if the host's NNAPI fails, kBadFile for samples that make
// results that are no numbers.
Report quantise(nnapi::Model& model, const std::vector<Dims>& arguments, const Samples& samples,
                const Options& options);

}  // namespace nnapi_convert::quantise
