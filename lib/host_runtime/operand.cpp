// SPDX-License-Identifier: BSD-3-Clause
#include "lib/host_runtime/operand.h"

#include <cmath>
#include <limits>

#include "lib/format/operation_table.h"
#include "lib/host_runtime/failure.h"

namespace nnapi_convert::host {
namespace {

constexpr int64_t kMaxValueBytes = std::numeric_limits<uint32_t>::max();

struct QuantizationRule {
  bool needs_scale;   // scale > 0
  bool allows_scale;  // scale >= 0
  int32_t lowest_zero_point, highest_zero_point;
};

QuantizationRule rule_of(OperandCode type) {
  switch (type) {
    case OperandCode::TENSOR_QUANT8_ASYMM:
      return {true, true, 0, 255};
    case OperandCode::TENSOR_QUANT8_ASYMM_SIGNED:
      return {true, true, -128, 127};
    case OperandCode::TENSOR_QUANT16_ASYMM:
      return {true, true, 0, 65535};
    case OperandCode::TENSOR_QUANT8_SYMM:
    case OperandCode::TENSOR_QUANT16_SYMM:
      return {true, true, 0, 0};
    case OperandCode::TENSOR_INT32:
      return {false, true, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
    default:
      return {false, false, 0, 0};
  }
}

void check_quantization(const Operand& operand, const std::string& subject) {
  const QuantizationRule rule = rule_of(operand.type);
  const char* type = name_of(operand.type);
  if (!std::isfinite(operand.scale)) bad_data("{}: scale {} found, a finite number needed", subject, operand.scale);
  if (rule.needs_scale && operand.scale <= 0) {
    bad_data("{}: scale {} found, {} needs one above 0", subject, operand.scale, type);
  }
  if (!rule.allows_scale && operand.scale != 0) {
    bad_data("{}: scale {} found, {} needs 0", subject, operand.scale, type);
  }
  if (operand.scale < 0) bad_data("{}: scale {} found, at least 0 needed", subject, operand.scale);
  if (operand.zero_point < rule.lowest_zero_point || operand.zero_point > rule.highest_zero_point) {
    bad_data("{}: zero point {} found, {} needs {} to {}", subject, operand.zero_point, type, rule.lowest_zero_point,
             rule.highest_zero_point);
  }
}

Shape make_shape(const ANeuralNetworksOperandType& type, const std::string& subject) {
  constexpr uint32_t kMaxRank = 1024;
  Shape shape;
  if (type.dimensionCount == 0) return shape;
  if (type.dimensionCount > kMaxRank)
    bad_data("{}: rank {} found, at most {} needed", subject, type.dimensionCount, kMaxRank);
  if (!type.dimensions) bad_data("{}: no dimensions found, {} needed", subject, type.dimensionCount);
  shape.rank_known = true;
  int64_t bytes = 1;
  for (uint32_t i = 0; i < type.dimensionCount; ++i) {
    const int64_t extent = type.dimensions[i];
    shape.dims.push_back(extent == 0 ? kUnknown : extent);
    if (extent > 0 && bytes > kMaxValueBytes / extent)
      bad_data("{}: more than {} elements found", subject, kMaxValueBytes);
    if (extent > 0) bytes *= extent;
  }
  const int64_t element = element_bytes(static_cast<OperandCode>(type.type));
  if (bytes > kMaxValueBytes / element) bad_data("{}: more than {} bytes found", subject, kMaxValueBytes);
  return shape;
}

}  // namespace

bool Shape::known() const {
  if (!rank_known) return false;
  for (const int64_t extent : dims) {
    if (extent == kUnknown) return false;
  }
  return true;
}

int64_t Shape::elements() const {
  int64_t count = 1;
  for (const int64_t extent : dims) count *= extent;
  return count;
}

std::optional<Shape> merged(const Shape& a, const Shape& b) {
  if (!a.rank_known) return b;
  if (!b.rank_known) return a;
  if (a.dims.size() != b.dims.size()) return std::nullopt;
  Shape result = a;
  for (std::size_t i = 0; i < a.dims.size(); ++i) {
    if (result.dims[i] == kUnknown) result.dims[i] = b.dims[i];
    if (b.dims[i] != kUnknown && b.dims[i] != result.dims[i]) return std::nullopt;
  }
  return result;
}

std::string to_string(const Dims& dims) {
  std::string text = "[";
  for (const int64_t extent : dims) {
    if (text.size() > 1) text += ", ";
    text += extent == kUnknown ? "?" : std::to_string(extent);
  }
  return text + "]";
}

std::string to_string(const Shape& shape) {
  return shape.rank_known ? to_string(shape.dims) : "unknown rank";
}

bool is_tensor(OperandCode type) {
  switch (type) {
    case OperandCode::FLOAT32:
    case OperandCode::FLOAT16:
    case OperandCode::INT32:
    case OperandCode::UINT32:
    case OperandCode::BOOL:
    case OperandCode::MODEL:
      return false;
    default:
      return true;
  }
}

bool is_quantized_8bit(OperandCode type) {
  return type == OperandCode::TENSOR_QUANT8_ASYMM || type == OperandCode::TENSOR_QUANT8_ASYMM_SIGNED;
}

bool is_float_tensor(OperandCode type) {
  return type == OperandCode::TENSOR_FLOAT32 || type == OperandCode::TENSOR_FLOAT16;
}

int64_t element_bytes(OperandCode type) {
  switch (type) {
    case OperandCode::FLOAT32:
    case OperandCode::INT32:
    case OperandCode::UINT32:
    case OperandCode::TENSOR_FLOAT32:
    case OperandCode::TENSOR_INT32:
      return 4;
    case OperandCode::FLOAT16:
    case OperandCode::TENSOR_FLOAT16:
    case OperandCode::TENSOR_QUANT16_ASYMM:
    case OperandCode::TENSOR_QUANT16_SYMM:
      return 2;
    default:
      return 1;
  }
}

int64_t lowest_code(OperandCode type) {
  switch (type) {
    case OperandCode::TENSOR_QUANT8_ASYMM:
    case OperandCode::TENSOR_QUANT16_ASYMM:
      return 0;
    case OperandCode::TENSOR_QUANT16_SYMM:
      return std::numeric_limits<int16_t>::min();
    default:
      return std::numeric_limits<int8_t>::min();
  }
}

int64_t highest_code(OperandCode type) {
  const bool wide = type == OperandCode::TENSOR_QUANT16_ASYMM || type == OperandCode::TENSOR_QUANT16_SYMM;
  return lowest_code(type) + (wide ? 65535 : 255);
}

int64_t byte_length(OperandCode type, const Shape& shape) {
  return element_bytes(type) * (is_tensor(type) ? shape.elements() : 1);
}

Operand make_operand(const ANeuralNetworksOperandType& type, const std::string& subject, int feature_level) {
  Operand operand;
  operand.type = static_cast<OperandCode>(type.type);
  const OperandTypeInfo* info = find_operand_type(operand.type);
  if (!info) bad_data("{}: unknown type {} found", subject, type.type);
  if (info->since > feature_level) {
    bad_data("{}: type {} needs feature level {}, {} is offered", subject, info->name, info->since, feature_level);
  }
  if (!is_tensor(operand.type) && type.dimensionCount != 0) {
    bad_data("{}: rank {} found, the scalar {} has none", subject, type.dimensionCount, info->name);
  }
  operand.shape = make_shape(type, subject);
  if (!is_tensor(operand.type)) operand.shape.rank_known = true;
  operand.scale = type.scale;
  operand.zero_point = type.zeroPoint;
  check_quantization(operand, subject);
  return operand;
}

}  // namespace nnapi_convert::host
