// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/graph/open_sizes.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "lib/base/size_of_values.h"

namespace nnapi_convert {

c10::IValue sizes_constant(const TorchValue& value, const std::vector<int64_t>& sizes) {
  switch (value.type()->kind()) {
    case c10::TypeKind::ListType:
      return sizes;
    case c10::TypeKind::TensorType:
      return at::scalar_tensor(sizes.at(0), at::TensorOptions(at::kLong));
    default:
      return sizes.at(0);
  }
}

Dim to_dim(const OpenSize& size) {
  return Dim::of_input(size.first, size.second);
}

OpenSize runtime_size(size_t number) {
  return {kFirstSizeOfValues + static_cast<int>(number), 0};
}

size_t number_of(const OpenSize& size) {
  return static_cast<size_t>(size.first - kFirstSizeOfValues);
}

bool is_runtime_size(const OpenSize& size) {
  return size.first >= kFirstSizeOfValues;
}

std::set<OpenSize> open_sizes_in(const Dim& dim) {
  std::set<OpenSize> sizes;
  if (dim.is_fixed()) return sizes;
  dim.text([&sizes](int input, int axis) {
    sizes.emplace(input, axis);
    return std::string();
  });
  return sizes;
}

bool is_of_values(const Dim& dim) {
  const std::set<OpenSize> sizes = open_sizes_in(dim);
  return std::any_of(sizes.begin(), sizes.end(), is_runtime_size);
}

const char* name_of(RuntimeSize::Source source) {
  switch (source) {
    case RuntimeSize::Source::kBound:
      return "bound";
    case RuntimeSize::Source::kSamples:
      return "samples";
    default:
      return "nominal";
  }
}

RuntimeSize expected(const OpenSize& size, const RuntimeSizeList& sizes) {
  if (is_runtime_size(size)) return sizes.at(number_of(size));
  RuntimeSize open;
  if (size.second == 0) open.estimate = 1;
  return open;
}

void count_as(const OpenSize& size, int64_t count, RuntimeSizeList& sizes) {
  sizes.at(number_of(size)) = {count, RuntimeSize::Source::kSamples};
}

int64_t estimated(const Dim& dim, const RuntimeSizeList& sizes) {
  return dim.evaluate([&](int input, int axis) { return expected({input, axis}, sizes).estimate; });
}

}  // namespace nnapi_convert
