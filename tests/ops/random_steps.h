// SPDX-License-Identifier: BSD-3-Clause
// Draws the operators of random cases. A step takes a tensor's shape and writes an expression of the tensor. The caller
// drops an expression that PyTorch refuses for the shape.
#pragma once

#include <random>
#include <string>
#include <vector>

namespace nnapi_convert {

class RandomSteps {
 public:
  explicit RandomSteps(uint64_t seed) : engine_(seed) {}

  struct Weight {
    std::string name;
    std::vector<int64_t> sizes;
  };

  // Returns an integer from low to high.
  int64_t number(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(engine_); }
  bool chance(double share) { return std::uniform_real_distribution<double>(0, 1)(engine_) < share; }

  // Returns an expression of `value`, a float tensor of the given sizes; "" if the drawn operator doesn't fit. Appends
  // the weights that the expression reads to `weights`.
  std::string draw(const std::string& value, const std::vector<int64_t>& sizes, std::vector<Weight>& weights);
  // Returns an expression with an operator on quantised tensors.
  std::string draw_quantized(const std::string& value, const std::vector<int64_t>& sizes);

 private:
  using Sizes = std::vector<int64_t>;

  std::string unary(const std::string& value);
  std::string arithmetic(const std::string& value, const Sizes& sizes, std::vector<Weight>& weights);
  std::string view(const std::string& value, const Sizes& sizes);
  std::string part(const std::string& value, const Sizes& sizes);
  std::string join(const std::string& value, const Sizes& sizes);
  std::string reduction(const std::string& value, const Sizes& sizes);
  std::string image(const std::string& value, const Sizes& sizes, std::vector<Weight>& weights);
  std::string signal(const std::string& value, const Sizes& sizes, std::vector<Weight>& weights);
  std::string volume(const std::string& value, const Sizes& sizes, std::vector<Weight>& weights);
  std::string product(const std::string& value, const Sizes& sizes, std::vector<Weight>& weights);
  std::string norm(const std::string& value, const Sizes& sizes, std::vector<Weight>& weights);
  std::string convolution(const std::string& value, const Sizes& sizes, std::vector<Weight>& weights);
  std::string pool(const std::string& value, const Sizes& sizes);

  std::string pick(const std::vector<std::string>& texts);
  int64_t axis(const Sizes& sizes);      // counted from either end
  std::string axes(const Sizes& sizes);  // "[0, 2]": one or more
  Sizes factors(int64_t count);
  std::string real();
  const char* boolean() { return chance(0.5) ? "True" : "False"; }
  std::string weight(Sizes sizes, std::vector<Weight>& weights);

  std::mt19937_64 engine_;
};

}  // namespace nnapi_convert
