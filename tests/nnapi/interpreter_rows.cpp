// SPDX-License-Identifier: BSD-3-Clause
// Operations along axes: MEAN, SOFTMAX and L2_NORMALIZATION, and RSQRT, which norms need beside them.
#include <algorithm>
#include <cmath>

#include "tests/nnapi/interpreter.h"

namespace nnapi_convert::nnapi::testing {

// The index into an operand of lower rank or with axes of size 1, broadcast to `index`.
Index broadcast(const Index& index, const Index& shape) {
  Index result(shape.size());
  const size_t offset = index.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i) result[i] = shape[i] == 1 ? 0 : index[i + offset];
  return result;
}

size_t axis_of(int64_t axis, size_t rank) {
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
}

Tensor run_mean(const Arguments& arguments) {
  const Tensor& x = arguments.tensor(0);
  Index kept = x.shape;
  int64_t count = 1;
  for (const int64_t axis : arguments.integers(1)) {
    count *= kept[axis_of(axis, kept.size())];
    kept[axis_of(axis, kept.size())] = 1;
  }
  Tensor sum(kept);
  Index index(x.shape.size(), 0);
  do {
    sum.at(broadcast(index, kept)) += x.at(index) / static_cast<float>(count);
  } while (advance(index, x.shape));
  if (arguments.integer(2) != 0) return sum;
  for (const int64_t axis : arguments.integers(1)) sum.shape[axis_of(axis, kept.size())] = 0;
  sum.shape.erase(std::remove(sum.shape.begin(), sum.shape.end(), 0), sum.shape.end());
  return sum;
}

Tensor run_softmax(const Arguments& arguments) {
  const Tensor& x = arguments.tensor(0);
  const bool names_axis = arguments.operation.inputs.size() > 2;
  const size_t axis = axis_of(names_axis ? arguments.integer(2) : -1, x.shape.size());
  Tensor result(x.shape);
  Index index(x.shape.size(), 0);
  do {  // 1 / the sum of exp(other - this), which can't overflow to NaN
    float sum = 0;
    Index other = index;
    for (other[axis] = 0; other[axis] < x.shape[axis]; ++other[axis]) sum += std::exp(x.at(other) - x.at(index));
    result.at(index) = 1 / sum;
  } while (advance(index, x.shape));
  return result;
}

Tensor run_l2_normalization(const Arguments& arguments) {
  constexpr float kLeastLength = 1e-6f;
  const Tensor& x = arguments.tensor(0);
  const bool names_axis = arguments.operation.inputs.size() > 1;
  const size_t axis = axis_of(names_axis ? arguments.integer(1) : -1, x.shape.size());
  Tensor result(x.shape);
  Index index(x.shape.size(), 0);
  do {
    float squares = 0;
    Index other = index;
    for (other[axis] = 0; other[axis] < x.shape[axis]; ++other[axis]) squares += x.at(other) * x.at(other);
    result.at(index) = x.at(index) / std::max(std::sqrt(squares), kLeastLength);
  } while (advance(index, x.shape));
  return result;
}

Tensor run_rsqrt(const Arguments& arguments) {
  Tensor result = arguments.tensor(0);
  for (float& value : result.values) value = 1 / std::sqrt(value);
  return result;
}

}  // namespace nnapi_convert::nnapi::testing
