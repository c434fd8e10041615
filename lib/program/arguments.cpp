// SPDX-License-Identifier: BSD-3-Clause
#include "lib/program/arguments.h"

#include <algorithm>
#include <limits>

namespace nnapi_shim::program {

namespace {

bool wrong_kind(Call& call, uint32_t number, const char* needed) {
  return call.context.fail("argument %u is %s, needs %s", number + 1, kind_name(call.input(number)), needed);
}

bool sequence_at(Call& call, uint32_t number, const char* needed, const Sequence** list) {
  const Value& value = call.input(number);
  if (value.tag() != Tag::kList && value.tag() != Tag::kTuple) return wrong_kind(call, number, needed);
  *list = &value.sequence();
  return true;
}

}  // namespace

bool tensor_at(Call& call, uint32_t number, Tensor** tensor) {
  const Value& value = call.input(number);
  if (!value.is_tensor()) return wrong_kind(call, number, "a tensor");
  *tensor = &value.tensor();
  return true;
}

bool int_at(Call& call, uint32_t number, int64_t* value) {
  const Value& input = call.input(number);
  if (input.tag() != Tag::kInt && input.tag() != Tag::kBool) return wrong_kind(call, number, "an int");
  *value = input.as_int();
  return true;
}

bool bool_at(Call& call, uint32_t number, bool* value) {
  const Value& input = call.input(number);
  if (input.tag() != Tag::kInt && input.tag() != Tag::kBool) return wrong_kind(call, number, "a bool");
  *value = input.as_bool();
  return true;
}

bool number_at(Call& call, uint32_t number, double* value) {
  const Value& input = call.input(number);
  if (!is_number(input)) return wrong_kind(call, number, "a number");
  *value = number_of(input);
  return true;
}

bool ints_at(Call& call, uint32_t number, uint32_t most, int64_t* values, uint32_t* count) {
  const Value& input = call.input(number);
  if (input.tag() == Tag::kInt && most > 0) {
    values[0] = input.as_int();
    *count = 1;
    return true;
  }
  const Sequence* list;
  if (!sequence_at(call, number, "a list of ints", &list)) return false;
  if (list->count > most) {
    return call.context.fail("argument %u has %u elements, at most %u are possible", number + 1, list->count, most);
  }
  for (uint32_t i = 0; i < list->count; ++i) {
    if (list->values[i].tag() != Tag::kInt) return wrong_kind(call, number, "of ints only");
    values[i] = list->values[i].as_int();
  }
  *count = list->count;
  return true;
}

bool dtype_at(Call& call, uint32_t number, ScalarType otherwise, ScalarType* dtype) {
  const Value& input = call.input(number);
  *dtype = otherwise;
  if (input.is_none()) return true;
  if (input.tag() != Tag::kInt) return wrong_kind(call, number, "a dtype");
  const int64_t code = input.as_int();
  if (code < 0 || (code > 7 && code != 11)) {
    return call.context.fail("argument %u is the dtype %lld, which programs don't have", number + 1,
                             static_cast<long long>(code));
  }
  *dtype = static_cast<ScalarType>(code);
  return true;
}

bool optional_int_at(Call& call, uint32_t number, int64_t otherwise, int64_t* value) {
  *value = otherwise;
  return call.input(number).is_none() || int_at(call, number, value);
}

bool optional_number_at(Call& call, uint32_t number, double otherwise, double* value) {
  *value = otherwise;
  return call.input(number).is_none() || number_at(call, number, value);
}

bool optional_bool_at(Call& call, uint32_t number, bool otherwise, bool* value) {
  *value = otherwise;
  return call.input(number).is_none() || bool_at(call, number, value);
}

bool optional_tensor_at(Call& call, uint32_t number, Tensor** tensor) {
  *tensor = nullptr;
  return call.input(number).is_none() || tensor_at(call, number, tensor);
}

bool optional_text_at(Call& call, uint32_t number, const char** text) {
  const Value& input = call.input(number);
  *text = nullptr;
  if (input.is_none()) return true;
  if (input.tag() != Tag::kString) return wrong_kind(call, number, "a string");
  *text = input.string().text();
  return true;
}

bool tensors_at(Call& call, uint32_t number, bool may_be_none, const Sequence** list) {
  if (!sequence_at(call, number, "a list of tensors", list)) return false;
  for (uint32_t i = 0; i < (*list)->count; ++i) {
    const Value& value = (*list)->values[i];
    if (!value.is_tensor() && !(may_be_none && value.is_none())) return wrong_kind(call, number, "of tensors only");
  }
  return true;
}

bool numbers_at(Call& call, uint32_t number, uint32_t count, double* values) {
  const Sequence* list;
  if (!sequence_at(call, number, "a list of numbers", &list)) return false;
  if (list->count != count) {
    return call.context.fail("argument %u has %u elements, needs %u", number + 1, list->count, count);
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (!is_number(list->values[i])) return wrong_kind(call, number, "of numbers only");
    values[i] = number_of(list->values[i]);
  }
  return true;
}

bool wrap_axis(Call& call, int64_t axis, uint32_t rank, uint32_t* result) {
  const int64_t axes = rank == 0 ? 1 : rank;
  if (axis < -axes || axis >= axes) {
    return call.context.fail("the tensor has %u axes, no axis %lld", rank, static_cast<long long>(axis));
  }
  *result = static_cast<uint32_t>(axis < 0 ? axis + axes : axis);
  return true;
}

bool axis_at(Call& call, uint32_t number, uint32_t rank, uint32_t* axis) {
  int64_t value;
  return int_at(call, number, &value) && wrap_axis(call, value, rank, axis);
}

bool axes_at(Call& call, uint32_t number, uint32_t rank, bool* chosen) {
  int64_t axes[kMostAxes];
  uint32_t count = 0;
  if (!call.input(number).is_none() && !ints_at(call, number, kMostAxes, axes, &count)) return false;
  std::fill(chosen, chosen + kMostAxes, count == 0);
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t axis;
    if (!wrap_axis(call, axes[i], rank, &axis)) return false;
    if (chosen[axis]) return call.context.fail("axis %u stands twice in the list", axis);
    chosen[axis] = true;
  }
  return true;
}

