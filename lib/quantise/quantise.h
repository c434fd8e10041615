// SPDX-License-Identifier: BSD-3-Clause
// Quantises a float nnapi::Model by what its tensors hold on samples.
//
// What is measured is the model that will run: the passes have folded, fused and laid out. Operations without an
// integer form stay float, between QUANTIZE and DEQUANTIZE.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/nnapi/device_profile.h"
#include "lib/nnapi/integer_forms.h"
#include "lib/nnapi/model.h"
#include "lib/quantise/accuracy.h"
#include "lib/quantise/choice.h"
#include "lib/quantise/diagnose.h"
#include "lib/quantise/distance.h"
#include "lib/quantise/kept_sample.h"
#include "lib/quantise/range.h"
#include "lib/quantise/target.h"
#include "lib/quantise/techniques.h"

namespace nnapi_convert::quantise {

// Its name, and what gives the number. The results are one by sample held back, of the float model or of integers.
struct Scoring {
  std::string name = {};
  std::function<double(const Results& results, bool is_float)> of = {};
  bool is_share = true;  // as in Score
};

struct Options {
  int feature_level = 3;
  bool per_channel = false;                  // where a filter may have a scale for each channel
  bool integer_inputs = false;               // the caller hands over integers
  bool integer_outputs = false;              // and gets them
  std::vector<std::string> keep_float = {};  // operations: by NNAPI's name, the result's name, or the source line
  // Operations whose integer form it refuses stay float where it takes that; null: any device of the feature level.
  std::shared_ptr<const nnapi::DeviceProfile> device = {};
  Techniques techniques = {};
  bool tries_all = false;  // every other range of every tensor, however long that takes
  // Operations stay float, those that cost most first, until the results on the samples held back keep to it.
  Target target = {};
  // Gives results on the samples held back a number; empty: nothing does.
  Scoring scoring = {};
  // Called with the runs of the model that are done, and how many it probably takes.
  std::function<void(size_t done, size_t all)> on_progress = {};
};

struct Samples {
  std::vector<KeptSample> calibration;  // that ranges come from; some of them choose between ways
  std::vector<KeptSample> held_back;    // that the results are judged by; they have no part in the choice
  Classes classes = {};                 // of those held back; empty: not known
  ClassOutput class_output = {};        // the output that tells them
};

struct Report {
  size_t operations = 0, integer_operations = 0;
  RangeMethod method = RangeMethod::kMinMax;
  std::vector<std::string> left_float = {};     // for the target: operations by name and source line
  std::vector<std::string> refused = {};        // stay float as the device refuses their integer form; the same way
  std::vector<std::string> uneven_joints = {};  // concatenations that stay float as one scale doesn't fit their parts
  bool is_equalised = false, is_bias_corrected = false;
  size_t refined_ranges = 0;  // of tensors that have another range than the method's
  Distance distance;          // of the integer form from the float model, on the samples held back
  std::optional<Accuracy> accuracy = {};
  std::optional<Score> score = {};
  size_t calibration_samples = 0, held_back_samples = 0;
  std::vector<std::string> warnings;
  Choice choice;                           // to do it again
  std::vector<OperationLoss> losses = {};  // of integer operations, on some samples held back
};

// No operation of the model can compute with integers.
class NothingToQuantise : public ConvertError {
 public:
  explicit NothingToQuantise(const std::string& where = "at this feature level")
      : ConvertError(ExitCode::kNotConvertible, "--calibrate: no operation of the model can compute with integers " +
                                                    where + "; convert it without --calibrate") {}
};

// Changes `model`, whose boundaries keep their order. `arguments` are the sizes of forward's tensors. Throws
// ConvertError: NothingToQuantise, kVerificationFailed where the host's NNAPI fails,
// kBadFile for samples that make results that are no numbers.
Report quantise(nnapi::Model& model, const std::vector<Dims>& arguments, const Samples& samples,
                const Options& options);

}  // namespace nnapi_convert::quantise
