// SPDX-License-Identifier: BSD-3-Clause
// A tensor read from a data file, such as NumPy's .npy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nnapi_convert::calibration {

enum class ElementType { kFloat16, kFloat32, kFloat64, kInt8, kUInt8, kInt16, kInt32, kInt64, kBool };
size_t size_of(ElementType type);

struct Array {
  std::string name;  // in an archive of several; may be empty
  ElementType type = ElementType::kFloat32;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;  // contiguous, the last axis varies fastest
};

}  // namespace nnapi_convert::calibration
