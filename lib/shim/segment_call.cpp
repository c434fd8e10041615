// SPDX-License-Identifier: BSD-3-Clause
#include "lib/shim/segment_call.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>

#include "lib/format/nnapi_codes.h"
#include "lib/shim/failure.h"

namespace nnapi_shim {
namespace {

using nnapi_convert::OperandCode;
using program::Pool;
using program::ScalarType;
using program::Tensor;
using program::Value;

// An array in memory of the pool, whose elements need no destructor.
template <typename Element>
class PoolArray {
 public:
  PoolArray(Pool& pool, size_t count)
      : pool_(pool), elements_(static_cast<Element*>(pool.take((count + 1) * sizeof(Element)))) {}
  PoolArray(const PoolArray&) = delete;
  PoolArray& operator=(const PoolArray&) = delete;
  ~PoolArray() { pool_.give_back(elements_); }
  bool is_there() const { return elements_ != nullptr; }
  Element* data() { return elements_; }
  Element& operator[](size_t number) { return elements_[number]; }

 private:
  Pool& pool_;
  Element* const elements_;
};

bool to_dtype(const nnapi_shim_tensor& tensor, bool takes_codes, ScalarType* dtype) {
  const bool is_plain = takes_codes || (tensor.scale == 1 && tensor.zero_point == 0);
  switch (static_cast<OperandCode>(tensor.type)) {
    case OperandCode::TENSOR_FLOAT32:
      *dtype = ScalarType::kFloat32;
      return true;
    case OperandCode::TENSOR_INT32:
      *dtype = ScalarType::kInt32;
      return true;
    case OperandCode::TENSOR_FLOAT16:
      *dtype = ScalarType::kFloat16;
      return true;
    case OperandCode::TENSOR_BOOL8:
      *dtype = ScalarType::kBool;
      return true;
    case OperandCode::TENSOR_QUANT8_ASYMM:
      *dtype = ScalarType::kUInt8;
      return is_plain;
    case OperandCode::TENSOR_QUANT8_ASYMM_SIGNED:
      *dtype = ScalarType::kInt8;
      return is_plain;
    default:
      return false;
  }
}

int fail_type(const char* what, size_t number, const nnapi_shim_tensor& tensor, nnapi_shim_error* error) {
  return fail(error, NNAPI_SHIM_BAD_MODEL,
              "%s %zu of NNAPI's model has the type %d, with scale %g: integers with a scale can't be given here; run "
              "the file with PyTorch, or convert it so that its inputs and outputs are floats",
              what, number, tensor.type, static_cast<double>(tensor.scale));
}

// Returns the axis in PyTorch's order for an axis in NNAPI's.
uint32_t axis_of(uint32_t axis, uint32_t rank, bool is_nhwc) {
  if (!is_nhwc || axis == 0) return axis;
  return axis == rank - 1 ? 1 : axis + 1;
}

bool has_form(const Tensor& tensor, const nnapi_shim_tensor& needed) {
  bool is_same = tensor.rank == needed.rank;
  for (uint32_t i = 0; i < needed.rank && is_same; ++i) {
    is_same = tensor.sizes[axis_of(i, needed.rank, needed.is_nhwc != 0)] == static_cast<int64_t>(needed.sizes[i]);
  }
  return is_same;
}

// Sets strides so that memory is in NNAPI's order.
void order_memory(const nnapi_shim_tensor& form, Tensor* tensor) {
  int64_t stride = 1;
  for (uint32_t i = form.rank; i-- > 0;) {
    tensor->strides[axis_of(i, form.rank, form.is_nhwc != 0)] = stride;
    stride *= static_cast<int64_t>(form.sizes[i]);
  }
}

bool is_ordered(const nnapi_shim_tensor& form, const Tensor& tensor) {
  int64_t stride = 1;
  for (uint32_t i = form.rank; i-- > 0;) {
    const auto size = static_cast<int64_t>(form.sizes[i]);
    if (size == 0) return true;
    if (size > 1 && tensor.strides[axis_of(i, form.rank, form.is_nhwc != 0)] != stride) return false;
    stride *= size;
  }
  return true;
}

Tensor* make_tensor(Pool& pool, const nnapi_shim_tensor& form, ScalarType dtype) {
  int64_t sizes[program::kMostAxes];
  for (uint32_t i = 0; i < form.rank; ++i) {
    sizes[axis_of(i, form.rank, form.is_nhwc != 0)] = static_cast<int64_t>(form.sizes[i]);
  }
  Tensor* tensor = program::make_tensor(pool, dtype, form.rank, sizes);
  if (tensor != nullptr) order_memory(form, tensor);
  return tensor;
}

// Copies of inputs, which end with the call.
struct Copies {
  PoolArray<Value>& values;
  size_t count;
  ~Copies() {
    for (size_t i = 0; i < count; ++i) values[i].~Value();
  }
};

int fail_memory(nnapi_shim_error* error) {
  return fail(error, NNAPI_SHIM_FAILED, "memory is short for a call of NNAPI");
}

int check_input(const Tensor& tensor, const nnapi_shim_tensor& needed, size_t number, bool takes_codes,
                nnapi_shim_error* error) {
  ScalarType dtype{};
  if (!to_dtype(needed, takes_codes, &dtype)) return fail_type("input", number, needed, error);
  if (tensor.dtype != dtype) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "input %zu of NNAPI's model: dtype %s found, %s needed", number,
                program::dtype_name(tensor.dtype), program::dtype_name(dtype));
  }
  if (has_form(tensor, needed)) return NNAPI_SHIM_OK;
  return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "input %zu of NNAPI's model: other sizes found than it has", number);
}

