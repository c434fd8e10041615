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

// Finds a picture by its path as the source has it, by its whole path, or by its file's name where one sample alone has
// it.
class SamplesByName {
 public:
  explicit SamplesByName(const std::vector<SampleName>& names);

  // Returns the number of the sample; nothing for an unknown name.
  std::optional<size_t> find(const std::string& name) const;

 private:
  std::map<std::string, size_t> by_name_;
};

}  // namespace nnapi_convert
