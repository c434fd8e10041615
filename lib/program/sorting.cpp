// SPDX-License-Identifier: BSD-3-Clause
// Operators that order elements, or find them in an order.
#include <algorithm>
#include <cmath>
#include <utility>

#include "lib/program/arguments.h"
#include "lib/program/operator_table.h"
#include "lib/program/ordering.h"

namespace nnapi_shim::program {

namespace {

// Reads the rows along one axis, one after the other, into a buffer of doubles or int64.
struct Rows {
  Cursor cursor;
  uint32_t axes[kMostAxes];
  uint32_t axis = 0;
  int64_t length = 1, count = 0;
  bool real = false;
  Value buffer, order;  // one row's elements, and their numbers (int64)
  double* reals() const { return buffer.tensor().data<double>(); }
  int64_t* wholes() const { return buffer.tensor().data<int64_t>(); }
  int64_t* numbers() const { return order.tensor().data<int64_t>(); }
  void read() { cursor.read(static_cast<size_t>(length), real ? Compute::kDouble : Compute::kInt, reals()); }
};

void axis_last(uint32_t rank, uint32_t axis, uint32_t* axes) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < rank; ++i) {
    if (i != axis) axes[count++] = i;
  }
  if (rank > 0) axes[count] = axis;
}

bool start_rows(Call& call, const Tensor& tensor, uint32_t axis, Rows* rows) {
  rows->axis = axis;
  rows->length = tensor.rank > 0 ? tensor.sizes[axis] : 1;
  rows->count = rows->length > 0 ? tensor.numel() / rows->length : 0;
  rows->real = is_floating(tensor.dtype);
  axis_last(tensor.rank, axis, rows->axes);
  rows->cursor.start(tensor, rows->axes);
  rows->buffer = Value(make_tensor(call.context.pool, ScalarType::kInt64, 1, &rows->length));
  rows->order = Value(make_tensor(call.context.pool, ScalarType::kInt64, 1, &rows->length));
  return (!rows->buffer.is_none() && !rows->order.is_none()) || call.context.fail_memory();
}

// Sorts a row: sets the numbers of its first `first` elements in order.
bool order_row(Call& call, Rows& rows, int64_t first, bool descending) {
  rows.read();
  OrderEntry* entries = nullptr;
  const Value memory(make_entries(call, entries_to_choose(rows.length, first), &entries));
  if (memory.is_none()) return call.context.fail_memory();
  choose_first(rows.reals(), rows.real, rows.length, first, descending, entries);
  for (int64_t i = 0; i < first; ++i) rows.numbers()[i] = entries[i].number;
  return true;
}

void write_value(const Rows& rows, Cursor& out, int64_t number) {
  if (rows.real) {
    out.write(1, Compute::kDouble, rows.reals() + number);
  } else {
    out.write(1, Compute::kInt, rows.wholes() + number);
  }
}

// Gives the elements `begin` to before `end` of each sorted row as outputs: values (unless `values_output` is
// kNoOutput) and indices.
constexpr uint32_t kNoOutput = 255;
bool give_ordered(Call& call, const Tensor& tensor, uint32_t axis, int64_t begin, int64_t end, bool descending,
                  bool keeps_axis, uint32_t values_output, uint32_t indices_output) {
  Rows rows;
  if (!start_rows(call, tensor, axis, &rows)) return false;
  int64_t sizes[kMostAxes];
  std::copy(tensor.sizes, tensor.sizes + tensor.rank, sizes);
  if (tensor.rank > 0) sizes[axis] = end - begin;
  Tensor *values = nullptr, *indices = make_tensor(call.context.pool, ScalarType::kInt64, tensor.rank, sizes);
  if (!give(call, indices_output, indices)) return false;
  if (values_output != kNoOutput) {
    values = make_tensor(call.context.pool, tensor.dtype, tensor.rank, sizes);
    if (!give(call, values_output, values)) return false;
  }
  Cursor value_cursor, index_cursor;
  index_cursor.start(*indices, rows.axes);
  if (values != nullptr) value_cursor.start(*values, rows.axes);
  for (int64_t row = 0; row < rows.count && end > begin; ++row) {
    if (!order_row(call, rows, end, descending)) return false;
    index_cursor.write(static_cast<size_t>(end - begin), Compute::kInt, rows.numbers() + begin);
    for (int64_t i = begin; values != nullptr && i < end; ++i) write_value(rows, value_cursor, rows.numbers()[i]);
  }
  if (keeps_axis || tensor.rank == 0) return true;
  for (Tensor* result : {values, indices}) {
    if (result == nullptr) continue;
    std::copy(result->sizes + axis + 1, result->sizes + result->rank, result->sizes + axis);
    std::copy(result->strides + axis + 1, result->strides + result->rank, result->strides + axis);
    --result->rank;
  }
  return true;
}

