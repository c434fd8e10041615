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
  // `inputs` are the sizes of the segment's inputs in open sizes of the model. An axis tells an open size, or a
  // quotient of some, that it equals; an axis that is factor * size + offset tells that size, too. Any other axis
  // stands for itself.
  explicit SegmentSizes(const std::vector<Dims>& inputs);

  // Returns the size expressed by axes of the segment's inputs; nothing if they don't tell it, as for a size that
  // depends on values.
  std::optional<Dim> own(const Dim& size) const;
  std::optional<Dims> own(const Dims& sizes) const;

 private:
  // A quotient of sizes. Quotients are atoms of expressions, and are numbered like open sizes.
  struct Quotient {
    Dim dividend;  // an expression of atoms
    int64_t divisor;
  };
  class Flattening;

  Dim flat(const Dim& size) const;
  std::optional<Dim> own_of_flat(const Dim& size) const;
  std::optional<Dim> own_of_atom(const OpenSize& atom) const;
  void take_linear(const Dims& dims, int input, bool is_quotient, bool is_single);
  void take_others(const Dims& dims, int input);

  mutable std::vector<Quotient> quotients_;
  std::map<OpenSize, Dim> by_atom_;
  std::map<std::string, Dim> by_text_;  // axes that stand for themselves
};

}  // namespace nnapi_convert
