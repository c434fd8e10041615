// SPDX-License-Identifier: BSD-3-Clause
// Operators that copy elements, change their dtype or memory order, write into a tensor, or make numbers of tensors.
#include <algorithm>

#include "lib/program/arguments.h"
#include "lib/program/operator_table.h"

namespace nnapi_shim::program {

namespace {

enum MemoryFormat : int64_t { kRowMajor = 0, kPreserve = 1, kChannelsLast = 2 };

// Returns a copy in the dtype and the memory format.
Tensor* make_copy(Call& call, const Tensor& tensor, ScalarType dtype, int64_t format) {
  Pool& pool = call.context.pool;
  Tensor* copy = format == kPreserve ? make_tensor_like(pool, dtype, tensor.rank, tensor.sizes, tensor)
                                     : make_tensor(pool, dtype, tensor.rank, tensor.sizes);
  if (copy == nullptr) return nullptr;
  if (format == kChannelsLast && tensor.rank == 4) {
    int64_t stride = 1;
    for (const uint32_t axis : {1, 3, 2, 0}) {
      copy->strides[axis] = stride;
      stride *= std::max<int64_t>(copy->sizes[axis], 1);
    }
  }
  copy_elements(tensor, *copy);
  return copy;
}

bool clone(Call& call) {
  Tensor* tensor;
  int64_t format = kPreserve;
  if (!tensor_at(call, 0, &tensor)) return false;
  if (call.input_count > 1 && !optional_int_at(call, 1, kPreserve, &format)) return false;
  return give(call, 0, make_copy(call, *tensor, tensor->dtype, format));
}

bool contiguous_of(Call& call) {
  Tensor* tensor;
  int64_t format;
  if (!tensor_at(call, 0, &tensor) || !int_at(call, 1, &format)) return false;
  if (format == kPreserve) return call.context.fail("contiguous() doesn't take torch.preserve_format");
  if (format == kChannelsLast && tensor->rank != 4) {
    return call.context.fail("channels_last needs 4 axes, found %u", tensor->rank);
  }
  if (format == kChannelsLast ? tensor->is_contiguous_channels_last() : tensor->is_contiguous()) {
    return give_argument(call, 0);
  }
  return give(call, 0, make_copy(call, *tensor, tensor->dtype, format));
}

bool give_converted(Call& call, const Tensor& tensor, ScalarType dtype, bool copy, int64_t format) {
  const bool keeps_format = format == kPreserve || (format == kRowMajor && tensor.is_contiguous()) ||
                            (format == kChannelsLast && tensor.is_contiguous_channels_last());
  if (dtype == tensor.dtype && !copy && keeps_format) return give_argument(call, 0);
  return give(call, 0, make_copy(call, tensor, dtype, format));
}

// Runs a form of aten::to. Gets the numbers of its arguments: the dtype, the flag `copy`, the memory format; 0: the
// form has none.
bool run_to(Call& call, uint32_t dtype_number, uint32_t copy_number, uint32_t format_number, bool copy) {
  Tensor* tensor;
  int64_t format = kPreserve;
  if (!tensor_at(call, 0, &tensor)) return false;
  ScalarType dtype = tensor->dtype;
  if (dtype_number != 0 && !dtype_at(call, dtype_number, dtype, &dtype)) return false;
  if (copy_number != 0 && !bool_at(call, copy_number, &copy)) return false;
  if (format_number != 0 && !optional_int_at(call, format_number, kPreserve, &format)) return false;
  return give_converted(call, *tensor, dtype, copy, format);
}
template <uint32_t kDtype, uint32_t kCopy, uint32_t kFormat, bool kAlways = false>
bool to(Call& call) {
  return run_to(call, kDtype, kCopy, kFormat, kAlways);
}

bool to_other(Call& call) {
  Tensor *tensor, *other;
  bool copy = false;
  int64_t format = kPreserve;
  if (!tensor_at(call, 0, &tensor) || !tensor_at(call, 1, &other)) return false;
  if (call.input_count > 2 && !bool_at(call, 3, &copy)) return false;
  if (call.input_count > 2 && !optional_int_at(call, 4, kPreserve, &format)) return false;
  return give_converted(call, *tensor, other->dtype, copy, format);
}

bool run_cast(Call& call, ScalarType dtype) {
  Tensor* tensor;
  return tensor_at(call, 0, &tensor) && give_converted(call, *tensor, dtype, false, kPreserve);
}
template <ScalarType kDtype>
bool cast(Call& call) {
  return run_cast(call, kDtype);
}

// Writes `source`, repeated where its sizes are 1, into `target`.
bool write_broadcast(Call& call, const Tensor& source, const Tensor& target) {
  if (!need_writable(call, target)) return false;
  int64_t sizes[kMostAxes];
  uint32_t rank = target.rank;
  std::copy(target.sizes, target.sizes + rank, sizes);
  if (!broadcast(call, source, &rank, sizes)) return false;
  if (rank != target.rank || !std::equal(sizes, sizes + rank, target.sizes)) {
    return call.context.fail("the source has more elements than the tensor that is written");
  }
  const Value view(make_expanded(call.context.pool, source, rank, sizes));
  if (view.is_none()) return call.context.fail_memory();
  // A source that shares the target's memory is copied first.
  if (source.storage == target.storage && source.numel() > 1) {
    const Value copy(make_copy(call, view.tensor(), source.dtype, kRowMajor));
    if (copy.is_none()) return call.context.fail_memory();
    copy_elements(copy.tensor(), target);
  } else {
    copy_elements(view.tensor(), target);
  }
  return true;
}

bool fill_with(Call& call, const Value& value, const Tensor& target) {
  if (value.is_tensor()) {
    if (value.tensor().rank != 0) return call.context.fail("fill_() needs a tensor without axes");
    return write_broadcast(call, value.tensor(), target);
  }
  if (!is_number(value)) return call.context.fail("the value is %s, needs a number", kind_name(value));
  if (!need_writable(call, target)) return false;
  if (value.tag() == Tag::kFloat) {
    fill_elements(target, value.as_float());
  } else {
    fill_elements(target, value.as_int());
  }
  return true;
}

bool copy_in_place(Call& call) {
  Tensor* target;
  if (!tensor_at(call, 0, &target)) return false;
  const Value& source = call.input(1);
  const bool written =
      source.is_tensor() ? write_broadcast(call, source.tensor(), *target) : fill_with(call, source, *target);
  return written && give_argument(call, 0);
}

bool copy(Call& call) {
  Tensor *target, *source;
  if (!tensor_at(call, 0, &target) || !tensor_at(call, 1, &source)) return false;
  Tensor* result = make_tensor_like(call.context.pool, target->dtype, target->rank, target->sizes, *target);
  return give(call, 0, result) && write_broadcast(call, *source, *result);
}

bool fill_in_place(Call& call) {
  Tensor* target;
  return tensor_at(call, 0, &target) && fill_with(call, call.input(1), *target) && give_argument(call, 0);
}

bool fill(Call& call) {
  Tensor* tensor;
  if (!tensor_at(call, 0, &tensor)) return false;
  Tensor* result = make_tensor_like(call.context.pool, tensor->dtype, tensor->rank, tensor->sizes, *tensor);
  return give(call, 0, result) && fill_with(call, call.input(1), *result);
}

bool zero_in_place(Call& call) {
  Tensor* target;
  return tensor_at(call, 0, &target) && fill_with(call, Value(int64_t{0}), *target) && give_argument(call, 0);
}

bool one_element(Call& call, Tensor** tensor) {
  if (!tensor_at(call, 0, tensor)) return false;
  return (*tensor)->numel() == 1 ||
         call.context.fail("a tensor of %lld elements is no number", static_cast<long long>((*tensor)->numel()));
}

bool item(Call& call) {
  Tensor* tensor;
  if (!one_element(call, &tensor)) return false;
  if (is_floating(tensor->dtype)) {
    call.outputs[0] = Value(load_double(*tensor, tensor->offset));
  } else {
    const int64_t value = load_int(*tensor, tensor->offset);
    call.outputs[0] = tensor->dtype == ScalarType::kBool ? Value(value != 0) : Value(value);
  }
  return true;
}

bool run_int_of_tensor(Call& call, bool floats_too) {
  Tensor* tensor;
  if (!one_element(call, &tensor)) return false;
  if (!floats_too && is_floating(tensor->dtype)) return call.context.fail("a float tensor is no int without int()");
  call.outputs[0] = Value(load_int(*tensor, tensor->offset));
  return true;
}
template <bool kFloatsToo>
bool int_of_tensor(Call& call) {
  return run_int_of_tensor(call, kFloatsToo);
}

bool float_of_tensor(Call& call) {
  Tensor* tensor;
  if (!one_element(call, &tensor)) return false;
  call.outputs[0] = Value(load_double(*tensor, tensor->offset));
  return true;
}

bool bool_of_tensor(Call& call) {
  Tensor* tensor;
  if (!one_element(call, &tensor)) return false;
  call.outputs[0] = Value(load_double(*tensor, tensor->offset) != 0);
  return true;
}

constexpr OperatorRow kRows[] = {
    {"aten::Bool.Tensor", 1, 1, bool_of_tensor},
    {"aten::Float.Tensor", 1, 1, float_of_tensor},
    {"aten::FloatImplicit", 1, 1, float_of_tensor},
    {"aten::Int.Tensor", 1, 1, int_of_tensor<true>},
    {"aten::IntImplicit", 1, 1, int_of_tensor<false>},
    {"aten::ScalarImplicit", 1, 1, item},
    {"aten::_cast_Byte", 2, 1, cast<ScalarType::kUInt8>},
    {"aten::_cast_Double", 2, 1, cast<ScalarType::kFloat64>},
    {"aten::_cast_Float", 2, 1, cast<ScalarType::kFloat32>},
    {"aten::_cast_Half", 2, 1, cast<ScalarType::kFloat16>},
    {"aten::_cast_Int", 2, 1, cast<ScalarType::kInt32>},
    {"aten::_cast_Long", 2, 1, cast<ScalarType::kInt64>},
    {"aten::_to_copy", 7, 1, to<1, 0, 6, true>},
    {"aten::clone", 2, 1, clone},
    {"aten::contiguous", 2, 1, contiguous_of},
    {"aten::copy", 3, 1, copy},
    {"aten::copy_", 3, 1, copy_in_place},
    {"aten::copy_.Tensor,int,float", 2, 1, copy_in_place},
    {"aten::fill.Scalar,Tensor", 2, 1, fill},
    {"aten::fill_.Scalar,Tensor", 2, 1, fill_in_place},
    {"aten::is_nonzero", 1, 1, bool_of_tensor},
    {"aten::item", 1, 1, item},
    {"aten::lift", 1, 1, clone},
    {"aten::lift_fresh", 1, 1, to<0, 0, 0>},
    {"aten::lift_fresh_copy", 1, 1, clone},
    {"aten::to.device", 6, 1, to<2, 4, 5>},
    {"aten::to.dtype", 5, 1, to<1, 3, 4>},
    {"aten::to.dtype_layout", 8, 1, to<1, 6, 7>},
    {"aten::to.other", 5, 1, to_other},
    {"aten::to.prim_Device", 5, 1, to<2, 4, 0>},
    {"aten::to.prim_dtype", 4, 1, to<1, 3, 0>},
    {"aten::to.prim_other", 3, 1, to<0, 2, 0>},
    {"aten::type_as", 2, 1, to_other},
    {"aten::zero_", 1, 1, zero_in_place},
};

}  // namespace

const OperatorTable conversion_operators = operator_table<kRows>();

}  // namespace nnapi_shim::program
