// SPDX-License-Identifier: BSD-3-Clause
// Finds samples by what files say of them.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/converter/samples/calibration_samples.h"

namespace nnapi_convert {

// A picture's path as the source has it, its whole path, or its file's name where one sample alone has it.
class SamplesByName {
 public:
  explicit SamplesByName(const std::vector<SampleName>& names);

  // The number of the sample.
  std::optional<size_t> find(const std::string& name) const;

 private:
  std::map<std::string, size_t> by_name_;
};

}  // namespace nnapi_convert
