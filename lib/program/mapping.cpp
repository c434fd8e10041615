// SPDX-License-Identifier: BSD-3-Clause
#include "lib/program/mapping.h"

#include <algorithm>

namespace nnapi_shim::program {

void Parameters::set(uint32_t number, double value) {
  of_float[number] = static_cast<float>(value);
  of_double[number] = value;
  of_int[number] = int_of(value);
}

void Parameters::set(uint32_t number, const Value& value) {
  set(number, number_of(value));
  of_int[number] = integer_of(value);
}

namespace {

// Returns whether results of dtype `from` may be written to a tensor of dtype `to`, as in PyTorch.
bool may_become(ScalarType from, ScalarType to) {
  if (is_floating(from)) return is_floating(to);
  return from == ScalarType::kBool || to != ScalarType::kBool;
}

}  // namespace

bool run_map(Call& call, const MapOp& op, const Parameters* parameters, uint32_t count, Operand* operands,
             uint32_t masks, const Tensor* target) {
  Promotion promotion;
  for (uint32_t i = masks; i < count; ++i) operands[i].add_to(promotion);
  ScalarType dtype = promotion.result();
  if (op.result == MapResult::kFloat && !is_floating(dtype)) dtype = ScalarType::kFloat32;
  Compute compute = compute_of(dtype);
  if (compute == Compute::kFloat && op.kernels[0] == nullptr) compute = Compute::kDouble;
  const Kernel kernel = op.kernels[static_cast<size_t>(compute)];
  if (kernel == nullptr || (dtype == ScalarType::kBool && !op.takes_bools)) {
    return call.context.fail("the operator doesn't take %s", dtype_name(dtype));
  }
  const Tensor* tensors[kMostOperands];
  int64_t sizes[kMostAxes];
  uint32_t rank = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (i >= masks && !operands[i].round_to(call.context.pool, dtype)) return call.context.fail_memory();
    tensors[i] = &operands[i].tensor();
    if (!broadcast(call, *tensors[i], &rank, sizes)) return false;
  }
  if (op.result == MapResult::kBool) dtype = ScalarType::kBool;
  if (target != nullptr) {
    if (!may_become(dtype, target->dtype)) {
      return call.context.fail("%s can't become %s in place", dtype_name(dtype), dtype_name(target->dtype));
    }
    if (rank != target->rank || !std::equal(sizes, sizes + rank, target->sizes)) {
      return call.context.fail("the result has other sizes than the tensor that is changed in place");
    }
    if (!need_writable(call, *target)) return false;
    if (!map_elements(compute, kernel, parameters, *target, count, tensors)) {
      return call.context.fail("division of whole numbers by zero");
    }
    return give_argument(call, 0);
  }
  const Tensor* like = tensors[masks < count ? masks : 0];
  for (uint32_t i = 0; i < count; ++i) {
    if (tensors[i]->rank == rank && std::equal(sizes, sizes + rank, tensors[i]->sizes)) {
      like = tensors[i];
      break;
    }
  }
  Tensor* result = make_tensor_like(call.context.pool, dtype, rank, sizes, *like);
  if (!give(call, 0, result)) return false;
  return map_elements(compute, kernel, parameters, *result, count, tensors) ||
         call.context.fail("division of whole numbers by zero");
}

}  // namespace nnapi_shim::program
