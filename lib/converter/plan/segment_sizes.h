// SPDX-License-Identifier: BSD-3-Clause
// Says open sizes of the model by those of a segment's inputs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/converter/graph/open_sizes.h"

namespace nnapi_convert {

class SegmentSizes {
 public:
  // `inputs` are the sizes of the segment's inputs, which is a number of them, in open sizes of the model. An axis that
  // is one of these tells it; one that is factor * size + offset does, too. Any other axis stands for itself.
  explicit SegmentSizes(const std::vector<Dims>& inputs);

  // Returns the size by axes of the segment's inputs; nothing if they don't tell it, as of a size that depends on
  // values.
  std::optional<Dim> own(const Dim& size) const;
  std::optional<Dims> own(const Dims& sizes) const;

 private:
  void take_single(const Dims& dims, int input);
  void take_linear(const Dims& dims, int input);
  void take_others(const Dims& dims, int input);

  std::map<OpenSize, Dim> by_size_;
  std::map<std::string, Dim> by_text_;  // of those that stand for themselves
};

}  // namespace nnapi_convert
