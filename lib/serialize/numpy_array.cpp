// SPDX-License-Identifier: BSD-3-Clause
#include "lib/serialize/numpy_array.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

namespace nnapi_convert {
namespace {

// Returns NumPy's name of the dtype; null if NumPy lacks it.
const char* numpy_type(at::ScalarType dtype) {
  switch (dtype) {
    case at::kHalf:
      return "<f2";
    case at::kFloat:
      return "<f4";
    case at::kDouble:
      return "<f8";
    case at::kChar:
      return "|i1";
    case at::kByte:
      return "|u1";
    case at::kShort:
      return "<i2";
    case at::kInt:
      return "<i4";
    case at::kLong:
      return "<i8";
    case at::kBool:
      return "|b1";
    default:
      return nullptr;
  }
}

}  // namespace

NumpyArray numpy_array(const at::Tensor& tensor) {
  constexpr size_t kPrefix = 10, kAlignment = 64;  // values begin at a multiple of 64 bytes
  const at::Tensor known = numpy_type(tensor.scalar_type()) == nullptr ? tensor.to(at::kFloat) : tensor;
  std::string shape;
  for (const int64_t size : known.sizes()) shape += fmt::format("{},", size);
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", numpy_type(known.scalar_type()), shape);
  text.resize((kPrefix + text.size() + kAlignment) / kAlignment * kAlignment - kPrefix - 1, ' ');
  text += '\n';
  std::string head = "\x93NUMPY";
  head += {1, 0, static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return {head + text, known.contiguous()};
}

}  // namespace nnapi_convert