// Runs sort and argsort; the arguments from `first` on are the axis and the direction.
bool run_sort(Call& call, uint32_t first, bool values) {
  Tensor* tensor;
  uint32_t axis;
  bool descending;
  if (!tensor_at(call, 0, &tensor) || !axis_at(call, first, tensor->rank, &axis)) return false;
  if (!bool_at(call, first + 1, &descending)) return false;
  const int64_t size = tensor->rank > 0 ? tensor->sizes[axis] : 1;
  return give_ordered(call, *tensor, axis, 0, size, descending, true, values ? 0 : kNoOutput, values ? 1 : 0);
}
template <uint32_t kFirst, bool kValues>
bool sort(Call& call) {
  return run_sort(call, kFirst, kValues);
}

bool msort(Call& call) {
  Tensor* tensor;
  if (!tensor_at(call, 0, &tensor)) return false;
  Value kept[2];
  Call inner{call.context, call.inputs, call.input_count, kept, 2};
  const int64_t size = tensor->rank > 0 ? tensor->sizes[0] : 1;
  if (!give_ordered(inner, *tensor, 0, 0, size, false, true, 0, 1)) return false;
  call.outputs[0] = kept[0];
  return true;
}

bool topk(Call& call) {
  Tensor* tensor;
  uint32_t axis;
  int64_t k;
  bool largest;
  if (!tensor_at(call, 0, &tensor) || !int_at(call, 1, &k) || !axis_at(call, 2, tensor->rank, &axis)) return false;
  if (!bool_at(call, 3, &largest)) return false;
  const int64_t size = tensor->rank > 0 ? tensor->sizes[axis] : 1;
  if (k < 0 || k > size) {
    return call.context.fail("topk() of %lld elements of %lld", static_cast<long long>(k),
                             static_cast<long long>(size));
  }
  if (tensor->rank == 0 && k != 1) return call.context.fail("topk() of a tensor without axes");
  return give_ordered(call, *tensor, axis, 0, k, largest, true, 0, 1);
}

bool kthvalue(Call& call) {
  Tensor* tensor;
  uint32_t axis;
  int64_t k;
  bool keeps_axis;
  if (!tensor_at(call, 0, &tensor) || !int_at(call, 1, &k) || !axis_at(call, 2, tensor->rank, &axis)) return false;
  if (!bool_at(call, 3, &keeps_axis)) return false;
  const int64_t size = tensor->rank > 0 ? tensor->sizes[axis] : 1;
  if (k < 1 || k > size) {
    return call.context.fail("kthvalue() number %lld of %lld", static_cast<long long>(k), static_cast<long long>(size));
  }
  return give_ordered(call, *tensor, axis, k - 1, k, false, keeps_axis, 0, 1);
}