bool give(Call& call, uint32_t number, Tensor* made) {
  if (made == nullptr) return call.context.fail_memory();
  call.outputs[number] = Value(made);
  return true;
}

bool give_argument(Call& call, uint32_t number) {
  call.outputs[0] = call.input(number);
  return true;
}

bool need_own(Call& call, const Tensor& tensor) {
  return tensor.storage->is_writable ||
         call.context.fail("the tensor is a constant or an input of the model: a program can't write there");
}

bool need_writable(Call& call, const Tensor& tensor) {
  if (!need_own(call, tensor)) return false;
  for (uint32_t i = 0; i < tensor.rank; ++i) {
    if (tensor.sizes[i] > 1 && tensor.strides[i] == 0) {
      return call.context.fail("elements of the tensor share memory: writing needs clone() before");
    }
  }
  return true;
}

bool have_same_sizes(const Tensor& a, const Tensor& b) {
  return a.rank == b.rank && std::equal(a.sizes, a.sizes + a.rank, b.sizes);
}

bool need_same_sizes(Call& call, const Tensor& a, const Tensor& b) {
  return have_same_sizes(a, b) || call.context.fail("two tensors need the same sizes");
}

bool is_mask(const Tensor& tensor) {
  return tensor.dtype == ScalarType::kBool || tensor.dtype == ScalarType::kUInt8;
}

bool need_mask(Call& call, const Tensor& tensor) {
  return is_mask(tensor) || call.context.fail("the mask is %s, needs bools", dtype_name(tensor.dtype));
}

bool need_floating(Call& call, const Tensor& tensor) {
  return is_floating(tensor.dtype) || call.context.fail("the tensor is %s, needs floats", dtype_name(tensor.dtype));
}