int read_input(program::Context& context, const Tensor& given, const nnapi_shim_tensor& needed, Copies* copies,
               nnapi_shim_buffer* buffer, nnapi_shim_error* error) {
  const Tensor* tensor = &given;
  if (!is_ordered(needed, given)) {
    Tensor* copy = make_tensor(context.pool, needed, given.dtype);
    if (copy == nullptr) return fail_memory(error);
    program::copy_elements(given, *copy);
    new (&copies->values[copies->count++]) Value(copy);
    tensor = copy;
  }
  *buffer = {tensor->bytes(), needed.bytes};
  return NNAPI_SHIM_OK;
}

// A call of a model on `arguments`, inputs in PyTorch's order, one for each argument; or, if `raw_inputs` is not null,
// on these, which are in NNAPI's order.
class Call {
 public:
  Call(OpenModel& model, program::Context& context, const Value* const* arguments, const Value* const* raw_inputs,
       bool takes_codes)
      : model_(model),
        context_(context),
        arguments_(arguments),
        raw_inputs_(raw_inputs),
        takes_codes_(takes_codes),
        shapes_(context.pool, model.argument_count()) {}

  // Checks the inputs' kinds, shapes and dtypes.
  int check(nnapi_shim_error* error) {
    if (!shapes_.is_there()) return fail_memory(error);
    const uint32_t count = model_.argument_count();
    for (uint32_t i = 0; i < count; ++i) {
      if (!arguments_[i]->is_tensor()) {
        return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "argument %u of NNAPI's model is %s, a tensor is needed", i,
                    program::kind_name(*arguments_[i]));
      }
      shapes_[i] = {arguments_[i]->tensor().rank, arguments_[i]->tensor().sizes};
    }
    if (const int status = model_.describe(CallShapes(shapes_.data(), count), &tensors_, error)) return status;
    for (size_t i = 0; i < tensors_->inputs.size(); ++i) {
      if (const int status = check_input(input(i), form(tensors_->inputs[i]), i, takes_codes_, error)) return status;
    }
    return NNAPI_SHIM_OK;
  }

  // Runs the model; check() has to be called before.
  int run(Value* outputs, nnapi_shim_error* error) {
    Pool& pool = context_.pool;
    const size_t input_count = tensors_->inputs.size(), output_count = tensors_->outputs.size();
    PoolArray<nnapi_shim_buffer> from(pool, input_count), to(pool, output_count);
    PoolArray<Value> copied(pool, input_count);
    if (!from.is_there() || !to.is_there() || !copied.is_there()) return fail_memory(error);
    Copies copies{copied, 0};
    for (size_t i = 0; i < input_count; ++i) {
      const int status = read_input(context_, input(i), form(tensors_->inputs[i]), &copies, &from[i], error);
      if (status != NNAPI_SHIM_OK) return status;
    }
    for (size_t i = 0; i < output_count; ++i) {
      const nnapi_shim_tensor needed = form(tensors_->outputs[i]);
      ScalarType dtype{};
      if (!to_dtype(needed, takes_codes_, &dtype)) return fail_type("output", i, needed, error);
      Tensor* made = make_tensor(pool, needed, dtype);
      if (made == nullptr) return fail_memory(error);
      outputs[i] = Value(made);
      to[i] = {made->bytes(), needed.bytes};
    }
    const RunBuffers buffers = {from.data(), static_cast<uint32_t>(input_count), to.data(),
                                static_cast<uint32_t>(output_count)};
    return model_.run(CallShapes(shapes_.data(), model_.argument_count()), buffers, error);
  }

 private:
  nnapi_shim_tensor form(nnapi_shim_tensor tensor) const {
    if (raw_inputs_ != nullptr) tensor.is_nhwc = 0;
    return tensor;
  }
  const Tensor& input(size_t number) const {
    return (raw_inputs_ != nullptr ? raw_inputs_[number] : arguments_[tensors_->inputs[number].argument])->tensor();
  }

  OpenModel& model_;
  program::Context& context_;
  const Value* const* const arguments_;
  const Value* const* const raw_inputs_;
  const bool takes_codes_;
  PoolArray<nnapi_shim_shape> shapes_;
  std::shared_ptr<const CallTensors> tensors_;
};

