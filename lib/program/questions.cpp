// SPDX-License-Identifier: BSD-3-Clause
// Operators that return properties of a tensor: sizes, strides, dtype, device.
#include <algorithm>

#include "lib/program/arguments.h"
#include "lib/program/operator_table.h"
#include "lib/program/view_axes.h"

namespace nnapi_shim::program {

namespace {

bool size_list(Call& call, const int64_t* values, uint32_t count) {
  Sequence* list = make_sequence(call.context.pool, Tag::kList, count);
  if (list == nullptr) return call.context.fail_memory();
  for (uint32_t i = 0; i < count; ++i) list->values[i] = Value(values[i]);
  call.outputs[0] = Value(list);
  return true;
}

// Returns the sizes as a tensor.
bool shape_as_tensor(Call& call) {
  Tensor* tensor;
  if (!tensor_at(call, 0, &tensor)) return false;
  const int64_t rank = tensor->rank;
  Tensor* made = make_tensor(call.context.pool, ScalarType::kInt64, 1, &rank);
  if (!give(call, 0, made)) return false;
  std::copy(tensor->sizes, tensor->sizes + tensor->rank, made->data<int64_t>());
  return true;
}

enum class Question {
  kSizes,
  kSize,
  kStrides,
  kStride,
  kNumel,
  kRank,
  kLength,
  kIsFloating,
  kIsContiguous,
  kOffset,
  kDtype,
  kDevice,
  kElementSize,
  kFalse,
  kZero
};

bool run_asked(Call& call, Question question) {
  Tensor* tensor;
  if (!tensor_at(call, 0, &tensor)) return false;
  uint32_t axis;
  switch (question) {
    case Question::kSizes:
      return size_list(call, tensor->sizes, tensor->rank);
    case Question::kStrides:
      return size_list(call, tensor->strides, tensor->rank);
    case Question::kSize:
    case Question::kStride:
      if (!need_axes(call, *tensor) || !axis_at(call, 1, tensor->rank, &axis)) return false;
      return give_number(call, question == Question::kSize ? tensor->sizes[axis] : tensor->strides[axis]);
    case Question::kNumel:
      return give_number(call, tensor->numel());
    case Question::kRank:
      return give_number(call, static_cast<int64_t>(tensor->rank));
    case Question::kLength:
      if (!need_axes(call, *tensor)) return false;
      return give_number(call, tensor->sizes[0]);
    case Question::kIsFloating:
      return give_number(call, is_floating(tensor->dtype));
    case Question::kIsContiguous: {
      int64_t format = 0;
      if (call.input_count > 1 && !int_at(call, 1, &format)) return false;
      return give_number(call, format == 2 ? tensor->is_contiguous_channels_last() : tensor->is_contiguous());
    }
    case Question::kOffset:
      return give_number(call, tensor->offset);
    case Question::kDtype:
      return give_number(call, static_cast<int64_t>(tensor->dtype));
    case Question::kDevice:
      call.outputs[0] = Value::device();
      return true;
    case Question::kElementSize:
      return give_number(call, static_cast<int64_t>(element_bytes(tensor->dtype)));
    case Question::kFalse:
      return give_number(call, false);
    case Question::kZero:
      return give_number(call, int64_t{0});
  }
  return true;
}
template <Question kQuestion>
bool asked(Call& call) {
  return run_asked(call, kQuestion);
}

bool is_same_size(Call& call) {
  Tensor *a, *b;
  if (!tensor_at(call, 0, &a) || !tensor_at(call, 1, &b)) return false;
  return give_number(call, have_same_sizes(*a, *b));
}

constexpr OperatorRow kRows[] = {
    {"aten::_shape_as_tensor", 1, 1, shape_as_tensor},
    {"aten::dim", 1, 1, asked<Question::kRank>},
    {"aten::element_size", 1, 1, asked<Question::kElementSize>},
    {"aten::is_complex", 1, 1, asked<Question::kFalse>},
    {"aten::is_contiguous", 1, 1, asked<Question::kIsContiguous>},
    {"aten::is_contiguous.memory_format", 2, 1, asked<Question::kIsContiguous>},
    {"aten::is_floating_point", 1, 1, asked<Question::kIsFloating>},
    {"aten::len.Tensor", 1, 1, asked<Question::kLength>},
    {"aten::numel", 1, 1, asked<Question::kNumel>},
    {"aten::size", 1, 1, asked<Question::kSizes>},
    {"aten::size.int", 2, 1, asked<Question::kSize>},
    {"aten::storage_offset", 1, 1, asked<Question::kOffset>},
    {"aten::stride", 1, 1, asked<Question::kStrides>},
    {"aten::stride.int", 2, 1, asked<Question::kStride>},
    {"prim::device", 1, 1, asked<Question::kDevice>},
    {"prim::dtype", 1, 1, asked<Question::kDtype>},
    {"prim::is_cuda", 1, 1, asked<Question::kFalse>},
    {"prim::is_quantized", 1, 1, asked<Question::kFalse>},
    {"prim::layout", 1, 1, asked<Question::kZero>},
    {"prim::requires_grad", 1, 1, asked<Question::kFalse>},
    {"prim::shape", 1, 1, asked<Question::kSizes>},
    {"aten::is_same_size", 2, 1, is_same_size},
};

}  // namespace

const OperatorTable question_operators = operator_table<kRows>();

}  // namespace nnapi_shim::program
