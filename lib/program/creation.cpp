// SPDX-License-Identifier: BSD-3-Clause
// Operators that make tensors of numbers.
#include <algorithm>
#include <cmath>
#include <limits>

#include "lib/program/arguments.h"
#include "lib/program/operator_table.h"

namespace nnapi_shim::program {

namespace {

ScalarType default_type(const Value& number) {
  return number.tag() == Tag::kFloat ? ScalarType::kFloat32 : number_type(number);
}

bool fill_number(Call& call, const Tensor& tensor, const Value& value) {
  if (value.tag() == Tag::kFloat) {
    fill_elements(tensor, value.as_float());
  } else if (is_number(value)) {
    fill_elements(tensor, value.as_int());
  } else {
    return call.context.fail("the value is %s, needs a number", kind_name(value));
  }
  return true;
}

bool give_filled(Call& call, ScalarType dtype, uint32_t rank, const int64_t* sizes, const Value& value) {
  for (uint32_t i = 0; i < rank; ++i) {
    if (sizes[i] < 0) return call.context.fail("size %lld of a new tensor", static_cast<long long>(sizes[i]));
  }
  Tensor* tensor = make_tensor(call.context.pool, dtype, rank, sizes);
  return give(call, 0, tensor) && fill_number(call, *tensor, value);
}

// Runs zeros, ones and empty (which gives zeros): fills with `number`; the dtype is argument 1.
bool run_filled(Call& call, int number) {
  int64_t sizes[kMostAxes];
  uint32_t rank;
  ScalarType dtype;
  if (!ints_at(call, 0, kMostAxes, sizes, &rank)) return false;
  if (!dtype_at(call, 1, ScalarType::kFloat32, &dtype)) return false;
  return give_filled(call, dtype, rank, sizes, Value(int64_t{number}));
}
template <int kNumber>
bool filled(Call& call) {
  return run_filled(call, kNumber);
}

bool full(Call& call) {
  int64_t sizes[kMostAxes];
  uint32_t rank;
  ScalarType dtype;
  if (!ints_at(call, 0, kMostAxes, sizes, &rank)) return false;
  if (!dtype_at(call, 2, default_type(call.input(1)), &dtype)) return false;
  return give_filled(call, dtype, rank, sizes, call.input(1));
}

// Runs new_zeros, new_ones and new_empty: sizes are argument 1, the dtype argument 2.
bool run_new_filled(Call& call, int number) {
  Tensor* like;
  int64_t sizes[kMostAxes];
  uint32_t rank;
  ScalarType dtype;
  if (!tensor_at(call, 0, &like) || !ints_at(call, 1, kMostAxes, sizes, &rank)) return false;
  if (!dtype_at(call, 2, like->dtype, &dtype)) return false;
  return give_filled(call, dtype, rank, sizes, Value(int64_t{number}));
}
template <int kNumber>
bool new_filled(Call& call) {
  return run_new_filled(call, kNumber);
}

bool new_full(Call& call) {
  Tensor* like;
  int64_t sizes[kMostAxes];
  uint32_t rank;
  ScalarType dtype;
  if (!tensor_at(call, 0, &like) || !ints_at(call, 1, kMostAxes, sizes, &rank)) return false;
  if (!dtype_at(call, 3, like->dtype, &dtype)) return false;
  return give_filled(call, dtype, rank, sizes, call.input(2));
}

bool give_like(Call& call, uint32_t dtype_number, const Value& value) {
  Tensor* like;
  ScalarType dtype;
  if (!tensor_at(call, 0, &like) || !dtype_at(call, dtype_number, like->dtype, &dtype)) return false;
  int64_t format;
  if (!optional_int_at(call, dtype_number + 4, 1, &format)) return false;
  Pool& pool = call.context.pool;
  Tensor* tensor = format == 0 ? make_tensor(pool, dtype, like->rank, like->sizes)
                               : make_tensor_like(pool, dtype, like->rank, like->sizes, *like);
  return give(call, 0, tensor) && fill_number(call, *tensor, value);
}
template <int kNumber>
bool filled_like(Call& call) {
  return give_like(call, 1, Value(int64_t{kNumber}));
}
bool full_like(Call& call) {
  return give_like(call, 2, call.input(1));
}

// Makes a number a tensor without axes; the dtype is argument 1.
bool number_tensor(Call& call) {
  ScalarType dtype;
  if (!is_number(call.input(0))) return call.context.fail("a tensor of %s", kind_name(call.input(0)));
  if (!dtype_at(call, 1, default_type(call.input(0)), &dtype)) return false;
  return give_filled(call, dtype, 0, nullptr, call.input(0));
}

bool scalar_tensor(Call& call) {
  ScalarType dtype;
  if (!dtype_at(call, 1, ScalarType::kFloat32, &dtype)) return false;
  return give_filled(call, dtype, 0, nullptr, call.input(0));
}

// Makes a number a tensor, with the dtype that at::scalar_to_tensor() gives it.
bool num_to_tensor(Call& call) {
  const Value& value = call.input(0);
  if (!is_number(value)) return call.context.fail("a tensor of %s", kind_name(value));
  return give_filled(call, number_type(value), 0, nullptr, value);
}

bool is_list(const Value& value) {
  return value.tag() == Tag::kList || value.tag() == Tag::kTuple;
}

// Returns the sizes of nested lists, by their first elements.
bool nested_sizes(Call& call, const Value& data, uint32_t* rank, int64_t* sizes, const Value** leaf) {
  const Value* value = &data;
  *rank = 0;
  while (is_list(*value)) {
    if (*rank == kMostAxes) return call.context.fail("a tensor has at most %u axes", kMostAxes);
    const Sequence& list = value->sequence();
    sizes[(*rank)++] = list.count;
    if (list.count == 0) {
      *leaf = nullptr;
      return true;
    }
    value = &list.values[0];
  }
  *leaf = value;
  return true;
}

bool fill_nested(Call& call, const Value& data, Tensor& place) {
  if (place.rank == 0) {
    if (data.is_tensor() && data.tensor().numel() == 1) {
      Tensor one = data.tensor();
      one.rank = 0;
      copy_elements(one, place);
      return true;
    }
    if (is_number(data)) return fill_number(call, place, data);
    return call.context.fail("a tensor's element is %s, needs a number", kind_name(data));
  }
  if (!is_list(data) || static_cast<int64_t>(data.sequence().count) != place.sizes[0]) {
    return call.context.fail("the lists of a tensor's elements need the same lengths");
  }
  Tensor inner = place;
  --inner.rank;
  std::copy(place.sizes + 1, place.sizes + place.rank, inner.sizes);
  std::copy(place.strides + 1, place.strides + place.rank, inner.strides);
  for (int64_t i = 0; i < place.sizes[0]; ++i) {
    if (!fill_nested(call, data.sequence().values[i], inner)) return false;
    inner.offset += place.strides[0];
  }
  return true;
}

// Runs torch.tensor() and torch.as_tensor() on numbers, lists of numbers, and tensors.
bool tensor_of_data(Call& call) {
  const Value& data = call.input(0);
  ScalarType dtype = ScalarType::kFloat32;
  if (data.is_tensor()) {
    Tensor& tensor = data.tensor();
    if (!dtype_at(call, 1, tensor.dtype, &dtype)) return false;
    const bool shares = call.input_count == 3;  // as_tensor
    if (shares) return give(call, 0, converted_tensor(call.context.pool, tensor, dtype));
    return give(call, 0, row_major_copy(call.context.pool, tensor, dtype));
  }
  uint32_t rank;
  int64_t sizes[kMostAxes];
  const Value* leaf = nullptr;
  if (!nested_sizes(call, data, &rank, sizes, &leaf)) return false;
  if (leaf != nullptr) {
    if (leaf->is_tensor()) {
      dtype = leaf->tensor().dtype;
    } else if (is_number(*leaf)) {
      dtype = default_type(*leaf);
    } else {
      return call.context.fail("a tensor of %s", kind_name(*leaf));
    }
  }
  if (!dtype_at(call, 1, dtype, &dtype)) return false;
  Tensor* tensor = make_tensor(call.context.pool, dtype, rank, sizes);
  return give(call, 0, tensor) && fill_nested(call, data, *tensor);
}

// Writes first + i * step, in one class of numbers.
template <typename T>
void write_steps(const Tensor& tensor, Compute compute, T first, T step) {
  Cursor cursor;
  cursor.start(tensor);
  T buffer[kChunk];
  const int64_t count = tensor.numel();
  for (int64_t i = 0; i < count;) {
    const auto length = static_cast<size_t>(std::min<int64_t>(count - i, kChunk));
    for (size_t k = 0; k < length; ++k, ++i) buffer[k] = first + static_cast<T>(i) * step;
    cursor.write(length, compute, buffer);
  }
}

// Runs arange. Its arguments are the end; start and end; or start, end and step; then the dtype.
bool run_arange(Call& call, uint32_t numbers, bool with_end) {
  bool whole = true;
  for (uint32_t i = 0; i < numbers; ++i) {
    if (!is_number(call.input(i))) return call.context.fail("argument %u needs a number", i + 1);
    whole = whole && call.input(i).tag() != Tag::kFloat;
  }
  const Value zero(int64_t{0}), one(int64_t{1});
  const Value& start = numbers > 1 ? call.input(0) : zero;
  const Value& end = call.input(numbers > 1 ? 1 : 0);
  const Value& step = numbers > 2 ? call.input(2) : one;
  ScalarType dtype;
  if (!dtype_at(call, numbers, whole && !with_end ? ScalarType::kInt64 : ScalarType::kFloat32, &dtype)) return false;
  const double from = number_of(start), to = number_of(end), each = number_of(step);
  if (!(each != 0) || !std::isfinite(from) || !std::isfinite(to) || !std::isfinite(each) ||
      (each > 0 ? to < from : to > from)) {
    return call.context.fail("a range from %g to %g by %g", from, to, each);
  }
  double count = with_end ? std::floor((to - from) / each) + 1 : std::ceil((to - from) / each);
  if (dtype == ScalarType::kInt64 && !with_end) {
    const double sign = each > 0 ? 1 : -1;
    count = std::ceil(static_cast<double>(integer_of(end)) - static_cast<double>(integer_of(start)) +
                      static_cast<double>(integer_of(step)) - sign);
    if (integer_of(step) == 0) return call.context.fail("a range with the step 0");
    count = std::trunc(count / static_cast<double>(integer_of(step)));
  }
  if (!(count < 9e15)) return call.context.fail_memory();
  const auto size = static_cast<int64_t>(std::max(count, 0.0));
  Tensor* tensor = make_tensor(call.context.pool, dtype, 1, &size);
  if (!give(call, 0, tensor)) return false;
  if (is_floating(dtype)) {
    write_steps<double>(*tensor, Compute::kDouble, from, each);
  } else if (size > 0) {
    // The last element may overflow only where the caller's numbers do.
    const int64_t first = integer_of(start), stride = integer_of(step);
    Cursor cursor;
    cursor.start(*tensor);
    auto value = static_cast<uint64_t>(first);
    for (int64_t i = 0; i < size; ++i, value += static_cast<uint64_t>(stride)) {
      const auto element = static_cast<int64_t>(value);
      cursor.write(1, Compute::kInt, &element);
    }
  }
  return true;
}
template <uint32_t kNumbers, bool kWithEnd>
bool arange(Call& call) {
  return run_arange(call, kNumbers, kWithEnd);
}

bool linspace(Call& call) {
  double start, end;
  int64_t steps;
  ScalarType dtype;
  if (!number_at(call, 0, &start) || !number_at(call, 1, &end) || !int_at(call, 2, &steps)) return false;
  if (!dtype_at(call, 3, ScalarType::kFloat32, &dtype)) return false;
  if (steps < 0) return call.context.fail("%lld steps", static_cast<long long>(steps));
  Tensor* tensor = make_tensor(call.context.pool, dtype, 1, &steps);
  if (!give(call, 0, tensor)) return false;
  if (!is_floating(dtype)) {
    start = std::trunc(start);
    end = std::trunc(end);
  }
  // Both halves begin at their end, as PyTorch's do.
  const double step = steps > 1 ? (end - start) / static_cast<double>(steps - 1) : 0;
  const auto narrow_step = static_cast<double>(static_cast<float>(
      (static_cast<float>(end) - static_cast<float>(start)) / static_cast<float>(std::max<int64_t>(steps - 1, 1))));
  const bool is_narrow = dtype == ScalarType::kFloat32;
  const double each = is_narrow ? narrow_step : step;
  for (int64_t i = 0; i < steps; ++i) {
    const bool is_first_half = i < steps / 2;
    const double value = is_first_half || steps == 1 ? start + each * static_cast<double>(i)
                                                     : end - each * static_cast<double>(steps - i - 1);
    store_double(*tensor, i, value);
  }
  return true;
}

bool eye(Call& call) {
  const bool is_square = call.input_count == 5;
  int64_t sizes[2];
  ScalarType dtype;
  if (!int_at(call, 0, &sizes[0]) || !int_at(call, is_square ? 0 : 1, &sizes[1])) return false;
  if (!dtype_at(call, is_square ? 1 : 2, ScalarType::kFloat32, &dtype)) return false;
  if (!give_filled(call, dtype, 2, sizes, Value(int64_t{0}))) return false;
  const Tensor& tensor = call.outputs[0].tensor();
  for (int64_t i = 0; i < std::min(sizes[0], sizes[1]); ++i) store_int(tensor, i * (sizes[1] + 1), 1);
  return true;
}

bool one_hot(Call& call) {
  Tensor* tensor;
  int64_t classes;
  if (!tensor_at(call, 0, &tensor) || !int_at(call, 1, &classes)) return false;
  if (tensor->dtype != ScalarType::kInt64 || tensor->rank == kMostAxes) {
    return call.context.fail("one_hot() needs an int64 tensor of at most %u axes", kMostAxes - 1);
  }
  const int64_t count = tensor->numel();
  Cursor cursor;
  cursor.start(*tensor);
  int64_t most = -1;
  for (int64_t i = 0; i < count; ++i) {
    int64_t value;
    cursor.read(1, Compute::kInt, &value);
    if (value < 0) return call.context.fail("one_hot() of the class %lld", static_cast<long long>(value));
    most = std::max(most, value);
  }
  if (classes == -1) {
    if (count == 0) return call.context.fail("one_hot() of nothing needs the number of classes");
    if (most == std::numeric_limits<int64_t>::max()) return call.context.fail_memory();
    classes = most + 1;
  }
  if (classes < 1 || most >= classes) {
    return call.context.fail("one_hot() of class %lld of %lld", static_cast<long long>(most),
                             static_cast<long long>(classes));
  }
  int64_t sizes[kMostAxes];
  std::copy(tensor->sizes, tensor->sizes + tensor->rank, sizes);
  sizes[tensor->rank] = classes;
  if (!give_filled(call, ScalarType::kInt64, tensor->rank + 1, sizes, Value(int64_t{0}))) return false;
  cursor.start(*tensor);
  for (int64_t i = 0; i < count; ++i) {
    int64_t value;
    cursor.read(1, Compute::kInt, &value);
    call.outputs[0].tensor().data<int64_t>()[i * classes + value] = 1;
  }
  return true;
}

// Runs triu and tril: keeps the elements above (or below) the diagonal of the last two axes.
bool run_triangle(Call& call, bool upper, bool in_place) {
  Tensor* tensor;
  int64_t diagonal;
  if (!tensor_at(call, 0, &tensor) || !int_at(call, 1, &diagonal)) return false;
  if (tensor->rank < 2) return call.context.fail("needs at least 2 axes, found %u", tensor->rank);
  Tensor* result = tensor;
  if (in_place) {
    if (!need_writable(call, *tensor) || !give_argument(call, 0)) return false;
  } else {
    result = row_major_copy(call.context.pool, *tensor, tensor->dtype);
    if (!give(call, 0, result)) return false;
  }
  if (result->numel() == 0) return true;
  const int64_t rows = tensor->sizes[tensor->rank - 2], columns = tensor->sizes[tensor->rank - 1];
  Tensor view = *result;
  // All rows but those of one matrix are one view.
  for (int64_t row = 0; row < rows; ++row) {
    const double border = static_cast<double>(row) + static_cast<double>(diagonal);  // the diagonal's column
    int64_t begin = 0, end = columns;
    if (upper) {
      end = static_cast<int64_t>(std::min(std::max(border, 0.0), static_cast<double>(columns)));
    } else {
      begin = static_cast<int64_t>(std::min(std::max(border + 1, 0.0), static_cast<double>(columns)));
    }
    if (begin >= end) continue;
    view.offset = result->offset + row * result->strides[view.rank - 2] + begin * result->strides[view.rank - 1];
    view.sizes[view.rank - 2] = 1;
    view.sizes[view.rank - 1] = end - begin;
    fill_elements(view, int64_t{0});
  }
  return true;
}
template <bool kUpper, bool kInPlace>
bool triangle(Call& call) {
  return run_triangle(call, kUpper, kInPlace);
}

constexpr OperatorRow kRows[] = {
    {"aten::arange", 5, 1, arange<1, false>},
    {"aten::arange.start", 6, 1, arange<2, false>},
    {"aten::arange.start_step", 7, 1, arange<3, false>},
    {"aten::as_tensor.,list,float,int,bool", 3, 1, tensor_of_data},
    {"aten::empty.memory_format", 6, 1, filled<0>},
    {"aten::empty_like", 6, 1, filled_like<0>},
    {"aten::eye", 5, 1, eye},
    {"aten::eye.m", 6, 1, eye},
    {"aten::full", 6, 1, full},
    {"aten::full_like", 7, 1, full_like},
    {"aten::linspace", 7, 1, linspace},
    {"aten::new_empty", 6, 1, new_filled<0>},
    {"aten::new_full", 7, 1, new_full},
    {"aten::new_ones", 6, 1, new_filled<1>},
    {"aten::new_zeros", 6, 1, new_filled<0>},
    {"aten::one_hot", 2, 1, one_hot},
    {"aten::ones", 5, 1, filled<1>},
    {"aten::ones_like", 6, 1, filled_like<1>},
    {"aten::range", 6, 1, arange<2, true>},
    {"aten::range.step", 7, 1, arange<3, true>},
    {"aten::scalar_tensor", 5, 1, scalar_tensor},
    {"aten::tensor", 4, 1, tensor_of_data},
    {"aten::tensor.bool,float,int", 4, 1, number_tensor},
    {"aten::tril", 2, 1, triangle<false, false>},
    {"aten::tril_", 2, 1, triangle<false, true>},
    {"aten::triu", 2, 1, triangle<true, false>},
    {"aten::triu_", 2, 1, triangle<true, true>},
    {"aten::zeros", 5, 1, filled<0>},
    {"aten::zeros_like", 6, 1, filled_like<0>},
    {"prim::NumToTensor.Scalar,bool", 1, 1, num_to_tensor},
};

}  // namespace

const OperatorTable creation_operators = operator_table<kRows>();

}  // namespace nnapi_shim::program
