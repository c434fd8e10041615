// SPDX-License-Identifier: BSD-3-Clause
// Describes operands: type, extents, quantisation and value, and the bytes of each type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/format/nnapi_codes.h"
#include "lib/host_runtime/neural_networks.h"

namespace nnapi_convert::host {

// The extents of a tensor. kUnknown stands for an extent that only an execution gives.
using Dims = std::vector<int64_t>;
constexpr int64_t kUnknown = -1;

class Model;

// A tensor's shape. Scalars have rank 0 and are always known.
struct Shape {
  bool rank_known = false;
  Dims dims;

  bool known() const;
  int64_t elements() const;  // needs a known shape
};
// Combines what two shapes say; returns nothing if they contradict each other.
std::optional<Shape> merged(const Shape& a, const Shape& b);
std::string to_string(const Shape& shape);
std::string to_string(const Dims& dims);

enum class Lifetime { kTemporary, kInput, kOutput, kConstant, kOmitted, kModel };

struct ChannelQuantization {
  uint32_t dim = 0;
  std::vector<float> scales;
};

struct Operand {
  OperandCode type = OperandCode::FLOAT32;
  Shape shape;
  float scale = 0;
  int32_t zero_point = 0;
  std::optional<ChannelQuantization> channels;
  Lifetime lifetime = Lifetime::kTemporary;
  const void* data = nullptr;          // the value of a constant
  std::shared_ptr<const void> keeps;   // owns the memory of `data`; null if the caller keeps it
  std::shared_ptr<const Model> model;  // the value of a kModel operand
};

bool is_tensor(OperandCode type);
bool is_quantized_8bit(OperandCode type);  // QUANT8_ASYMM or QUANT8_ASYMM_SIGNED
bool is_float_tensor(OperandCode type);    // FLOAT32 or FLOAT16
int64_t element_bytes(OperandCode type);
int64_t lowest_code(OperandCode type);  // these two return the least and greatest code of a quantised type
int64_t highest_code(OperandCode type);

// Returns the bytes of a value of this type and shape; the shape has to be known.
int64_t byte_length(OperandCode type, const Shape& shape);

// Reads the caller's description; bad data fails with a sentence that starts with `subject`.
Operand make_operand(const ANeuralNetworksOperandType& type, const std::string& subject, int feature_level);

}  // namespace nnapi_convert::host
