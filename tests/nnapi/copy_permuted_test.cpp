// SPDX-License-Identifier: BSD-3-Clause
// Copies of tensors in another order of axes, beside plain loops.
#include "lib/nnapi/copy_permuted.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>

namespace nnapi_convert::nnapi {
namespace {

// `count` elements of `width` bytes; those near each other differ.
std::vector<uint8_t> elements(size_t count, size_t width) {
  std::vector<uint8_t> bytes(count * width);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 37 + i / 251);
  return bytes;
}

// Matrices [rows, columns], `count` of them, as [columns, rows].
std::vector<uint8_t> transposed(const std::vector<uint8_t>& bytes, size_t width, size_t count, size_t rows,
                                size_t columns) {
  std::vector<uint8_t> result(bytes.size());
  for (size_t each = 0; each < count; ++each) {
    for (size_t i = 0; i < rows; ++i) {
      for (size_t j = 0; j < columns; ++j) {
        const size_t matrix = each * rows * columns;
        std::memcpy(&result[(matrix + j * rows + i) * width], &bytes[(matrix + i * columns + j) * width], width);
      }
    }
  }
  return result;
}

}  // namespace

TEST_CASE("copy_permuted: matrices of all small sizes, and of sizes beside those of blocks") {
  const std::vector<size_t> sizes = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 19, 20, 31, 32, 33, 35};
  const size_t width = GENERATE(1, 4);
  for (const size_t rows : sizes) {
    for (const size_t columns : sizes) {
      const std::vector<uint8_t> bytes = elements(2 * rows * columns, width);
      std::vector<uint8_t> result(bytes.size());
      const std::vector<int64_t> shape = {2, static_cast<int64_t>(rows), static_cast<int64_t>(columns)};
      copy_permuted(bytes.data(), result.data(), width, shape, {0, 2, 1});
      CAPTURE(width, rows, columns);
      CHECK(result == transposed(bytes, width, 2, rows, columns));
    }
  }
}

TEST_CASE("copy_permuted: any order of four axes") {
  std::vector<int64_t> order = {0, 1, 2, 3};
  const std::vector<int64_t> shape = {5, 6, 9, 7};
  const size_t width = GENERATE(1, 4);
  const std::vector<uint8_t> bytes = elements(5 * 6 * 9 * 7, width);
  do {
    std::vector<uint8_t> result(bytes.size());
    copy_permuted(bytes.data(), result.data(), width, shape, order);
    std::vector<uint8_t> expected;
    std::vector<int64_t> at(4);
    const auto size = [&](size_t axis) { return shape[static_cast<size_t>(order[axis])]; };
    const auto index = [&](size_t axis) -> int64_t& { return at[static_cast<size_t>(order[axis])]; };
    for (index(0) = 0; index(0) < size(0); ++index(0)) {
      for (index(1) = 0; index(1) < size(1); ++index(1)) {
        for (index(2) = 0; index(2) < size(2); ++index(2)) {
          for (index(3) = 0; index(3) < size(3); ++index(3)) {
            const int64_t element = ((at[0] * 6 + at[1]) * 9 + at[2]) * 7 + at[3];
            const auto begin = bytes.begin() + element * static_cast<int64_t>(width);
            expected.insert(expected.end(), begin, begin + static_cast<int64_t>(width));
          }
        }
      }
    }
    CAPTURE(width, order);
    CHECK(result == expected);
  } while (std::next_permutation(order.begin(), order.end()));
}

}  // namespace nnapi_convert::nnapi
