// SPDX-License-Identifier: BSD-3-Clause
// Reads the samples that a model is quantised by: tensors as forward takes them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/base/fed_range.h"
#include "lib/base/picture_list.h"
#include "lib/converter/load/load.h"
#include "lib/serialize/module_interface.h"
#include "lib/types/calibration_options.h"

namespace nnapi_convert {

// For each call of forward one sample: a tensor for each of the interface's inputs, of its dtype.
using CalibrationSamples = std::vector<std::vector<at::Tensor>>;

// The number and the name that a source gives to a sample.
struct SampleName {
  size_t number = 0;               // in the source, also where not all are used
  std::string name = {};           // of a picture: its path as the source has it
  std::string path = {};           // of a picture
  std::string label = {};          // of a picture in a list with labels
  uint32_t width = 0, height = 0;  // of a picture, before it became a sample
};

struct CalibrationData {
  CalibrationSamples samples;
  std::vector<SampleName> names;                          // of each sample
  size_t found = 0;                                       // samples in the source
  std::vector<calibration::ListedPicture> pictures = {};  // in the source
};

// Reads the samples. Throws ConvertError: kBadFile for files that can't be read, have no samples, or samples that don't
// fit; kUsage for options that don't go together. Pictures that can't be read are warned of where there are others.
CalibrationData read_calibration(const CalibrationOptions& options, const ModuleInterface& interface,
                                 const LoadedModel& loaded, Diagnostics& diagnostics);

// Returns the ranges of the samples for the inputs that are floats.
std::vector<FedRange> fed_ranges(const CalibrationSamples& samples, const ModuleInterface& interface);

}  // namespace nnapi_convert