ScalarType promote_types(ScalarType a, ScalarType b) {
  if (a == b) return a;
  if (a == ScalarType::kBool) return b;
  if (b == ScalarType::kBool) return a;
  if (is_floating(a) || is_floating(b)) {
    return is_floating(a) && is_floating(b) ? std::max(a, b) : (is_floating(a) ? a : b);
  }
  if (a != ScalarType::kUInt8 && b != ScalarType::kUInt8) return std::max(a, b);
  const ScalarType other = a == ScalarType::kUInt8 ? b : a;
  return std::max(other, ScalarType::kInt16);
}

bool is_number(const Value& value) {
  return value.tag() == Tag::kBool || value.tag() == Tag::kInt || value.tag() == Tag::kFloat;
}

ScalarType number_type(const Value& value) {
  if (value.tag() == Tag::kFloat) return ScalarType::kFloat64;
  return value.tag() == Tag::kBool ? ScalarType::kBool : ScalarType::kInt64;
}

double number_of(const Value& value) {
  return value.tag() == Tag::kFloat ? value.as_float() : static_cast<double>(value.as_int());
}

int64_t integer_of(const Value& value) {
  return value.tag() == Tag::kFloat ? int_of(value.as_float()) : value.as_int();
}

void Promotion::add(uint32_t level, ScalarType dtype) {
  dtypes_[level] = has_[level] ? promote_types(dtypes_[level], dtype) : dtype;
  has_[level] = true;
}

void Promotion::add(const Tensor& tensor) {
  add(tensor.rank > 0 ? 0 : 1, tensor.dtype);
}

void Promotion::add_number(const Value& value) {
  const ScalarType dtype = number_type(value);
  add(2, is_floating(dtype) ? ScalarType::kFloat32 : dtype);
}

ScalarType Promotion::result() const {
  bool has = false;
  ScalarType result = ScalarType::kFloat32;
  for (uint32_t level = 3; level-- > 0;) {
    if (!has_[level]) continue;
    const ScalarType higher = dtypes_[level];
    // An argument of lower precedence changes the kind of number, not its width.
    if (!has || is_floating(higher)) {
      result = higher;
    } else if (higher == ScalarType::kBool || is_floating(result)) {
      result = promote_types(higher, result);
    } else {
      result = higher;
    }
    has = true;
  }
  return result;
}

Tensor* converted_tensor(Pool& pool, Tensor& tensor, ScalarType dtype) {
  if (tensor.dtype == dtype) {
    if (tensor.head.pool != nullptr) ++tensor.head.references;
    return &tensor;
  }
  Tensor* copy = make_tensor_like(pool, dtype, tensor.rank, tensor.sizes, tensor);
  if (copy != nullptr) copy_elements(tensor, *copy);
  return copy;
}

bool broadcast(Call& call, const Tensor& tensor, uint32_t* rank, int64_t* sizes) {
  if (tensor.rank > *rank) {
    const uint32_t more = tensor.rank - *rank;
    for (uint32_t i = *rank; i-- > 0;) sizes[i + more] = sizes[i];
    std::fill(sizes, sizes + more, 1);
    *rank = tensor.rank;
  }
  for (uint32_t i = 0; i < tensor.rank; ++i) {
    int64_t& size = sizes[*rank - tensor.rank + i];
    if (size == 1) {
      size = tensor.sizes[i];
    } else if (tensor.sizes[i] != 1 && tensor.sizes[i] != size) {
      return call.context.fail("sizes %lld and %lld of axis %u don't fit together", static_cast<long long>(size),
                               static_cast<long long>(tensor.sizes[i]), *rank - tensor.rank + i);
    }
  }
  return true;
}

