// SPDX-License-Identifier: BSD-3-Clause
#include "tests/host_runtime/vector_numbers.h"

#include <c10/util/Half.h>

#include <cstring>

#include "lib/format/operation_table.h"

namespace vectors {
namespace {

using nnapi_convert::OperandCode;

template <typename T>
std::vector<uint8_t> pack(const std::vector<double>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T value = static_cast<T>(values[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

template <typename T>
std::vector<double> unpack(const std::vector<uint8_t>& bytes) {
  std::vector<double> values(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = static_cast<double>(value);
  }
  return values;
}

// Calls `use` with a value of the C++ type that holds the operand type.
template <typename Use>
auto with_storage(OperandCode type, const Use& use) {
  switch (type) {
    case OperandCode::FLOAT32:
    case OperandCode::TENSOR_FLOAT32:
      return use(float());
    case OperandCode::FLOAT16:
    case OperandCode::TENSOR_FLOAT16:
      return use(c10::Half());
    case OperandCode::INT32:
    case OperandCode::TENSOR_INT32:
      return use(int32_t());
    case OperandCode::UINT32:
      return use(uint32_t());
    case OperandCode::TENSOR_QUANT16_ASYMM:
      return use(uint16_t());
    case OperandCode::TENSOR_QUANT16_SYMM:
      return use(int16_t());
    case OperandCode::TENSOR_QUANT8_SYMM:
    case OperandCode::TENSOR_QUANT8_SYMM_PER_CHANNEL:
    case OperandCode::TENSOR_QUANT8_ASYMM_SIGNED:
      return use(int8_t());
    default:
      return use(uint8_t());
  }
}

}  // namespace

bool is_tensor(OperandCode type) {
  return std::strncmp(nnapi_convert::name_of(type), "TENSOR_", 7) == 0;
}

std::vector<uint8_t> to_bytes(OperandCode type, const std::vector<double>& values) {
  return with_storage(type, [&](auto zero) {
    // float16 is rounded from float32, as its source is.
    if constexpr (std::is_same_v<decltype(zero), c10::Half>) {
      std::vector<double> singles;
      for (const double value : values) singles.push_back(static_cast<float>(value));
      return pack<c10::Half>(singles);
    } else {
      return pack<decltype(zero)>(values);
    }
  });
}

std::vector<double> from_bytes(OperandCode type, const std::vector<uint8_t>& bytes) {
  return with_storage(type, [&](auto zero) { return unpack<decltype(zero)>(bytes); });
}

double rounded_to(OperandCode type, double value) {
  return from_bytes(type, to_bytes(type, {value}))[0];
}

}  // namespace vectors
