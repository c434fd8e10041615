// SPDX-License-Identifier: BSD-3-Clause
// Runs small float models as a slow reference: each operation by its definition, one element at a time. It checks that
// every operand has the dims that its operation computes.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi::testing {

using Index = std::vector<int64_t>;

struct Tensor {
  std::vector<int64_t> shape;
  std::vector<float> values;

  explicit Tensor(std::vector<int64_t> sizes = {});  // a tensor of zeros
  Tensor(std::vector<int64_t> sizes, std::vector<float> numbers)
      : shape(std::move(sizes)), values(std::move(numbers)) {}
  float& at(const std::vector<int64_t>& index) { return values[offset(index)]; }
  float at(const std::vector<int64_t>& index) const { return values[offset(index)]; }
  size_t offset(const std::vector<int64_t>& index) const;
};

// Moves to the next index of a tensor in row-major order; returns false after the last index.
bool advance(std::vector<int64_t>& index, const std::vector<int64_t>& shape);
Tensor permuted(const Tensor& tensor, const std::vector<int64_t>& order);
// The index into an operand of lower rank or with axes of size 1, broadcast to `index`.
Index broadcast(const Index& index, const Index& shape);
size_t axis_of(int64_t axis, size_t rank);  // a negative axis counts from the end

// Runs a model as a caller does: arguments and results are in PyTorch's order, permuted at the model's boundaries.
std::vector<Tensor> run(const Model& model, const std::vector<Tensor>& arguments);

// CONV_2D (explicit padding), DEPTHWISE_CONV_2D, GROUPED_CONV_2D and MAX_POOL_2D; `x` is the first argument, ints and
// tensors the rest.
struct Arguments {
  const Model& model;
  const Operation& operation;
  const std::vector<Tensor>& values;  // by operand

  const Tensor& tensor(size_t input) const { return values[static_cast<size_t>(operation.inputs[input])]; }
  int64_t integer(size_t input) const;
  std::vector<int64_t> integers(size_t input) const;
  float number(size_t input) const;  // a scalar FLOAT32
  bool flag(size_t input, bool absent) const;
};
Tensor run_convolution(const Arguments& arguments);
Tensor run_max_pool(const Arguments& arguments);
Tensor run_mean(const Arguments& arguments);
Tensor run_softmax(const Arguments& arguments);
Tensor run_l2_normalization(const Arguments& arguments);
Tensor run_rsqrt(const Arguments& arguments);
float activated(float value, int64_t fuse_code);

// Returns true if shapes are equal and values differ by at most 1e-4 of the largest value.
bool close(const Tensor& a, const Tensor& b);

}  // namespace nnapi_convert::nnapi::testing
