// SPDX-License-Identifier: BSD-3-Clause
#include "tests/nnapi/small_models.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "lib/nnapi/permutation.h"

namespace nnapi_convert::nnapi::testing {

Operand float_type(Dims dims) {
  return {OperandCode::TENSOR_FLOAT32, std::move(dims), 0, 0, {}};
}

Operand quant_type(Dims dims, float scale, int32_t zero_point) {
  return {OperandCode::TENSOR_QUANT8_ASYMM, std::move(dims), scale, zero_point, {}};
}

std::vector<float> random_values(std::mt19937& random, size_t count) {
  std::uniform_real_distribution<float> distribution(-2, 2);
  std::vector<float> values(count);
  for (float& value : values) value = distribution(random);
  return values;
}

Constant random_constant(std::mt19937& random, const std::vector<int64_t>& shape) {
  return Constant::of_floats(random_values(random, static_cast<size_t>(product(to_dims(shape)).value())), shape);
}

OperandId Net::input(Dims dims, bool nhwc) {
  const OperandId id = builder.variable(float_type(std::move(dims)));
  model.inputs.push_back({id, nhwc, model.inputs.size()});
  return id;
}

OperandId Net::conv(OperandId x, int64_t out_channels, int64_t dilation) {
  const OperandId filter = weights({out_channels, 3, 3, dims(x)[1].value()});
  const OperandId bias = weights({out_channels});
  std::vector<OperandId> arguments = {x, filter, bias};
  for (int i = 0; i < 4; ++i) arguments.push_back(builder.int32(dilation));  // keeps the size
  for (const int64_t scalar : {1, 1, 0}) arguments.push_back(builder.int32(scalar));
  arguments.push_back(builder.boolean(true));
  if (dilation != 1) arguments.insert(arguments.end(), 2, builder.int32(dilation));
  return builder.add(OperationCode::CONV_2D, arguments, float_type({dims(x)[0], out_channels, dims(x)[2], dims(x)[3]}));
}

OperandId Net::depthwise(OperandId x, int64_t multiplier) {
  const int64_t channels = dims(x)[1].value() * multiplier;
  std::vector<OperandId> arguments = {x, weights({1, 3, 3, channels}), weights({channels})};
  for (const int64_t scalar :
       {int64_t{1}, int64_t{1}, int64_t{1}, int64_t{1}, int64_t{1}, int64_t{1}, multiplier, int64_t{0}}) {
    arguments.push_back(builder.int32(scalar));
  }
  arguments.push_back(builder.boolean(true));
  return builder.add(OperationCode::DEPTHWISE_CONV_2D, arguments,
                     float_type({dims(x)[0], channels, dims(x)[2], dims(x)[3]}));
}

OperandId Net::max_pool(OperandId x) {
  std::vector<OperandId> arguments = {x};
  for (const int64_t scalar : {0, 0, 0, 0, 2, 2, 2, 2, 0}) arguments.push_back(builder.int32(scalar));
  arguments.push_back(builder.boolean(true));
  const Dims& in = dims(x);
  return builder.add(OperationCode::MAX_POOL_2D, arguments,
                     float_type({in[0], in[1], in[2].floor_div(2), in[3].floor_div(2)}));
}

OperandId Net::fully_connected(OperandId x, int64_t out_features) {
  const Dims shape = dims(x);
  const Dim rows = product({shape.begin(), shape.end() - 1});
  const OperandId filter = weights({out_features, shape.back().value()});
  const OperandId bias = weights({out_features});
  return builder.add(OperationCode::FULLY_CONNECTED, {x, filter, bias, builder.int32(0)},
                     float_type({rows, out_features}));
}

OperandId Net::binary(OperationCode code, OperandId a, OperandId b) {
  Dims small = dims(a);
  Dims result = dims(b);
  if (small.size() > result.size()) std::swap(small, result);
  const size_t offset = result.size() - small.size();
  for (size_t i = 0; i < small.size(); ++i) {
    if (result[i + offset] == Dim(1)) result[i + offset] = small[i];
  }
  return builder.add(code, {a, b, builder.int32(0)}, float_type(result));
}

OperandId Net::unary(OperationCode code, OperandId x) {
  return builder.add(code, {x}, float_type(dims(x)));
}

OperandId Net::concatenation(const std::vector<OperandId>& parts, int64_t axis) {
  Dims result = dims(parts[0]);
  const auto at = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(result.size()) : axis);
  for (size_t i = 1; i < parts.size(); ++i) result[at] += dims(parts[i])[at];
  std::vector<OperandId> arguments = parts;
  arguments.push_back(builder.int32(axis));
  return builder.add(OperationCode::CONCATENATION, arguments, float_type(result));
}