// Returns the path of the caller's tensor that has the same memory; null if there is none.
const char* path_of(const Tensor& tensor, const NamedTensors& named) {
  for (uint32_t i = 0; i < named.count; ++i) {
    const nnapi_shim_named_tensor& each = named.tensors[i];
    if (each.data != tensor.bytes() || each.rank != tensor.rank || tensor.numel() == 0) continue;
    if (std::equal(tensor.sizes, tensor.sizes + tensor.rank, each.sizes)) return each.path;
  }
  return nullptr;
}

// Sizes as text, "?" for a flexible one, which is 0.
struct SizesText {
  SizesText(const int64_t* sizes, size_t rank) : text("[") {
    for (size_t i = 0; i < rank; ++i) {
      char size[24] = "?";
      if (sizes[i] > 0) std::snprintf(size, sizeof size, "%lld", static_cast<long long>(sizes[i]));
      const size_t length = std::strlen(text);
      std::snprintf(text + length, sizeof text - length, "%s%s", i > 0 ? ", " : "", size);
    }
    const size_t length = std::strlen(text);
    std::snprintf(text + length, sizeof text - length, "]");
  }
  char text[180];
};

bool has_sizes(const Tensor& tensor, const std::vector<int64_t>& needed) {
  bool is_same = tensor.rank == needed.size();
  for (uint32_t i = 0; i < tensor.rank && is_same; ++i) is_same = needed[i] == 0 || needed[i] == tensor.sizes[i];
  return is_same;
}

int check_raw_inputs(const OpenModel& model, const Value* const* inputs, uint32_t count, nnapi_shim_error* error) {
  if (count != model.input_arguments().size()) {
    return fail(error, NNAPI_SHIM_BAD_MODEL, "%u inputs of NNAPI's model found, %zu needed", count,
                model.input_arguments().size());
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (!inputs[i]->is_tensor()) {
      return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "input %u of NNAPI's model is %s, a tensor is needed", i,
                  program::kind_name(*inputs[i]));
    }
  }
  return NNAPI_SHIM_OK;
}

}  // namespace

int call_segment(OpenModel& model, program::Context& context, const Value* const* inputs, Value* outputs,
                 bool takes_codes, nnapi_shim_error* error) {
  Call call(model, context, inputs, nullptr, takes_codes);
  const int status = call.check(error);
  return status == NNAPI_SHIM_OK && outputs != nullptr ? call.run(outputs, error) : status;
}

int call_raw_segment(OpenModel& model, program::Context& context, const Value* const* arguments,
                     const Value* const* inputs, uint32_t input_count, Value* outputs, nnapi_shim_error* error) {
  if (const int status = check_raw_inputs(model, inputs, input_count, error)) return status;
  Call call(model, context, arguments, inputs, true);
  const int status = call.check(error);
  return status == NNAPI_SHIM_OK && outputs != nullptr ? call.run(outputs, error) : status;
}

bool blame_argument(OpenModel& model, const Value* const* inputs, bool takes_codes, const NamedTensors& named,
                    nnapi_shim_error* error) {
  const uint32_t count = model.argument_count();
  std::vector<nnapi_shim_shape> shapes;
  for (uint32_t i = 0; i < count; ++i) {
    if (!inputs[i]->is_tensor()) return false;
    const Tensor& tensor = inputs[i]->tensor();
    const std::vector<int64_t> needed = model.argument_sizes(i);
    shapes.push_back({tensor.rank, tensor.sizes});
    const char* const path = path_of(tensor, named);
    if (path == nullptr || needed.empty() || has_sizes(tensor, needed)) continue;
    fail(error, NNAPI_SHIM_BAD_ARGUMENT,
         "argument %.60s: sizes %s found, %s needed; resize it, or convert the model with flexible sizes", path,
         SizesText(tensor.sizes, tensor.rank).text, SizesText(needed.data(), needed.size()).text);
    return true;
  }
  std::shared_ptr<const CallTensors> tensors;
  if (model.describe(shapes, &tensors, nullptr) != NNAPI_SHIM_OK) return false;
  for (const nnapi_shim_tensor& needed : tensors->inputs) {
    const Tensor& tensor = inputs[needed.argument]->tensor();
    const char* const path = path_of(tensor, named);
    ScalarType dtype{};
    if (path == nullptr || !to_dtype(needed, takes_codes, &dtype) || dtype == tensor.dtype) continue;
    fail(error, NNAPI_SHIM_BAD_ARGUMENT, "argument %.200s: dtype %s found, %s needed", path,
         program::dtype_name(tensor.dtype), program::dtype_name(dtype));
    return true;
  }
  return false;
}

}  // namespace nnapi_shim
