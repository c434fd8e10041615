// SPDX-License-Identifier: BSD-3-Clause
#include "lib/serialize/float16_weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "lib/format/float16.h"
#include "lib/serialize/buffer_words.h"

namespace nnapi_convert {
namespace {

float largest_finite(const nnapi::Constant& weight) {
  float largest = 0;
  weight.write_to([&](const void* bytes, size_t size) {
    for (size_t i = 0; i < size; i += sizeof(float)) {
      float value;
      std::memcpy(&value, static_cast<const char*>(bytes) + i, sizeof value);
      if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
    }
  });
  return largest;
}

bool fits_float16(const nnapi::Constant& weight) {
  const float largest = largest_finite(weight);
  return largest == 0 || (largest >= kLeastNormalFloat16 && largest <= kMostFloat16);
}

}  // namespace

Float16Weights store_weights_as_float16(nnapi::Model& model) {
  Float16Weights result;
  for (nnapi::Model* each : nnapi::with_subgraphs(model)) {
    for (nnapi::Operand& operand : each->operands) {
      const nnapi::Constant* weight = operand.constant();
      if (weight == nullptr || weight->type() != nnapi::DataType::kFloat32) continue;
      if (weight->byte_count() / 2 <= kMaxImmediateBytes) continue;
      if (!fits_float16(*weight)) {
        ++result.kept;
        continue;
      }
      operand.value = weight->then(nnapi::RoundToFloat16{});
      ++result.rounded;
    }
  }
  return result;
}

}  // namespace nnapi_convert
