// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/copy_permuted.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "lib/base/error.h"

namespace nnapi_convert::nnapi {
namespace {

// An axis of the result: its size, and the bytes from one index to the next in the source and in the result.
struct Axis {
  size_t size;
  size_t from;
  size_t to;
};

// Returns the axes of the result in its order. Leaves out axes of size 1, and merges axes that are neighbours in source
// and result.
std::vector<Axis> copied_axes(size_t width, const std::vector<int64_t>& shape, const std::vector<int64_t>& order) {
  const size_t rank = shape.size();
  std::vector<size_t> strides(rank, width);
  for (size_t i = rank - 1; i > 0; --i) strides[i - 1] = strides[i] * static_cast<size_t>(shape[i]);
  std::vector<Axis> axes;  // the last one first
  size_t to = width;
  for (size_t i = rank; i-- > 0;) {
    const auto axis = static_cast<size_t>(order[i]);
    const auto size = static_cast<size_t>(shape[axis]);
    if (size == 1) continue;
    if (!axes.empty() && axes.back().from * axes.back().size == strides[axis]) {
      axes.back().size *= size;
    } else {
      axes.push_back({size, strides[axis], to});
    }
    to *= size;
  }
  std::reverse(axes.begin(), axes.end());
  return axes;
}

// Copies two axes, element by element.
template <size_t kWidth>
void copy_elements(const uint8_t* source, uint8_t* result, const Axis& rows, const Axis& columns) {
  for (size_t i = 0; i < rows.size; ++i) {
    for (size_t j = 0; j < columns.size; ++j) {
      std::memcpy(result + i * rows.to + j * columns.to, source + i * rows.from + j * columns.from, kWidth);
    }
  }
}

// Copies 4 x 4 elements of 4 bytes. Those of a column are neighbours in the source, those of a row in the result.
void copy_tile(const uint8_t* source, uint8_t* result, size_t row_bytes, size_t column_bytes) {
  using Four = uint32_t __attribute__((vector_size(16)));
  Four a, b, c, d;
  std::memcpy(&a, source, sizeof a);
  std::memcpy(&b, source + column_bytes, sizeof b);
  std::memcpy(&c, source + 2 * column_bytes, sizeof c);
  std::memcpy(&d, source + 3 * column_bytes, sizeof d);
  const Four ab_begin = __builtin_shufflevector(a, b, 0, 4, 1, 5), ab_end = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Four cd_begin = __builtin_shufflevector(c, d, 0, 4, 1, 5), cd_end = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  const Four moved[] = {
      __builtin_shufflevector(ab_begin, cd_begin, 0, 1, 4, 5), __builtin_shufflevector(ab_begin, cd_begin, 2, 3, 6, 7),
      __builtin_shufflevector(ab_end, cd_end, 0, 1, 4, 5), __builtin_shufflevector(ab_end, cd_end, 2, 3, 6, 7)};
  for (size_t i = 0; i < 4; ++i) std::memcpy(result + i * row_bytes, &moved[i], sizeof moved[i]);
}

// Copies two axes by tiles where they fit.
void copy_tiles(const uint8_t* source, uint8_t* result, const Axis& rows, const Axis& columns) {
  const size_t rows_in_tiles = rows.size / 4 * 4, columns_in_tiles = columns.size / 4 * 4;
  for (size_t j = 0; j < columns_in_tiles; j += 4) {
    for (size_t i = 0; i < rows_in_tiles; i += 4) {
      copy_tile(source + i * rows.from + j * columns.from, result + i * rows.to + j * columns.to, rows.to,
                columns.from);
    }
  }
  const Axis last_rows{rows.size - rows_in_tiles, rows.from, rows.to};
  const Axis last_columns{columns.size - columns_in_tiles, columns.from, columns.to};
  const Axis rows_before{rows_in_tiles, rows.from, rows.to};
  copy_elements<4>(source + rows_in_tiles * rows.from, result + rows_in_tiles * rows.to, last_rows, columns);
  copy_elements<4>(source + columns_in_tiles * columns.from, result + columns_in_tiles * columns.to, rows_before,
                   last_columns);
}

// Copies two axes in blocks that stay in the nearest cache.
template <size_t kWidth>
void copy_plane(const uint8_t* source, uint8_t* result, const Axis& rows, const Axis& columns) {
  constexpr size_t kBlock = 16;
  const bool has_tiles = kWidth == 4 && rows.from == kWidth && columns.to == kWidth;
  for (size_t row = 0; row < rows.size; row += kBlock) {
    const Axis block_rows{std::min(kBlock, rows.size - row), rows.from, rows.to};
    for (size_t column = 0; column < columns.size; column += kBlock) {
      const Axis block_columns{std::min(kBlock, columns.size - column), columns.from, columns.to};
      const uint8_t* from = source + row * rows.from + column * columns.from;
      uint8_t* to = result + row * rows.to + column * columns.to;
      if (has_tiles) {
        copy_tiles(from, to, block_rows, block_columns);
      } else {
        copy_elements<kWidth>(from, to, block_rows, block_columns);
      }
    }
  }
}

template <size_t kWidth>
class PermutedCopy {
 public:
  explicit PermutedCopy(std::vector<Axis> axes) : outer_(std::move(axes)) {
    if (!outer_.empty()) columns_ = take(outer_.end() - 1);
    // It is fastest to read elements together that are near each other in the source.
    const auto nearest =
        std::min_element(outer_.begin(), outer_.end(), [](const Axis& a, const Axis& b) { return a.from < b.from; });
    if (nearest != outer_.end()) rows_ = take(nearest);
  }

  void run(const uint8_t* source, uint8_t* result, size_t axis = 0) const {
    if (axis == outer_.size()) return run_inner(source, result);
    for (size_t i = 0; i < outer_[axis].size; ++i) {
      run(source + i * outer_[axis].from, result + i * outer_[axis].to, axis + 1);
    }
  }

 private:
  Axis take(std::vector<Axis>::iterator axis) {
    const Axis taken = *axis;
    outer_.erase(axis);
    return taken;
  }

  void run_inner(const uint8_t* source, uint8_t* result) const {
    if (columns_.from != kWidth) return copy_plane<kWidth>(source, result, rows_, columns_);
    for (size_t i = 0; i < rows_.size; ++i) {
      std::memcpy(result + i * rows_.to, source + i * rows_.from, columns_.size * kWidth);
    }
  }

  std::vector<Axis> outer_;
  Axis rows_{1, 0, 0};
  Axis columns_{1, kWidth, kWidth};
};

}  // namespace

bool moves_elements(const std::vector<int64_t>& shape, const std::vector<int64_t>& order) {
  const bool is_empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  return !is_empty && copied_axes(1, shape, order).size() > 1;
}

void copy_permuted(const uint8_t* source, uint8_t* result, size_t width, const std::vector<int64_t>& shape,
                   const std::vector<int64_t>& order) {
  NNC_ASSERT(width == 1 || width == 4, "elements of another size");
  std::vector<Axis> axes = copied_axes(width, shape, order);
  if (width == 1) {
    PermutedCopy<1>(std::move(axes)).run(source, result);
  } else {
    PermutedCopy<4>(std::move(axes)).run(source, result);
  }
}

}  // namespace nnapi_convert::nnapi
