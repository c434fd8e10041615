// SPDX-License-Identifier: BSD-3-Clause
// Generated from schemas/nnapi_operations.json by scripts/generate/generate_operations.py, do not edit.
// clang-format off
// The operations table: every operation's signatures, types and feature levels, as constant data.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/format/nnapi_codes.h"

namespace nnapi_convert {

// How an argument changes where the order of axes changes.
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

// Traits of an operation, whatever its tensors are.
enum class OperationTrait : uint32_t {
  kElementwise = 1u << 0,  // computes each element by itself, of inputs that broadcast
  kArithmetic = 1u << 1,  // ADD and its like, of two tensors and a fused activation
  kExtreme = 1u << 2,  // the larger or the smaller of two
  kActivation = 1u << 3,  // a network's activation, of one tensor
  kSoftmax = 1u << 4,  // of the last axis
  kMovesValues = 1u << 5,  // each element of its result is one of the first input's: integers stay exact
  kViews = 1u << 6,  // gives all elements in another order or shape
  kWithinRange = 1u << 7,  // its result's elements lie within the first input's range
  kAlongAxes = 1u << 8,  // names axes in its arguments, and moves with them
  kPads = 1u << 9,  // puts elements around the tensor
  kConvolution = 1u << 10,  // moves a filter over a picture
  kWeighted = 1u << 11,  // inputs 1 and 2 are a filter and a bias
  kKeepsFactor = 1u << 12,  // f(a * x) is a * f(x) for a > 0
  kJoinsFactors = 1u << 13,  // the same of several tensors that have the same factor
  kGivesPlaces = 1u << 14,  // its elements are places in the input
  kControlFlow = 1u << 15,  // runs subgraphs
};

// How an operation with float tensors computes with 8-bit integers.
enum class IntegerForm : uint8_t {
  kFloat,  // computes with floats alone
  kWeighted,  // a constant filter and an int32 bias
  kTied,  // all tensors have one scale
  kFixed,  // the output's scale is given
  kFree,  // each tensor has a scale of its own
};

// A scale of 1 / denominator; 0: none.
struct FixedScale {
  int32_t denominator, zero_point;
};

struct OperationInfo {
  OperationCode code;
  const char* name;
  int32_t since;  // feature level
  TableView<SignatureInfo> signatures;  // empty while the table doesn't describe the operation
  uint32_t traits;         // bits of OperationTrait
  IntegerForm integers;
  int8_t channel_axis;     // of the filter's output channels; -1: no filter
  FixedScale fixed_scale;  // of the output's 8-bit form
  FuseCode fused_as;       // the fused activation that does the same; NONE

  constexpr bool has(OperationTrait trait) const { return (traits & static_cast<uint32_t>(trait)) != 0; }
  // Whether an argument is a fused activation.
  bool takes_activation() const;
  // Whether the first input may have this type, at some feature level.
  bool takes(OperandCode type) const;
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

// False for a code that no operation has.
bool has_trait(OperationCode code, OperationTrait trait);

// "unknown" for a code that has no name.
const char* name_of(OperationCode code);
const char* name_of(OperandCode code);

}  // namespace nnapi_convert
