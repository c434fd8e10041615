// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/verify/sample_sizes.h"

#include <algorithm>
#include <optional>

#include "lib/types/usual_sizes.h"

namespace nnapi_convert {
namespace {

// Returns a usual size. Sizes with names in --input are multiples of one, or one size.
int64_t usual_size(const Dim& size, const SizeConditions& conditions) {
  const int64_t found = size.evaluate(usual_open_size);
  const int64_t usual = found > 0 ? found : size.evaluate([](int, int) { return kUsualOpenSize; });
  return size.input_size() ? range_of(size, conditions).nearest(usual) : usual;
}

bool is_in_range(const ExportedTensor::Size& size, int64_t number) {
  return number >= std::max<int64_t>(size.min, 1) && (!size.max || number <= *size.max);
}

}  // namespace

TensorType sample_type(const MetadataInput& input, const SizeConditions& conditions, const InputSpec* spec,
                       const ExportedTensor* stated) {
  TensorType type = input.type;
  for (size_t axis = 0; axis < type.rank(); ++axis) {
    if (type.dims[axis].is_fixed()) continue;
    const bool is_given = spec != nullptr && axis < spec->sizes.size() && spec->sizes[axis];
    const int64_t usual = stated != nullptr && axis < stated->sizes.size() ? stated->sizes[axis].example
                                                                           : usual_size(type.dims[axis], conditions);
    type.dims[axis] = Dim(is_given ? *spec->sizes[axis] : usual);
  }
  return type;
}

std::vector<size_t> open_axes(const MetadataInput& input, const InputSpec* spec) {
  std::vector<size_t> axes;
  for (size_t axis = 0; axis < input.type.rank(); ++axis) {
    const bool is_given = spec != nullptr && axis < spec->sizes.size() && spec->sizes[axis];
    if (!input.type.dims[axis].is_fixed() && !is_given) axes.push_back(axis);
  }
  return axes;
}

bool hold(const SizeConditions& conditions, const std::vector<TensorType>& types) {
  const auto size_of = [&](int input, int axis) {
    return types.at(static_cast<size_t>(input)).dims.at(static_cast<size_t>(axis)).value();
  };
  return all_hold(conditions, size_of);
}

int64_t other_size(int64_t usual, size_t sample) {
  constexpr size_t kTurn = 4;
  switch (sample % kTurn) {
    case 1:
      return std::max<int64_t>(1, (usual * 2 / 3) | 1);
    case 2:
      return usual + usual / 4 + 1;
    default:
      return usual;
  }
}

int64_t other_size(const ExportedTensor::Size& size, size_t sample) {
  std::optional<int64_t> other = other_size(size.example, sample);
  if (size.expression) {
    const auto symbol = symbol_for(*size.expression, size.example);
    other = symbol ? size_for(*size.expression, other_size(*symbol, sample)) : std::nullopt;
  }
  return other && is_in_range(size, *other) ? *other : size.example;
}

}  // namespace nnapi_convert
