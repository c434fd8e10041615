// SPDX-License-Identifier: BSD-3-Clause
// Reads and checks the arguments of operators on tensors: axes, lists of tensors, dtypes of results, broadcasting.
#pragma once

#include <cstdint>

#include "lib/program/elements.h"
#include "lib/program/operators.h"

namespace nnapi_shim::program {

// Read a number or bool, or `otherwise` for None.
bool optional_int_at(Call& call, uint32_t number, int64_t otherwise, int64_t* value);
bool optional_number_at(Call& call, uint32_t number, double otherwise, double* value);
bool optional_bool_at(Call& call, uint32_t number, bool otherwise, bool* value);
bool optional_tensor_at(Call& call, uint32_t number, Tensor** tensor);  // null for None
// Reads the text of a string, or null for None.
bool optional_text_at(Call& call, uint32_t number, const char** text);
// Reads a list or tuple whose elements are all tensors (or None, if that is allowed).
bool tensors_at(Call& call, uint32_t number, bool may_be_none, const Sequence** list);
// Reads a list or tuple of exactly `count` numbers as floats.
bool numbers_at(Call& call, uint32_t number, uint32_t count, double* values);

// Return an axis of a tensor of `rank` axes in `result`; one below 0 counts from the end. Rank 0 counts as 1.
bool wrap_axis(Call& call, int64_t axis, uint32_t rank, uint32_t* result);
bool axis_at(Call& call, uint32_t number, uint32_t rank, uint32_t* axis);
// Sets chosen[axis]; None and an empty list choose all.
bool axes_at(Call& call, uint32_t number, uint32_t rank, bool* chosen);

// Makes the tensor output `number`; fails if it is null, for want of memory.
bool give(Call& call, uint32_t number, Tensor* made);
bool give_argument(Call& call, uint32_t number);  // makes it the first output
// Makes a bool, int64_t or double the first output.
template <typename Number>
bool give_number(Call& call, Number number) {
  call.outputs[0] = Value(number);
  return true;
}
// Fails for tensors that calls must not change: constants and the caller's inputs.
bool need_own(Call& call, const Tensor& tensor);
// Fails as need_own() does, and for elements that share memory.
bool need_writable(Call& call, const Tensor& tensor);
bool have_same_sizes(const Tensor& a, const Tensor& b);
bool need_same_sizes(Call& call, const Tensor& a, const Tensor& b);
bool is_mask(const Tensor& tensor);  // bool or uint8
bool need_mask(Call& call, const Tensor& tensor);
bool need_floating(Call& call, const Tensor& tensor);

ScalarType promote_types(ScalarType a, ScalarType b);
bool is_number(const Value& value);          // bool, int, float
ScalarType number_type(const Value& value);  // bool, int64, float64
double number_of(const Value& value);
int64_t integer_of(const Value& value);

// Finds the dtype of a result: tensors with axes have precedence over tensors without, and these over numbers.
class Promotion {
 public:
  void add(const Tensor& tensor);
  void add_number(const Value& value);
  ScalarType result() const;

 private:
  void add(uint32_t level, ScalarType dtype);
  bool has_[3] = {};
  ScalarType dtypes_[3] = {};
};

// Returns a copy in another dtype, or another reference to the tensor if it has the dtype. Null if memory is short.
Tensor* converted_tensor(Pool& pool, Tensor& tensor, ScalarType dtype);

// Broadcasts the sizes with the tensor's. Fails for sizes that don't fit.
bool broadcast(Call& call, const Tensor& tensor, uint32_t* rank, int64_t* sizes);
// Returns a view of `tensor` with these sizes, with stride 0 where it is repeated. Null if memory is short. The caller
// has checked the sizes by broadcast().
Tensor* make_expanded(Pool& pool, const Tensor& tensor, uint32_t rank, const int64_t* sizes);
// Returns a new tensor of four axes in the memory order of channels_last. Null if memory is short.
Tensor* make_channels_last(Pool& pool, ScalarType dtype, const int64_t* sizes);
// Returns a new tensor of these sizes, in the memory order of `like` if that is channels_last and of these sizes.
Tensor* make_tensor_like(Pool& pool, ScalarType dtype, uint32_t rank, const int64_t* sizes, const Tensor& like);

// A tensor or number as an operand of a kernel.
class Operand {
 public:
  Operand() = default;
  Operand(const Operand&) = delete;
  Operand& operator=(const Operand&) = delete;
  bool read(Call& call, uint32_t number);
  void set(const Value& value);  // a tensor or number
  void add_to(Promotion& promotion) const;
  // Rounds elements to the dtype's numbers; a number becomes a tensor. False if memory is short.
  bool round_to(Pool& pool, ScalarType dtype);
  const Tensor& tensor() const { return *tensor_; }
  bool is_number() const { return is_number_; }

 private:
  const Value* value_ = nullptr;
  const Tensor* tensor_ = nullptr;
  bool is_number_ = false;
  Value rounded_;
  Tensor one_;  // a tensor of one element, stored in bits_
  Storage storage_;
  uint64_t bits_ = 0;
};

}  // namespace nnapi_shim::program
