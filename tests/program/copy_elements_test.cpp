// SPDX-License-Identifier: BSD-3-Clause
// Copies between tensors of any order of axes, element by element as a simple loop has them.
#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "lib/program/pool.h"
#include "lib/program/tensor.h"
#include "lib/program/value.h"

using namespace nnapi_shim::program;

namespace {

// A new tensor of these sizes whose axes stand in memory in the order of `order`.
Value permuted(Pool& pool, ScalarType dtype, const std::vector<int64_t>& sizes, const std::vector<uint32_t>& order) {
  std::vector<int64_t> in_memory;
  for (const uint32_t axis : order) in_memory.push_back(sizes[axis]);
  Value made(make_tensor(pool, dtype, static_cast<uint32_t>(sizes.size()), in_memory.data()));
  const std::vector<int64_t> strides(made.tensor().strides, made.tensor().strides + sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    made.tensor().sizes[order[i]] = sizes[order[i]];
    made.tensor().strides[order[i]] = strides[i];
  }
  return made;
}

// The bytes of the element at each place, the last axis fastest.
std::vector<std::vector<uint8_t>> elements(const Tensor& tensor) {
  std::vector<std::vector<uint8_t>> result;
  std::vector<int64_t> index(tensor.rank, 0);
  const size_t bytes = element_bytes(tensor.dtype);
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    int64_t place = tensor.offset;
    for (uint32_t axis = 0; axis < tensor.rank; ++axis) place += index[axis] * tensor.strides[axis];
    const uint8_t* at = tensor.storage->data + static_cast<size_t>(place) * bytes;
    result.emplace_back(at, at + bytes);
    for (uint32_t axis = tensor.rank; axis-- > 0;) {
      if (++index[axis] < tensor.sizes[axis]) break;
      index[axis] = 0;
    }
  }
  return result;
}

}  // namespace

TEST_CASE("copies between tensors of any order of axes") {
  std::mt19937 random(3);
  constexpr ScalarType kTypes[] = {ScalarType::kUInt8, ScalarType::kFloat16, ScalarType::kFloat32, ScalarType::kInt64};
  constexpr int64_t kSizes[] = {1, 2, 3, 16, 17, 33, 300};
  for (int round = 0; round < 400; ++round) {
    Pool pool;
    const ScalarType dtype = kTypes[random() % 4];
    std::vector<int64_t> sizes;
    int64_t count = 1;
    for (uint32_t rank = random() % 6; sizes.size() < rank;) {
      sizes.push_back(count < 20000 ? kSizes[random() % 7] : 2);
      count *= sizes.back();
    }
    std::vector<uint32_t> order(sizes.size());
    std::iota(order.begin(), order.end(), 0U);
    std::shuffle(order.begin(), order.end(), random);
    Value from = permuted(pool, dtype, sizes, order);
    std::shuffle(order.begin(), order.end(), random);
    const Value to = permuted(pool, dtype, sizes, order);
    Tensor& source = from.tensor();
    std::generate_n(source.storage->data, source.storage->bytes, [&] { return static_cast<uint8_t>(random()); });
    // An element that is repeated along an axis.
    if (!sizes.empty() && random() % 3 == 0) source.strides[random() % sizes.size()] = 0;
    copy_elements(source, to.tensor());
    INFO("round " << round << ", " << sizes.size() << " axes of " << count << " elements of " << dtype_name(dtype));
    REQUIRE(elements(source) == elements(to.tensor()));
  }
}