// Runs median: the lower one of the two in the middle. NaN is the median of a row that has one, except for nanmedian.
bool run_median(Call& call, bool ignores_nan) {
  Tensor* tensor;
  uint32_t axis = 0;
  bool keeps_axis = false;
  if (!tensor_at(call, 0, &tensor)) return false;
  const bool is_whole = call.input_count == 1;
  if (!is_whole && (!axis_at(call, 1, tensor->rank, &axis) || !bool_at(call, 2, &keeps_axis))) return false;
  Value flat;
  Tensor shaped = *tensor;
  if (is_whole) {
    flat = Value(contiguous(call.context.pool, *tensor));
    if (flat.is_none()) return call.context.fail_memory();
    shaped = flat.tensor();
    shaped.sizes[0] = tensor->numel();
    shaped.strides[0] = 1;
    shaped.rank = 1;
  }
  Rows rows;
  if (!start_rows(call, shaped, axis, &rows)) return false;
  int64_t sizes[kMostAxes];
  uint32_t rank = 0;
  for (uint32_t i = 0; i < shaped.rank; ++i) {
    if (i != axis || (keeps_axis && !is_whole)) sizes[rank++] = i == axis ? 1 : shaped.sizes[i];
  }
  Tensor *values = make_tensor(call.context.pool, tensor->dtype, rank, sizes), *indices = nullptr;
  if (!give(call, 0, values)) return false;
  if (!is_whole) {
    indices = make_tensor(call.context.pool, ScalarType::kInt64, rank, sizes);
    if (!give(call, 1, indices)) return false;
  }
  if (rows.length == 0 && values->numel() > 0) {
    if (!is_whole || !rows.real) return call.context.fail("no elements have no median");
    store_double(*values, 0, std::nan(""));
    return true;
  }
  Cursor out;
  out.start(*values);
  for (int64_t row = 0; row < rows.count; ++row) {
    if (!order_row(call, rows, rows.length, false)) return false;
    int64_t known = rows.length;
    while (rows.real && known > 0 && std::isnan(rows.reals()[rows.numbers()[known - 1]])) --known;
    int64_t place = (known - 1) / 2;
    if (known < rows.length && (!ignores_nan || known == 0)) place = known;
    write_value(rows, out, rows.numbers()[place]);
    if (indices != nullptr) indices->data<int64_t>()[row] = rows.numbers()[place];
  }
  return true;
}
template <bool kIgnoresNan>
bool median(Call& call) {
  return run_median(call, kIgnoresNan);
}

bool same_element(const Rows& rows, int64_t a, int64_t b) {
  return rows.real ? rows.reals()[a] == rows.reals()[b] : rows.wholes()[a] == rows.wholes()[b];
}

// Runs _unique2 (sorted) and unique_consecutive (in the elements' order): gives the values, the place of each element
// among them, and how many there are of each.
bool give_unique(Call& call, bool sorts, bool inverse, bool counts) {
  Tensor* tensor;
  if (!tensor_at(call, 0, &tensor)) return false;
  const Value flat(contiguous(call.context.pool, *tensor));
  if (flat.is_none()) return call.context.fail_memory();
  Tensor shaped = flat.tensor();
  shaped.sizes[0] = tensor->numel();
  shaped.strides[0] = 1;
  shaped.rank = 1;
  Rows rows;
  if (!start_rows(call, shaped, 0, &rows)) return false;
  if (rows.length > 0) {
    if (!sorts) {
      rows.read();
      for (int64_t i = 0; i < rows.length; ++i) rows.numbers()[i] = i;
    } else if (!order_row(call, rows, rows.length, false)) {
      return false;
    }
  }
  int64_t unique = 0;
  const int64_t* numbers = rows.numbers();
  for (int64_t i = 0; i < rows.length; ++i) unique += i == 0 || !same_element(rows, numbers[i - 1], numbers[i]) ? 1 : 0;
  const int64_t none = 0;
  Pool& pool = call.context.pool;
  inverse = inverse || (sorts && counts);  // as PyTorch does
  Tensor* values = make_tensor(pool, tensor->dtype, 1, &unique);
  Tensor* places = inverse ? make_tensor(pool, ScalarType::kInt64, tensor->rank, tensor->sizes)
                           : make_tensor(pool, ScalarType::kInt64, 1, &none);
  Tensor* how_many = make_tensor(pool, ScalarType::kInt64, 1, counts ? &unique : &none);
  const bool made = values != nullptr && places != nullptr && how_many != nullptr;
  call.outputs[0] = Value(values);
  call.outputs[1] = Value(places);
  call.outputs[2] = Value(how_many);
  if (!made) return call.context.fail_memory();
  Cursor out;
  out.start(*values);
  int64_t number = -1;
  for (int64_t i = 0; i < rows.length; ++i) {
    if (i == 0 || !same_element(rows, numbers[i - 1], numbers[i])) {
      write_value(rows, out, numbers[i]);
      ++number;
      if (counts) how_many->data<int64_t>()[number] = 0;
    }
    if (counts) ++how_many->data<int64_t>()[number];
    if (inverse) places->data<int64_t>()[numbers[i]] = number;
  }
  return true;
}

