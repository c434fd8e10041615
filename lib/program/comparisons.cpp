// SPDX-License-Identifier: BSD-3-Clause
// Comparisons, logic and bits of two tensors or numbers, element by element.
#include <algorithm>
#include <cmath>

#include "lib/program/binary.h"
#include "lib/program/float_loops.h"
#include "lib/program/operator_table.h"

namespace nnapi_shim::program {

namespace {

PROGRAM_FUNCTION_OF_TWO(Eq, a == b)
PROGRAM_FUNCTION_OF_TWO(Ne, a != b)
PROGRAM_FUNCTION_OF_TWO(Lt, a < b)
PROGRAM_FUNCTION_OF_TWO(Le, a <= b)
PROGRAM_FUNCTION_OF_TWO(Gt, a > b)
PROGRAM_FUNCTION_OF_TWO(Ge, a >= b)
PROGRAM_FUNCTION_OF_TWO(LogicalAnd, a != 0 && b != 0)
PROGRAM_FUNCTION_OF_TWO(LogicalOr, a != 0 || b != 0)
PROGRAM_FUNCTION_OF_TWO(LogicalXor, (a != 0) != (b != 0))
PROGRAM_FUNCTION_OF_TWO(BitwiseAnd, a& b)
PROGRAM_FUNCTION_OF_TWO(BitwiseOr, a | b)
PROGRAM_FUNCTION_OF_TWO(BitwiseXor, a ^ b)
PROGRAM_FUNCTION_OF_TWO(ShiftLeft, b<0 || b> 63 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a) << b))
PROGRAM_FUNCTION_OF_TWO(ShiftRight, a >> (b < 0 || b > 63 ? 63 : b))

template <typename F>
constexpr MapOp without_floats() {
  return {{nullptr, nullptr, map_two<int64_t, F>}, MapResult::kSame, true};
}

constexpr MapOp kEq = all_classes<Eq>(MapResult::kBool);
constexpr MapOp kNe = all_classes<Ne>(MapResult::kBool);
constexpr MapOp kLt = all_classes<Lt>(MapResult::kBool);
constexpr MapOp kLe = all_classes<Le>(MapResult::kBool);
constexpr MapOp kGt = {{greater, map_two<double, Gt>, map_two<int64_t, Gt>}, MapResult::kBool, true};
constexpr MapOp kGe = all_classes<Ge>(MapResult::kBool);
constexpr MapOp kLogicalAnd = {
    {nullptr, map_two<double, LogicalAnd>, map_two<int64_t, LogicalAnd>}, MapResult::kBool, true};
constexpr MapOp kLogicalOr = {
    {nullptr, map_two<double, LogicalOr>, map_two<int64_t, LogicalOr>}, MapResult::kBool, true};
constexpr MapOp kLogicalXor = {
    {nullptr, map_two<double, LogicalXor>, map_two<int64_t, LogicalXor>}, MapResult::kBool, true};
constexpr MapOp kBitwiseAnd = without_floats<BitwiseAnd>();
constexpr MapOp kBitwiseOr = without_floats<BitwiseOr>();
constexpr MapOp kBitwiseXor = without_floats<BitwiseXor>();
constexpr MapOp kShiftLeft = without_floats<ShiftLeft>();
constexpr MapOp kShiftRight = without_floats<ShiftRight>();

struct IsClose {
  static double of(double a, double b, const double* bounds) {
    if (a == b || (bounds[2] != 0 && is_nan(a) && is_nan(b))) return 1;
    const double distance = std::fabs(a - b);
    return std::isfinite(distance) && distance <= bounds[1] + std::fabs(bounds[0] * b) ? 1 : 0;
  }
};
constexpr MapOp kIsClose = {{nullptr, map_two_with<double, IsClose>, nullptr}, MapResult::kBool, true};

bool isclose(Call& call) {
  Tensor *a, *b;
  Parameters parameters;
  double bound;
  bool equal_nan;
  if (!tensor_at(call, 0, &a) || !tensor_at(call, 1, &b) || !bool_at(call, 4, &equal_nan)) return false;
  for (uint32_t i = 0; i < 2; ++i) {
    if (!number_at(call, 2 + i, &bound)) return false;
    parameters.set(i, bound);
  }
  parameters.set(2, equal_nan ? 1.0 : 0.0);
  if (a->dtype != b->dtype) return call.context.fail("isclose() needs tensors of the same dtype");
  if (is_floating(a->dtype)) return run_two(call, kIsClose, &parameters, false);
  Value both[2] = {Value(converted_tensor(call.context.pool, *a, ScalarType::kFloat64)),
                   Value(converted_tensor(call.context.pool, *b, ScalarType::kFloat64))};
  if (both[0].is_none() || both[1].is_none()) return call.context.fail_memory();
  const Value* inputs[2] = {&both[0], &both[1]};
  Call inner{call.context, inputs, 2, call.outputs, 1};
  return run_two(inner, kIsClose, &parameters, false);
}

