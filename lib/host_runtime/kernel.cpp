// SPDX-License-Identifier: BSD-3-Clause
#include "lib/host_runtime/kernel.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "lib/format/operation_table.h"
#include "lib/host_runtime/quantization.h"

namespace nnapi_convert::host {
namespace {

// Thrown when a rule needs a value or shape that only an execution knows.
struct Deferred {};

}  // namespace

at::Tensor ConstantCache::get(std::size_t operation, const std::string& key, const std::function<at::Tensor()>& make) {
  const std::lock_guard<std::mutex> lock(mutex_);
  at::Tensor& tensor = tensors_[{operation, key}];
  if (!tensor.defined()) tensor = make();
  return tensor;
}

bool OpContext::find_if_present(const char* name, std::size_t n, uint32_t* index) const {
  const auto search = [&](const TableView<ArgumentInfo>& arguments, const std::vector<uint32_t>& indices) {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const ArgumentInfo& argument = arguments[argument_index(arguments, i, indices.size())];
      if (std::strcmp(argument.name, name) != 0) continue;
      if (i + n >= indices.size()) return false;
      *index = indices[i + n];
      return true;
    }
    return false;
  };
  return search(operation_.signature->inputs, operation_.inputs) ||
         search(operation_.signature->outputs, operation_.outputs);
}

const char* OpContext::output_name(std::size_t n) const {
  const auto& arguments = operation_.signature->outputs;
  return arguments[argument_index(arguments, n, operation_.outputs.size())].name;
}

uint32_t OpContext::find(const char* name, std::size_t n) const {
  uint32_t index = 0;
  TORCH_INTERNAL_ASSERT(find_if_present(name, n, &index), subject_of(operation_), " has no argument ", name);
  return index;
}

bool OpContext::has(const char* name) const {
  uint32_t index = 0;
  if (!find_if_present(name, 0, &index)) return false;
  // Only an execution tells whether a model input is omitted.
  if (!values_ && operands_[index].lifetime == Lifetime::kInput) throw Deferred();
  return !is_omitted(index);
}

bool OpContext::is_omitted(uint32_t index) const {
  if (operands_[index].lifetime == Lifetime::kOmitted) return true;
  // An execution may omit a model input.
  return values_ && operands_[index].lifetime == Lifetime::kInput && !(*values_)[index].defined();
}

std::size_t OpContext::count(const char* name) const {
  std::size_t number = 0;
  for (const auto* side : {&operation_.inputs, &operation_.outputs}) {
    const auto& arguments = side == &operation_.inputs ? operation_.signature->inputs : operation_.signature->outputs;
    for (std::size_t i = 0; i < side->size(); ++i) {
      number += std::strcmp(arguments[argument_index(arguments, i, side->size())].name, name) == 0;
    }
  }
  return number;
}

const Operand& OpContext::operand(const char* name, std::size_t n) const {
  return operands_[find(name, n)];
}

const Shape& OpContext::shape(const char* name, std::size_t n) const {
  return shapes_[find(name, n)];
}

const Dims& OpContext::dims(const char* name, std::size_t n) const {
  const Shape& shape = shapes_[find(name, n)];
  if (!shape.known()) throw Deferred();
  return shape.dims;
}

const void* OpContext::scalar(const char* name) const {
  const uint32_t index = find(name, 0);
  if (operands_[index].lifetime == Lifetime::kConstant) return operands_[index].data;
  if (!values_) throw Deferred();
  return (*values_)[index].data_ptr();
}

int64_t OpContext::integer(const char* name) const {
  int32_t number = 0;
  std::memcpy(&number, scalar(name), sizeof number);
  return number;
}

bool OpContext::flag(const char* name) const {
  if (type(name) == OperandCode::INT32) return integer(name) > 0;
  return *static_cast<const uint8_t*>(scalar(name)) != 0;
}

double OpContext::number(const char* name) const {
  double result = 0;
  if (type(name) == OperandCode::INT32) {
    result = static_cast<double>(integer(name));
  } else if (type(name) == OperandCode::FLOAT16) {
    at::Half half;
    std::memcpy(&half, scalar(name), sizeof half);
    result = static_cast<float>(half);
  } else {
    float single = 0;
    std::memcpy(&single, scalar(name), sizeof single);
    result = single;
  }
  if (std::isnan(result)) refuse(name, "NaN found, a number needed");
  return result;
}