bool unique2(Call& call) {
  bool inverse, counts;
  return bool_at(call, 2, &inverse) && bool_at(call, 3, &counts) && give_unique(call, true, inverse, counts);
}

bool unique_consecutive(Call& call) {
  bool inverse, counts;
  if (!bool_at(call, 1, &inverse) || !bool_at(call, 2, &counts)) return false;
  if (!call.input(3).is_none()) return call.context.fail("unique_consecutive() along an axis is not in the list");
  return give_unique(call, false, inverse, counts);
}

bool bincount(Call& call) {
  Tensor *tensor, *weights;
  int64_t least;
  if (!tensor_at(call, 0, &tensor) || !optional_tensor_at(call, 1, &weights) || !int_at(call, 2, &least)) return false;
  if (tensor->rank != 1 || is_floating(tensor->dtype) || least < 0) {
    return call.context.fail("bincount() needs one axis of whole numbers");
  }
  if (weights != nullptr && (weights->rank != 1 || weights->sizes[0] != tensor->sizes[0])) {
    return call.context.fail("bincount() needs a weight for each number");
  }
  int64_t size = least;
  Cursor cursor;
  cursor.start(*tensor);
  for (int64_t i = 0; i < tensor->sizes[0]; ++i) {
    int64_t value;
    cursor.read(1, Compute::kInt, &value);
    if (value < 0 || value > (int64_t{1} << 56)) {
      return call.context.fail("bincount() of the number %lld", static_cast<long long>(value));
    }
    size = std::max(size, value + 1);
  }
  ScalarType dtype = ScalarType::kInt64;
  if (weights != nullptr) {
    dtype = weights->dtype == ScalarType::kFloat32 ? ScalarType::kFloat32 : ScalarType::kFloat64;
  }
  Tensor* result = make_tensor(call.context.pool, dtype, 1, &size);
  if (!give(call, 0, result)) return false;
  fill_elements(*result, int64_t{0});
  cursor.start(*tensor);
  Cursor weight;
  if (weights != nullptr) weight.start(*weights);
  for (int64_t i = 0; i < tensor->sizes[0]; ++i) {
    int64_t value;
    cursor.read(1, Compute::kInt, &value);
    if (weights == nullptr) {
      ++result->data<int64_t>()[value];
    } else {
      double each;
      weight.read(1, Compute::kDouble, &each);
      store_double(*result, value, load_double(*result, value) + each);
    }
  }
  return true;
}

