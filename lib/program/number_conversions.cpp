// SPDX-License-Identifier: BSD-3-Clause
// Operators that make numbers of tensors of one element, of texts, and of other numbers.
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "lib/program/arguments.h"
#include "lib/program/elements.h"
#include "lib/program/operator_table.h"

namespace nnapi_shim::program {

namespace {

// Reads the number that a tensor of one element holds, or a number itself.
bool read_number(Call& call, Value* number) {
  if (!call.input(0).is_tensor()) {
    double ignored = 0;
    *number = call.input(0);
    return number_at(call, 0, &ignored);
  }
  const Tensor& tensor = call.input(0).tensor();
  if (tensor.numel() != 1) {
    return call.context.fail("a tensor of %lld elements is made a number, 1 is needed",
                             static_cast<long long>(tensor.numel()));
  }
  if (is_floating(tensor.dtype)) {
    *number = Value(load_double(tensor, tensor.offset));
  } else if (tensor.dtype == ScalarType::kBool) {
    *number = Value(load_int(tensor, tensor.offset) != 0);
  } else {
    *number = Value(load_int(tensor, tensor.offset));
  }
  return true;
}

bool read_text(Call& call, const char** text) {
  *text = call.input(0).string().text();
  return (*text)[0] != '\0' && std::strlen(*text) == call.input(0).string().length;
}

bool to_int(Call& call) {
  if (call.input(0).tag() == Tag::kString) {
    const char* text = nullptr;
    char* end = nullptr;
    errno = 0;
    const bool is_text = read_text(call, &text);
    const long long value = std::strtoll(text, &end, 10);
    if (!is_text || *end != '\0' || errno != 0) return call.context.fail("the text %.100s is no int", text);
    return give_number(call, int64_t{value});
  }
  Value number;
  return read_number(call, &number) && give_number(call, integer_of(number));
}

bool to_float(Call& call) {
  if (call.input(0).tag() == Tag::kString) {
    const char* text = nullptr;
    char* end = nullptr;
    const bool is_text = read_text(call, &text);
    const double value = std::strtod(text, &end);
    if (!is_text || *end != '\0') return call.context.fail("the text %.100s is no float", text);
    return give_number(call, value);
  }
  Value number;
  return read_number(call, &number) && give_number(call, number_of(number));
}

bool to_bool(Call& call) {
  Value number;
  return read_number(call, &number) && give_number(call, number_of(number) != 0);
}

bool to_scalar(Call& call) {
  return read_number(call, &call.outputs[0]);
}

// Fails for a tensor with axes, which implicit conversions don't take.
bool need_no_axes(Call& call) {
  if (!call.input(0).is_tensor() || call.input(0).tensor().rank == 0) return true;
  return call.context.fail("a tensor of %u axes is made a number, none are possible", call.input(0).tensor().rank);
}

bool to_int_implicitly(Call& call) {
  if (call.input(0).is_tensor() &&
      (is_floating(call.input(0).tensor().dtype) || call.input(0).tensor().dtype == ScalarType::kBool)) {
    return call.context.fail("a tensor of %s is made an int", dtype_name(call.input(0).tensor().dtype));
  }
  return need_no_axes(call) && to_int(call);
}

bool to_float_implicitly(Call& call) {
  return need_no_axes(call) && to_float(call);
}

bool to_scalar_implicitly(Call& call) {
  return need_no_axes(call) && to_scalar(call);
}

constexpr OperatorRow kRows[] = {
    {"aten::Int.Tensor,bool,float,Scalar,str", 1, 1, to_int},
    {"aten::Float.Tensor,bool,int,Scalar,str", 1, 1, to_float},
    {"aten::Bool.Tensor,int,float", 1, 1, to_bool},
    {"aten::IntImplicit", 1, 1, to_int_implicitly},
    {"aten::FloatImplicit", 1, 1, to_float_implicitly},
    {"aten::ScalarImplicit", 1, 1, to_scalar_implicitly},
    {"aten::item", 1, 1, to_scalar},
};

}  // namespace

const OperatorTable number_operators = operator_table<kRows>();

}  // namespace nnapi_shim::program
