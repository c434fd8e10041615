// SPDX-License-Identifier: BSD-3-Clause
// Makes the questions that nnapi-probe asks a device: operations, each in all combinations of the conditions that
// drivers restrict.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/format/operation_table.h"

namespace nnapi_probe {

using nnapi_convert::ArgumentInfo;
using nnapi_convert::OperandCode;
using nnapi_convert::OperationCode;
using nnapi_convert::OperationInfo;
using nnapi_convert::SignatureInfo;
using nnapi_convert::TypeCombination;

// The kinds of conditions in the schema of device profiles (schemas/device_profile.schema.json).
enum class ConditionKind { kType, kRank, kConstant, kPadding, kLayout, kStride };
// The styles of padding, in the order of the schema's names.
enum class Padding { kSame, kValid, kExplicit };

struct Condition {
  ConditionKind kind;
  std::string argument;  // for types, ranks and constants: the argument's name
  bool operator==(const Condition& other) const { return kind == other.kind && argument == other.argument; }
  bool operator<(const Condition& other) const {
    return kind != other.kind ? kind < other.kind : argument < other.argument;
  }
};

// One question: an operation in one form. `values` has one entry for each condition of its operation: an OperandCode, a
// rank, 1 or 0 (constant or not), a Padding, 1 or 0 (NCHW or NHWC), a stride.
struct Point {
  const SignatureInfo* signature = nullptr;
  const TypeCombination* types = nullptr;
  std::vector<int32_t> values;
};

struct OperationGrid {
  const OperationInfo* operation = nullptr;
  std::vector<Condition> conditions;
  std::vector<Point> points;

  // Returns the value of a condition at a point; `absent` if the operation has no such condition.
  int32_t value(const Point& point, ConditionKind kind, const std::string& argument, int32_t absent) const;
};

bool is_scalar(OperandCode type);

// Returns the grids of all operations asked about that `feature_level` has, in the order of the operations table.
// Leaves out points that need a higher level.
std::vector<OperationGrid> make_grid(int32_t feature_level);

// Returns a text such as "CONV_2D filter=TENSOR_FLOAT32 ...", for people and for comparing answers.
std::string to_text(const OperationGrid& grid, const Point& point);

}  // namespace nnapi_probe
