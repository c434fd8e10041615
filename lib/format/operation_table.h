// SPDX-License-Identifier: BSD-3-Clause
// Generated from schemas/nnapi_operations.json by scripts/generate_operations.py, do not edit.
// clang-format off
// The operations table: every operation's signatures, types and feature levels, as constant data.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/format/nnapi_codes.h"

namespace nnapi_convert {

// What a change of the order of axes has to do with an argument.
enum class ArgumentRole : uint8_t {
  kNone,  // independent of the order of axes
  kLayout,  // BOOL, true means NCHW
  kAxis,  // scalar index into the axes of the first tensor
  kNewAxis,  // scalar index into the axes of the output
  kAxes,  // INT32 tensor of axis indices
  kPerm,  // INT32 tensor, the permutation of TRANSPOSE
  kPerAxisVector,  // INT32 tensor, one entry per axis
  kPerAxisPairs,  // INT32 tensor, two entries per axis
  kPerAxisMask,  // scalar, one bit per axis
  kShape,  // INT32 tensor, extents of the output
  kActivation,  // scalar, a FuseCode
  kPaddingScheme,  // scalar, a PaddingScheme
};

// A view of constant data.
template <typename T>
struct TableView {
  const T* first = nullptr;
  std::size_t count = 0;
  constexpr const T* begin() const { return first; }
  constexpr const T* end() const { return first + count; }
  constexpr std::size_t size() const { return count; }
  constexpr bool empty() const { return count == 0; }
  constexpr const T& operator[](std::size_t i) const { return first[i]; }
};

// Types of one signature vary together: a combination binds each of the signature's type variables.
constexpr std::size_t kMaxTypeVariables = 4;
struct TypeCombination {
  int32_t since;  // feature level
  OperandCode types[kMaxTypeVariables];
};

constexpr int8_t kFixedType = -1;
constexpr int8_t kAnyType = -2;
constexpr uint8_t kAnyRank = 255;

struct ArgumentInfo {
  const char* name;
  int8_t type_variable;  // index into TypeCombination::types, kFixedType or kAnyType
  OperandCode fixed_type;
  uint8_t min_rank, max_rank;  // of a tensor
  ArgumentRole role;
  bool optional;   // it and all after it may be left off the list
  bool omittable;  // may be an operand without a value
  bool variadic;   // stands for one or more operands
  int32_t since;   // feature level

  // Of an argument that doesn't take any type.
  constexpr OperandCode type_in(const TypeCombination& combination) const {
    return type_variable < 0 ? fixed_type : combination.types[type_variable];
  }
  constexpr bool takes(OperandCode type, const TypeCombination& combination) const {
    return type_variable == kAnyType || type_in(combination) == type;
  }
};

struct SignatureInfo {
  const char* name;
  int32_t since;  // feature level
  TableView<ArgumentInfo> inputs;
  TableView<ArgumentInfo> outputs;
  TableView<TypeCombination> combinations;
};

struct OperationInfo {
  OperationCode code;
  const char* name;
  int32_t since;  // feature level
  TableView<SignatureInfo> signatures;  // empty while the table doesn't describe the operation
};

struct OperandTypeInfo {
  OperandCode code;
  const char* name;
  int32_t since;  // feature level
};

struct FeatureLevelInfo {
  int32_t level;
  int64_t code;     // what the API answers for it
  int32_t min_api;  // Android API level, 0 if none
};

TableView<OperationInfo> all_operations();
TableView<FeatureLevelInfo> all_feature_levels();

// Null for a code that no operation or operand type has.
const OperationInfo* find_operation(OperationCode code);
const OperationInfo* find_operation(const char* name);
const OperandTypeInfo* find_operand_type(OperandCode code);

// "unknown" for a code that has no name.
const char* name_of(OperationCode code);
const char* name_of(OperandCode code);

}  // namespace nnapi_convert