Tensor* make_expanded(Pool& pool, const Tensor& tensor, uint32_t rank, const int64_t* sizes) {
  int64_t numel = 1;
  for (uint32_t i = 0; i < rank; ++i) {
    const int64_t size = std::max<int64_t>(sizes[i], 1);
    if (size > std::numeric_limits<ptrdiff_t>::max() / 16 / numel) return nullptr;
    numel *= size;
  }
  Tensor* view = make_view(pool, tensor);
  if (view == nullptr) return nullptr;
  const uint32_t missing = rank - tensor.rank;
  view->rank = rank;
  for (uint32_t i = 0; i < rank; ++i) {
    const bool is_repeated = i < missing || (tensor.sizes[i - missing] == 1 && sizes[i] != 1);
    view->sizes[i] = sizes[i];
    view->strides[i] = is_repeated ? 0 : tensor.strides[i - missing];
  }
  return view;
}

Tensor* make_channels_last(Pool& pool, ScalarType dtype, const int64_t* sizes) {
  Tensor* tensor = make_tensor(pool, dtype, 4, sizes);
  if (tensor == nullptr) return tensor;
  int64_t stride = 1;
  for (const uint32_t axis : {1, 3, 2, 0}) {
    tensor->strides[axis] = stride;
    stride *= std::max<int64_t>(sizes[axis], 1);
  }
  return tensor;
}

Tensor* make_tensor_like(Pool& pool, ScalarType dtype, uint32_t rank, const int64_t* sizes, const Tensor& like) {
  const bool is_other = rank != 4 || like.is_contiguous() || !like.is_contiguous_channels_last();
  if (is_other || !std::equal(sizes, sizes + 4, like.sizes)) return make_tensor(pool, dtype, rank, sizes);
  return make_channels_last(pool, dtype, sizes);
}

bool Operand::read(Call& call, uint32_t number) {
  const Value& value = call.input(number);
  if (!value.is_tensor() && !program::is_number(value)) return wrong_kind(call, number, "a tensor or a number");
  set(value);
  return true;
}

void Operand::set(const Value& value) {
  value_ = &value;
  if (value.is_tensor()) {
    tensor_ = &value.tensor();
    return;
  }
  is_number_ = true;
  storage_ = {nullptr, 0, false, reinterpret_cast<uint8_t*>(&bits_), sizeof bits_};
  one_.head = {nullptr, 0, Tag::kTensor};
  one_.rank = 0;
  one_.offset = 0;
  one_.storage = &storage_;
  one_.dtype = number_type(value);
  if (one_.dtype == ScalarType::kFloat64) {
    store_double(one_, 0, value.as_float());
  } else {
    store_int(one_, 0, value.as_int());
  }
  tensor_ = &one_;
}

void Operand::add_to(Promotion& promotion) const {
  if (is_number_) {
    promotion.add_number(*value_);
  } else {
    promotion.add(*tensor_);
  }
}

bool Operand::round_to(Pool& pool, ScalarType dtype) {
  is_number_ = false;
  if (tensor_->dtype == dtype || tensor_->numel() == 0) return true;
  if (tensor_->rank == 0) {
    const Compute compute = conversion_class(tensor_->dtype, dtype);
    uint64_t buffer, bits = 0;
    load_elements(tensor_->bytes(), tensor_->dtype, 0, 1, compute, &buffer);
    store_elements(&buffer, compute, 1, reinterpret_cast<uint8_t*>(&bits), dtype, 0);
    bits_ = bits;
    storage_ = {nullptr, 0, false, reinterpret_cast<uint8_t*>(&bits_), sizeof bits_};
    one_.head = {nullptr, 0, Tag::kTensor};
    one_.rank = 0;
    one_.offset = 0;
    one_.storage = &storage_;
    one_.dtype = dtype;
    tensor_ = &one_;
    return true;
  }
  // Promotion is exact, except for whole numbers as float16.
  if (dtype != ScalarType::kFloat16) return true;
  rounded_ = Value(converted_tensor(pool, value_->tensor(), dtype));
  if (rounded_.is_none()) return false;
  tensor_ = &rounded_.tensor();
  return true;
}

}  // namespace nnapi_shim::program
