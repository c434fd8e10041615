// SPDX-License-Identifier: BSD-3-Clause
// Finds the classes of samples: as --sample-labels, the second column of a list, or folders give them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "lib/converter/samples/calibration_samples.h"
#include "lib/types/calibration_options.h"

namespace nnapi_convert {

// The names of a model's classes, and how many there are.
struct KnownClasses {
  std::vector<std::string> names = {};  // of --labels, in the order of the model's classes; empty: there are none
  std::optional<size_t> count = {};     // nothing: not known
};

struct SampleClasses {
  std::vector<std::optional<size_t>> classes = {};  // by sample; empty where no sample has one
  std::string source = {};  // where the classes are from, or why folders are not taken as classes; may be empty
};

// True if the user says what classes the samples have: by --sample-labels or in the list.
bool has_given_classes(const CalibrationOptions& options, const CalibrationData& data);

// Returns the classes by --sample-labels, else by the list's column, else by the folders that the source has. A label
// is a name of --labels, or the number of a class, from 0 on. Folders are classes by the names of --labels; without
// --labels in their sorted order, as torchvision's ImageFolder takes them, if there are as many as classes. Throws
// ConvertError: kBadFile for files that can't be read, labels that are no classes, and lines for samples that aren't
// there.
SampleClasses classes_of(const CalibrationOptions& options, const CalibrationData& data, const KnownClasses& known);

}  // namespace nnapi_convert
