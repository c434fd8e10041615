// SPDX-License-Identifier: BSD-3-Clause
#include "tests/nnapi/interpreter.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <stdexcept>

#include "lib/format/operation_table.h"
#include "lib/nnapi/permutation.h"

namespace nnapi_convert::nnapi::testing {
namespace {

Tensor run_binary(const Arguments& arguments) {
  const Tensor& a = arguments.tensor(0);
  const Tensor& b = arguments.tensor(1);
  Index shape = a.shape.size() >= b.shape.size() ? a.shape : b.shape;
  for (const Tensor* part : {&a, &b}) {
    const size_t offset = shape.size() - part->shape.size();
    for (size_t i = 0; i < part->shape.size(); ++i) shape[i + offset] = std::max(shape[i + offset], part->shape[i]);
  }
  Tensor result(shape);
  Index index(shape.size(), 0);
  do {
    const float left = a.at(broadcast(index, a.shape));
    const float right = b.at(broadcast(index, b.shape));
    float value = left * right;
    if (arguments.operation.code == OperationCode::ADD) value = left + right;
    if (arguments.operation.code == OperationCode::SUB) value = left - right;
    result.at(index) = activated(value, arguments.integer(2));
  } while (advance(index, shape));
  return result;
}

Tensor run_activation(const Arguments& arguments, FuseCode code) {
  Tensor result = arguments.tensor(0);
  for (float& value : result.values) value = activated(value, static_cast<int64_t>(code));
  return result;
}

Tensor run_concatenation(const Arguments& arguments) {
  const size_t parts = arguments.operation.inputs.size() - 1;
  Index shape = arguments.tensor(0).shape;
  const size_t axis = axis_of(arguments.integer(parts), shape.size());
  for (size_t i = 1; i < parts; ++i) shape[axis] += arguments.tensor(i).shape[axis];
  Tensor result(shape);
  int64_t start = 0;
  for (size_t i = 0; i < parts; ++i) {
    const Tensor& part = arguments.tensor(i);
    Index index(shape.size(), 0);
    do {
      Index to = index;
      to[axis] += start;
      result.at(to) = part.at(index);
    } while (advance(index, part.shape));
    start += part.shape[axis];
  }
  return result;
}

Tensor run_pad(const Arguments& arguments) {
  const Tensor& x = arguments.tensor(0);
  const Index pairs = arguments.integers(1);
  Index shape = x.shape;
  for (size_t i = 0; i < shape.size(); ++i) shape[i] += pairs[2 * i] + pairs[2 * i + 1];
  Tensor result(shape);
  if (arguments.operation.code == OperationCode::PAD_V2) {
    std::fill(result.values.begin(), result.values.end(), arguments.number(2));
  }
  Index index(shape.size(), 0);
  do {
    Index to = index;
    for (size_t i = 0; i < to.size(); ++i) to[i] += pairs[2 * i];
    result.at(to) = x.at(index);
  } while (advance(index, x.shape));
  return result;
}

Tensor run_strided_slice(const Arguments& arguments) {
  const Tensor& x = arguments.tensor(0);
  Index begin = arguments.integers(1);
  Index end = arguments.integers(2);
  const Index strides = arguments.integers(3);
  Index shape;
  for (size_t i = 0; i < begin.size(); ++i) {
    if (((arguments.integer(4) >> i) & 1) != 0) begin[i] = 0;
    if (((arguments.integer(5) >> i) & 1) != 0) end[i] = x.shape[i];
    shape.push_back((end[i] - begin[i] + strides[i] - 1) / strides[i]);
  }
  Tensor result(shape);
  Index index(shape.size(), 0);
  do {
    Index from = index;
    for (size_t i = 0; i < from.size(); ++i) from[i] = begin[i] + index[i] * strides[i];
    result.at(index) = x.at(from);
  } while (advance(index, shape));
  return result;
}

Tensor run_tile(const Arguments& arguments) {
  const Tensor& x = arguments.tensor(0);
  Index shape = x.shape;
  const Index repeats = arguments.integers(1);
  for (size_t i = 0; i < shape.size(); ++i) shape[i] *= repeats[i];
  Tensor result(shape);
  Index index(shape.size(), 0);
  do {
    Index from = index;
    for (size_t i = 0; i < from.size(); ++i) from[i] %= x.shape[i];
    result.at(index) = x.at(from);
  } while (advance(index, shape));
  return result;
}

Tensor run_channel_shuffle(const Arguments& arguments) {
  const Tensor& x = arguments.tensor(0);
  const int64_t groups = arguments.integer(1);
  const size_t axis = axis_of(arguments.integer(2), x.shape.size());
  const int64_t rest = x.shape[axis] / groups;
  Tensor result(x.shape);
  Index index(x.shape.size(), 0);
  do {
    Index to = index;
    to[axis] = index[axis] % rest * groups + index[axis] / rest;
    result.at(to) = x.at(index);
  } while (advance(index, x.shape));
  return result;
}

// Constant indices.
Tensor run_gather(const Arguments& arguments) {
  const Tensor& x = arguments.tensor(0);
  const size_t axis = axis_of(arguments.integer(1), x.shape.size());
  const Index indices = arguments.integers(2);
  Index shape = x.shape;
  shape[axis] = static_cast<int64_t>(indices.size());
  Tensor result(shape);
  Index index(shape.size(), 0);
  do {
    Index from = index;
    from[axis] = indices[static_cast<size_t>(index[axis])];
    result.at(index) = x.at(from);
  } while (advance(index, shape));
  return result;
}

// Part `number` of equal parts along an axis.
Tensor run_split(const Arguments& arguments, size_t number) {
  const Tensor& x = arguments.tensor(0);
  const size_t axis = axis_of(arguments.integer(1), x.shape.size());
  Index shape = x.shape;
  shape[axis] /= arguments.integer(2);
  Tensor result(shape);
  Index index(shape.size(), 0);
  do {
    Index from = index;
    from[axis] += static_cast<int64_t>(number) * shape[axis];
    result.at(index) = x.at(from);
  } while (advance(index, shape));
  return result;
}

Tensor run_fully_connected(const Arguments& arguments) {
  const Tensor& weights = arguments.tensor(1);
  const int64_t width = weights.shape[1];
  const int64_t batches = static_cast<int64_t>(arguments.tensor(0).values.size()) / width;
  const Tensor x({batches, width}, arguments.tensor(0).values);
  Tensor result({batches, weights.shape[0]});
  for (int64_t n = 0; n < batches; ++n) {
    for (int64_t out = 0; out < weights.shape[0]; ++out) {
      float sum = arguments.tensor(2).at({out});
      for (int64_t in = 0; in < width; ++in) sum += x.at({n, in}) * weights.at({out, in});
      result.at({n, out}) = activated(sum, arguments.integer(3));
    }
  }
  return result;
}

Tensor run_batch_matmul(const Arguments& arguments) {
  const auto matrices = [&](size_t input) {  // with one axis for the whole batch
    const Tensor& tensor = arguments.tensor(input);
    const int64_t rows = tensor.shape.end()[-2], columns = tensor.shape.back();
    std::vector<int64_t> order{0, 1, 2};
    if (arguments.flag(2 + input, false)) std::swap(order[1], order[2]);
    const auto batch = static_cast<int64_t>(tensor.values.size()) / (rows * columns);
    return permuted(Tensor({batch, rows, columns}, tensor.values), order);
  };
  const Tensor a = matrices(0), b = matrices(1);
  Tensor result({a.shape[0], a.shape[1], b.shape[2]});
  Index index(3, 0);
  do {
    for (int64_t i = 0; i < a.shape[2]; ++i) {
      result.at(index) += a.at({index[0], index[1], i}) * b.at({index[0], i, index[2]});
    }
  } while (advance(index, result.shape));
  std::vector<int64_t> shape = arguments.tensor(0).shape;
  shape.end()[-2] = result.shape[1];
  shape.back() = result.shape[2];
  return Tensor(shape, result.values);
}

// Output `number` of the operation.
Tensor run_operation(const Arguments& arguments, size_t number) {
  switch (arguments.operation.code) {
    case OperationCode::CAST:
      return arguments.tensor(0);
    case OperationCode::TILE:
      return run_tile(arguments);
    case OperationCode::CHANNEL_SHUFFLE:
      return run_channel_shuffle(arguments);
    case OperationCode::GATHER:
      return run_gather(arguments);
    case OperationCode::SPLIT:
      return run_split(arguments, number);
    case OperationCode::ADD:
    case OperationCode::SUB:
    case OperationCode::MUL:
      return run_binary(arguments);
    case OperationCode::RELU:
      return run_activation(arguments, FuseCode::RELU);
    case OperationCode::RELU1:
      return run_activation(arguments, FuseCode::RELU1);
    case OperationCode::RELU6:
      return run_activation(arguments, FuseCode::RELU6);
    case OperationCode::CONCATENATION:
      return run_concatenation(arguments);
    case OperationCode::MEAN:
      return run_mean(arguments);
    case OperationCode::SOFTMAX:
      return run_softmax(arguments);
    case OperationCode::RSQRT:
      return run_rsqrt(arguments);
    case OperationCode::L2_NORMALIZATION:
      return run_l2_normalization(arguments);
    case OperationCode::PAD:
    case OperationCode::PAD_V2:
      return run_pad(arguments);
    case OperationCode::STRIDED_SLICE:
      return run_strided_slice(arguments);
    case OperationCode::TRANSPOSE:
      return permuted(arguments.tensor(0), arguments.integers(1));
    case OperationCode::RESHAPE:
      return Tensor(arguments.integers(1), arguments.tensor(0).values);
    case OperationCode::BATCH_MATMUL:
      return run_batch_matmul(arguments);
    case OperationCode::FULLY_CONNECTED:
      return run_fully_connected(arguments);
    case OperationCode::MAX_POOL_2D:
      return run_max_pool(arguments);
    default:
      return run_convolution(arguments);
  }
}

}  // namespace

Tensor::Tensor(std::vector<int64_t> sizes)
    : shape(std::move(sizes)), values(static_cast<size_t>(product(to_dims(shape)).value())) {}

size_t Tensor::offset(const std::vector<int64_t>& index) const {
  if (index.size() != shape.size()) throw std::logic_error("an index of another rank");
  int64_t position = 0;
  for (size_t i = 0; i < shape.size(); ++i) position = position * shape[i] + index[i];
  return static_cast<size_t>(position);
}

bool advance(std::vector<int64_t>& index, const std::vector<int64_t>& shape) {
  for (size_t axis = shape.size(); axis-- > 0;) {
    if (++index[axis] < shape[axis]) return true;
    index[axis] = 0;
  }
  return false;
}

Tensor permuted(const Tensor& tensor, const std::vector<int64_t>& order) {
  Tensor result(permute(tensor.shape, order));
  Index index(order.size(), 0);
  do {
    result.at(permute(index, order)) = tensor.at(index);
  } while (advance(index, tensor.shape));
  return result;
}

int64_t Arguments::integer(size_t input) const {
  return integers(input).at(0);
}

std::vector<int64_t> Arguments::integers(size_t input) const {
  REQUIRE(model.at(operation.inputs.at(input)).ints() != nullptr);
  return fixed_values(*model.at(operation.inputs[input]).ints());
}

float Arguments::number(size_t input) const {
  return std::get<float>(model.at(operation.inputs[input]).value);
}

bool Arguments::flag(size_t input, bool absent) const {
  if (input >= operation.inputs.size()) return absent;
  return std::get<bool>(model.at(operation.inputs[input]).value);
}

float activated(float value, int64_t fuse_code) {
  switch (static_cast<FuseCode>(fuse_code)) {
    case FuseCode::NONE:
      return value;
    case FuseCode::RELU:
      return std::max(value, 0.0f);
    case FuseCode::RELU1:
      return std::min(std::max(value, -1.0f), 1.0f);
    case FuseCode::RELU6:
      return std::min(std::max(value, 0.0f), 6.0f);
  }
  return value;
}

std::vector<Tensor> run(const Model& model, const std::vector<Tensor>& arguments) {
  std::vector<Tensor> values(model.operands.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const Constant* constant = model.operands[i].constant();
    if (constant != nullptr) values[i] = Tensor(constant->shape(), constant->floats());
  }
  for (const Boundary& input : model.inputs) {
    const Tensor& argument = arguments.at(input.argument);
    values[static_cast<size_t>(input.operand)] = input.nhwc ? permuted(argument, kToNhwc) : argument;
    REQUIRE(to_dims(values[static_cast<size_t>(input.operand)].shape) == model.at(input.operand).dims);
  }
  for (const Operation& operation : model.operations) {
    for (size_t number = 0; number < operation.outputs.size(); ++number) {
      const OperandId out = operation.outputs[number];
      values[static_cast<size_t>(out)] = run_operation({model, operation, values}, number);
      INFO(name_of(operation.code));
      REQUIRE(to_dims(values[static_cast<size_t>(out)].shape) == model.at(out).dims);
    }
  }
  std::vector<Tensor> results;
  for (const Boundary& output : model.outputs) {
    const Tensor& value = values[static_cast<size_t>(output.operand)];
    results.push_back(output.nhwc ? permuted(value, kToNchw) : value);
  }
  return results;
}

bool close(const Tensor& a, const Tensor& b) {
  if (a.shape != b.shape) return false;
  float largest = 1e-3f;
  for (const float value : a.values) largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < a.values.size(); ++i) {
    if (!(std::abs(a.values[i] - b.values[i]) <= 1e-4f * largest)) return false;
  }
  return true;
}

}  // namespace nnapi_convert::nnapi::testing