// Replaces the result of a comparison by whether all its elements are true.
bool give_all(Call& call) {
  const Tensor& tensor = call.outputs[0].tensor();
  const auto* bools = tensor.data<uint8_t>();
  const int64_t count = tensor.numel();  // of row-major or channels_last elements, which are dense
  call.outputs[0] = Value(std::find(bools, bools + count, 0) == bools + count);
  return true;
}

bool allclose(Call& call) {
  return isclose(call) && give_all(call);
}

bool equal(Call& call) {
  Tensor *a, *b;
  if (!tensor_at(call, 0, &a) || !tensor_at(call, 1, &b)) return false;
  if (!have_same_sizes(*a, *b)) {
    call.outputs[0] = Value(false);
    return true;
  }
  return of_two<kEq>(call) && give_all(call);
}

constexpr OperatorRow kRows[] = {
    PROGRAM_ROWS_OF_TWO("eq", kEq),
    PROGRAM_ROWS_OF_TWO("ge", kGe),
    PROGRAM_ROWS_OF_TWO("gt", kGt),
    PROGRAM_ROWS_OF_TWO("le", kLe),
    PROGRAM_ROWS_OF_TWO("lt", kLt),
    PROGRAM_ROWS_OF_TWO("ne", kNe),
    PROGRAM_ROWS_OF_TWO("not_equal", kNe),
    PROGRAM_ROWS_OF_TWO("greater", kGt),
    PROGRAM_ROWS_OF_TWO("greater_equal", kGe),
    PROGRAM_ROWS_OF_TWO("less", kLt),
    PROGRAM_ROWS_OF_TWO("less_equal", kLe),
    {"aten::logical_and", 2, 1, of_two<kLogicalAnd>},
    {"aten::logical_and_", 2, 1, of_two_in_place<kLogicalAnd>},
    {"aten::logical_or", 2, 1, of_two<kLogicalOr>},
    {"aten::logical_or_", 2, 1, of_two_in_place<kLogicalOr>},
    {"aten::logical_xor", 2, 1, of_two<kLogicalXor>},
    {"aten::logical_xor_", 2, 1, of_two_in_place<kLogicalXor>},
    {"aten::bitwise_and.Tensor,Scalar,Scalar_Tensor", 2, 1, of_two<kBitwiseAnd>},
    {"aten::bitwise_and_.Tensor,Scalar", 2, 1, of_two_in_place<kBitwiseAnd>},
    {"aten::bitwise_or.Tensor,Scalar,Scalar_Tensor", 2, 1, of_two<kBitwiseOr>},
    {"aten::bitwise_or_.Tensor,Scalar", 2, 1, of_two_in_place<kBitwiseOr>},
    {"aten::bitwise_xor.Tensor,Scalar,Scalar_Tensor", 2, 1, of_two<kBitwiseXor>},
    {"aten::bitwise_xor_.Tensor,Scalar", 2, 1, of_two_in_place<kBitwiseXor>},
    {"aten::__and__.Tensor,Scalar", 2, 1, of_two<kBitwiseAnd>},
    {"aten::__or__.Tensor,Scalar", 2, 1, of_two<kBitwiseOr>},
    {"aten::__xor__.Tensor,Scalar", 2, 1, of_two<kBitwiseXor>},
    {"aten::__iand__.Tensor,Scalar", 2, 1, of_two_in_place<kBitwiseAnd>},
    {"aten::__ior__.Tensor,Scalar", 2, 1, of_two_in_place<kBitwiseOr>},
    {"aten::__ixor__.Tensor,Scalar", 2, 1, of_two_in_place<kBitwiseXor>},
    {"aten::isclose", 5, 1, isclose},
    {"aten::allclose", 5, 1, allclose},
    {"aten::equal", 2, 1, equal},
    {"aten::__lshift__.Tensor,Scalar", 2, 1, of_two<kShiftLeft>},
    {"aten::__rshift__.Tensor,Scalar", 2, 1, of_two<kShiftRight>},
    {"aten::bitwise_left_shift.Tensor,Tensor_Scalar,Scalar_Tensor", 2, 1, of_two<kShiftLeft>},
    {"aten::bitwise_right_shift.Tensor,Tensor_Scalar,Scalar_Tensor", 2, 1, of_two<kShiftRight>},
};

}  // namespace

const OperatorTable comparison_operators = operator_table<kRows>();

}  // namespace nnapi_shim::program