// Returns the place of a value in a sorted row: the first boundary that is not below it, or with `right`, above it.
int64_t place_in(const Tensor& row, int64_t offset, int64_t length, int64_t stride, double value, bool right) {
  int64_t low = 0, high = length;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    const double boundary = load_double(row, offset + middle * stride);
    if (right ? !(boundary > value) : !(boundary >= value)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

bool give_places(Call& call, const Tensor& boundaries, const Value& values, bool is_int32, bool right) {
  Operand operand;
  if (!values.is_tensor() && !is_number(values)) return call.context.fail("needs a tensor or a number");
  operand.set(values);
  const Tensor& tensor = operand.tensor();
  bool fits = boundaries.rank == 1 || boundaries.rank == tensor.rank;
  if (boundaries.rank == 0) fits = false;
  for (uint32_t i = 0; fits && boundaries.rank > 1 && i + 1 < tensor.rank; ++i) {
    fits = boundaries.sizes[i] == tensor.sizes[i];
  }
  if (!fits) return call.context.fail("boundaries need one axis, or the values' sizes but for the last one");
  Tensor* result =
      make_tensor(call.context.pool, is_int32 ? ScalarType::kInt32 : ScalarType::kInt64, tensor.rank, tensor.sizes);
  if (!give(call, 0, result)) return false;
  const int64_t length = boundaries.sizes[boundaries.rank - 1], stride = boundaries.strides[boundaries.rank - 1];
  const int64_t row_length = boundaries.rank > 1 ? tensor.sizes[tensor.rank - 1] : std::max<int64_t>(tensor.numel(), 1);
  const int64_t count = tensor.numel();
  Cursor cursor;
  cursor.start(tensor);
  for (int64_t i = 0; i < count; ++i) {
    double value;
    cursor.read(1, Compute::kDouble, &value);
    int64_t offset = boundaries.offset, row = i / row_length;
    for (uint32_t axis = boundaries.rank - 1; axis-- > 0;) {
      offset += row % boundaries.sizes[axis] * boundaries.strides[axis];
      row /= boundaries.sizes[axis];
    }
    store_int(*result, i, place_in(boundaries, offset, length, stride, value, right));
  }
  return true;
}

bool searchsorted(Call& call) {
  Tensor* boundaries;
  bool is_int32, right;
  const char* side;
  if (!tensor_at(call, 0, &boundaries) || !bool_at(call, 2, &is_int32) || !bool_at(call, 3, &right)) return false;
  if (!optional_text_at(call, 4, &side)) return false;
  if (!call.input(5).is_none()) return call.context.fail("searchsorted() with a sorter is not in the list");
  return give_places(call, *boundaries, call.input(1), is_int32, right || (side != nullptr && side[0] == 'r'));
}

bool bucketize(Call& call) {
  Tensor* boundaries;
  bool is_int32, right;
  if (!tensor_at(call, 1, &boundaries) || !bool_at(call, 2, &is_int32) || !bool_at(call, 3, &right)) return false;
  if (boundaries->rank != 1) return call.context.fail("boundaries need one axis");
  return give_places(call, *boundaries, call.input(0), is_int32, right);
}

constexpr OperatorRow kRows[] = {
    {"aten::_unique2", 4, 3, unique2},
    {"aten::argsort", 3, 1, sort<1, false>},
    {"aten::argsort.stable", 4, 1, sort<2, false>},
    {"aten::bincount", 3, 1, bincount},
    {"aten::bucketize.Tensor,Scalar", 4, 1, bucketize},
    {"aten::kthvalue", 4, 2, kthvalue},
    {"aten::median", 1, 1, median<false>},
    {"aten::median.dim", 3, 2, median<false>},
    {"aten::msort", 1, 1, msort},
    {"aten::nanmedian", 1, 1, median<true>},
    {"aten::nanmedian.dim", 3, 2, median<true>},
    {"aten::searchsorted.Tensor,Scalar", 6, 1, searchsorted},
    {"aten::sort", 3, 2, sort<1, true>},
    {"aten::sort.stable", 4, 2, sort<2, true>},
    {"aten::topk", 5, 2, topk},
    {"aten::unique_consecutive", 4, 3, unique_consecutive},
};

}  // namespace

const OperatorTable sorting_operators = operator_table<kRows>();

}  // namespace nnapi_shim::program