Dims OpContext::integers(const char* name) const {
  const Shape& shape = shapes_[find(name, 0)];
  if (!shape.known()) throw Deferred();
  const void* data = scalar(name);
  Dims result;
  for (int64_t i = 0; i < shape.elements(); ++i) {
    int32_t number = 0;
    std::memcpy(&number, static_cast<const char*>(data) + i * sizeof number, sizeof number);
    result.push_back(number);
  }
  return result;
}

void OpContext::set_output(const Dims& dims, std::size_t n) {
  int64_t bytes = element_bytes(operands_[operation_.outputs[n]].type);
  for (const int64_t extent : dims) {
    if (extent < 0) refuse(output_name(n), "dimensions {} computed, none below 0 needed", to_string(dims));
    if (extent > 0 && bytes > std::numeric_limits<uint32_t>::max() / extent) {
      refuse(output_name(n), "dimensions {} computed, at most {} bytes needed", to_string(dims),
             std::numeric_limits<uint32_t>::max());
    }
    if (extent > 0) bytes *= extent;
  }
  expect_output(dims, n);
}

void OpContext::expect_output(const Dims& dims, std::size_t n) {
  Shape& shape = shapes_[operation_.outputs[n]];
  const std::optional<Shape> known = merged(shape, {true, dims});
  if (!known) refuse(output_name(n), "dimensions {} found, {} needed", to_string(shape), to_string(dims));
  shape = *known;
}

void OpContext::check_omitted() const {
  for (std::size_t i = 0; i < operation_.inputs.size(); ++i) {
    const uint32_t index = operation_.inputs[i];
    const auto& arguments = operation_.signature->inputs;
    const ArgumentInfo& argument = arguments[argument_index(arguments, i, operation_.inputs.size())];
    if (is_omitted(index)) {
      if (!argument.omittable) refuse(argument.name, "an omitted value found, a value needed");
    } else if (!argument.omittable || values_ || operands_[index].lifetime != Lifetime::kInput) {
      // The rank is known now, from earlier operations or from the execution, even if the declared one was unknown.
      const std::string complaint = rank_complaint(argument, shapes_[index]);
      if (!complaint.empty()) bad_data("{}{}", subject_of(operation_), complaint);
    }
  }
}

void OpContext::check() {
  check_omitted();
  try {
    find_kernel(operation_.code)->rule(*this);
  } catch (const Deferred&) {
    // The check goes on in the execution.
  }
}

void OpContext::run() {
  check_omitted();
  const Kernel* kernel = find_kernel(operation_.code);
  try {
    kernel->rule(*this);
  } catch (const Deferred&) {
    fail(ResultCode::OP_FAILED, "{}: an input has no known shape", subject_of(operation_));
  }
  kernel->run(*this);
}

at::Tensor OpContext::value(uint32_t index) const {
  const Operand& operand = operands_[index];
  if (operand.lifetime == Lifetime::kConstant) return aligned_view_of(operand.data, operand.type, shapes_[index].dims);
  return (*values_)[index];
}

at::Tensor OpContext::stored(const char* name, std::size_t n) const {
  return value(find(name, n));
}

at::Tensor OpContext::real(const char* name, std::size_t n) const {
  const uint32_t index = find(name, n);
  return to_numbers(value(index), operands_[index]);
}

void OpContext::put(at::Tensor codes, std::size_t n) {
  (*values_)[operation_.outputs[n]] = std::move(codes);
}

void OpContext::store(const at::Tensor& numbers, std::size_t n) {
  put(to_codes(numbers, operands_[operation_.outputs[n]]), n);
}

at::Tensor OpContext::cached(const char* argument, const std::string& key,
                             const std::function<at::Tensor()>& make) const {
  return is_constant(argument) ? run_->cache().get(operation_.index, key, make) : make();
}

std::vector<Value> OpContext::values(const char* name) const {
  std::vector<Value> result;
  for (std::size_t n = 0; n < count(name); ++n) {
    const uint32_t index = find(name, n);
    result.push_back({shapes_[index], value(index)});
  }
  return result;
}

std::vector<Value> OpContext::run_model(const char* name, const std::vector<Value>& inputs, int64_t iteration) {
  return run_->run_inner(operation_, name, *operand(name).model, inputs, iteration);
}

void OpContext::put_value(const Value& value, std::size_t n) {
  set_output(value.shape.dims, n);
  put(value.codes, n);
}

std::chrono::nanoseconds OpContext::loop_timeout() const {
  return run_->loop_timeout();
}

}  // namespace nnapi_convert::host