OperandId Net::mean(OperandId x, const std::vector<int64_t>& axes, bool keep_dims) {
  Dims result;
  const auto rank = static_cast<int64_t>(dims(x).size());
  for (int64_t i = 0; i < rank; ++i) {
    const bool reduced = std::any_of(axes.begin(), axes.end(), [&](int64_t axis) { return (axis + rank) % rank == i; });
    if (!reduced) {
      result.push_back(dims(x)[static_cast<size_t>(i)]);
    } else if (keep_dims) {
      result.emplace_back(1);
    }
  }
  return builder.add(OperationCode::MEAN, {x, builder.int32_tensor(to_dims(axes)), builder.int32(keep_dims ? 1 : 0)},
                     float_type(result));
}

OperandId Net::softmax(OperandId x, int64_t axis) {
  return builder.add(OperationCode::SOFTMAX, {x, builder.float32(1), builder.int32(axis)}, float_type(dims(x)));
}

OperandId Net::pad(OperandId x, const std::vector<int64_t>& before_after) {
  Dims result = dims(x);
  for (size_t i = 0; i < result.size(); ++i) result[i] += before_after[2 * i] + before_after[2 * i + 1];
  const auto rank = static_cast<int64_t>(result.size());
  return builder.add(OperationCode::PAD, {x, builder.int32_tensor(to_dims(before_after), {rank, 2})},
                     float_type(result));
}

OperandId Net::transpose(OperandId x, const std::vector<int64_t>& order) {
  return builder.add(OperationCode::TRANSPOSE, {x, builder.int32_tensor(to_dims(order))},
                     float_type(permute(dims(x), order)));
}

OperandId Net::reshape(OperandId x, const Dims& shape) {
  return builder.add(OperationCode::RESHAPE, {x, builder.int32_tensor(shape)}, float_type(shape));
}

OperandId Net::strided_slice(OperandId x, const std::vector<int64_t>& begin, const std::vector<int64_t>& end,
                             const std::vector<int64_t>& strides, int64_t begin_mask, int64_t end_mask) {
  Dims result;
  for (size_t i = 0; i < begin.size(); ++i) {
    const int64_t from = ((begin_mask >> i) & 1) != 0 ? 0 : begin[i];
    const int64_t to = ((end_mask >> i) & 1) != 0 ? dims(x)[i].value() : end[i];
    result.emplace_back((to - from + strides[i] - 1) / strides[i]);
  }
  return builder.add(
      OperationCode::STRIDED_SLICE,
      {x, builder.int32_tensor(to_dims(begin)), builder.int32_tensor(to_dims(end)),
       builder.int32_tensor(to_dims(strides)), builder.int32(begin_mask), builder.int32(end_mask), builder.int32(0)},
      float_type(result));
}

std::vector<OperationCode> codes(const Model& model) {
  std::vector<OperationCode> codes;
  for (const Operation& operation : model.operations) codes.push_back(operation.code);
  return codes;
}

size_t count(const Model& model, OperationCode code) {
  const std::vector<OperationCode> all = codes(model);
  return static_cast<size_t>(std::count(all.begin(), all.end(), code));
}

const Operation& the(const Model& model, OperationCode code) {
  REQUIRE(count(model, code) == 1);
  return *std::find_if(model.operations.begin(), model.operations.end(),
                       [code](const Operation& operation) { return operation.code == code; });
}

std::vector<int64_t> ints(const Model& model, const Operation& operation, size_t input) {
  REQUIRE(input < operation.inputs.size());
  const Dims* values = model.at(operation.inputs[input]).ints();
  REQUIRE(values != nullptr);
  return fixed_values(*values);
}

std::vector<float> floats(const Model& model, const Operation& operation, size_t input) {
  REQUIRE(input < operation.inputs.size());
  const Constant* constant = model.at(operation.inputs[input]).constant();
  REQUIRE(constant != nullptr);
  return constant->floats();
}

}  // namespace nnapi_convert::nnapi::testing
